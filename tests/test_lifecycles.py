"""Budgets, daily notes and tasks on real workspaces: what moves, what stays, what is archived."""

import os
from datetime import UTC, datetime, timedelta

import pytest

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
OLD = (NOW - timedelta(days=1)).timestamp()


@pytest.fixture(autouse=True)
def budgets(memops):
    """What an owner who wants short files sets; by default nothing is moved."""
    said = "[policy.budgets]\nwords = {openclaw = 2000}\nrunes = {xinghebot = 1000}\ndaily_days = 180\n"
    (memops.folder / "memops.toml").write_text(said)


def workspace(root, files, aged=True):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if aged:
            os.utime(path, (OLD, OLD))
    return root


def live(memops, address):
    said = memops("inspect", address, "--limit", "0", "--now", NOW.isoformat())
    return [r["text"] for r in said["records"]]


def long_memory(lines):
    """A curated file whose every line says something else, in English and Chinese."""
    rows = ["# Memory", "", "## Facts"]
    rows += [
        f"- 第{n}号仓库的钥匙在{n}号柜"
        if n % 4 == 0
        else f"- Cabinet {n} holds folder {n * 7} of year {1900 + n}"
        for n in range(lines)
    ]
    return "\n".join([*rows, "", "## TODO", "- sort the cabinets", ""])


@pytest.mark.parametrize(
    ("kind", "lines", "measure", "most"),
    [
        ("openclaw", 300, lambda t: len(t.split()), 2000),
        ("xinghebot", 60, len, 1000),
    ],
)
def test_a_memory_file_over_its_size_is_brought_below_it_and_nothing_is_lost(
    memops, kind, lines, measure, most
):
    root = workspace(memops.folder / "ws", {"MEMORY.md": long_memory(lines)})
    address, memory = f"{kind}:{root}", root / "MEMORY.md"
    before = live(memops, address)
    assert measure(memory.read_text()) > most
    plan = memops("plan", address, "--rule", "move_overflow", "--now", NOW.isoformat())
    done = memops("apply", plan["plan"], "--approve")
    assert done["skipped"] == []
    assert most * 0.5 < measure(memory.read_text()) <= most
    assert "## TODO\n- sort the cabinets" in memory.read_text()
    assert sorted(live(memops, address)) == sorted(before)
    again = memops("plan", address, "--rule", "move_overflow", "--now", NOW.isoformat())
    assert again["ops"] == 0
    memops("rollback", done["run"])
    assert memory.read_text() == long_memory(lines)


DIARY = {
    "memory/2025-08-01.md": "# 2025-08-01\n\n## 9:00 AM - Fact\nThe gateway listens on port 9191.\n\n"
    "## 9:10 AM - Note\n好的，收到。\n\n- 用户对青霉素过敏\n- TODO: sort the cabinets\n"
    "- From now on the gateway uses port 9292\n- 网关的端口改成 9393 了\n"
    "- Mended the vat, it seeps a little less\n- 东墙的架子又挪回来了\n",
    "memory/2026-05-01.md": "# 2026-05-01\n\n- ok\n",
}


def test_what_two_rules_say_of_a_line_that_was_just_written_waits(memops):
    text = "# 2025-08-01\n\n- The router password is {}\n".format("Trav3l-" + "Kiln")
    root = workspace(memops.folder / "ws", {"memory/2025-08-01.md": text}, aged=False)
    rules = ("--rule", "consolidate_daily", "--rule", "redact_secrets")
    plan = memops("plan", f"openclaw:{root}", *rules, "--now", NOW.isoformat())
    assert set(plan["by_rule"]) == {"consolidate_daily", "redact_secrets"}
    done = memops("apply", plan["plan"], "--approve")
    assert (done["applied"], len(done["skipped"])) == (0, 2)


def test_an_old_daily_note_keeps_what_lasts_and_a_file_just_written_waits(memops):
    root = workspace(memops.folder / "ws", DIARY, aged=False)
    address = f"openclaw:{root}"
    ask = ("plan", address, "--rule", "consolidate_daily", "--now", NOW.isoformat())
    plan = memops("plan", *ask[1:])
    done = memops("apply", plan["plan"], "--approve")
    assert memops.code == 3
    assert done["applied"] == 0 and len(done["skipped"]) == plan["ops"]
    for name in DIARY:
        os.utime(root / name, (OLD, OLD))
    plan = memops(*ask[:-1], (NOW + timedelta(minutes=1)).isoformat())
    done = memops("apply", plan["plan"], "--approve")
    assert done["skipped"] == []
    assert sorted(live(memops, address)) == [  # what nobody can tell from a fact is no chatter
        "From now on the gateway uses port 9292",
        "Mended the vat, it seeps a little less",
        "TODO: sort the cabinets",
        "The gateway listens on port 9191.",
        "ok",
        "东墙的架子又挪回来了",
        "用户对青霉素过敏",
        "网关的端口改成 9393 了",
    ]
    old = (root / "memory/2025-08-01.md").read_text()
    assert "9191" not in old and "收到" not in old and "sort the cabinets" in old
    assert "9191" in (root / "memory/memops/fact.md").read_text()
    raw = (root / "memory/2025-08-01.md").read_text()
    assert "Mended the vat" in raw


def labelled(count):
    """A curated file of values that changed since, and the lines that hold now, in three tongues."""
    wordings = (
        "The {} gate of the depot opens at {}:30",
        "{}号仓库现在的钥匙柜是{}号",
        "Server {} 的端口现在是 {}",
    )
    told = [(wordings[n % 3], 100 + n) for n in range(count)]
    now = [form.format(n, 5000 + 7 * n) for form, n in told]
    before = [form.format(n, 4000 + 7 * n) for form, n in told]
    lines = ["# Memory", "", "## Facts", *(f"- {line}" for line in [*before[::4], *now])]
    return "\n".join([*lines, ""]), now


@pytest.mark.parametrize(
    ("kind", "count", "measure", "most"),
    [("openclaw", 330, lambda t: len(t.split()), 2000), ("xinghebot", 60, len, 1000)],
)
def test_a_night_brings_a_memory_file_within_its_size_and_loses_no_current_value(
    memops, kind, count, measure, most
):
    text, now = labelled(count)
    memory = workspace(memops.folder / "ws", {"MEMORY.md": text}) / "MEMORY.md"
    address = f"{kind}:{memory.parent}"
    plan = memops("plan", address, "--now", NOW.isoformat())
    done = memops("apply", plan["plan"], "--approve")
    assert done["skipped"] == []
    assert measure(text) > most >= measure(memory.read_text())
    assert set(now) <= set(live(memops, address))
    assert plan["by_rule"]["move_overflow"]
