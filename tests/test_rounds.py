"""Several stores in a night: what fails is named, keeps none from theirs, and a monitor sees it."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from memops import files
from memops.apply.recovery import remedies, unfinished
from memops.errors import Locked, gravest, told
from memops.nights.night import alone, curate
from memops.rules import RULES
from memops.settings import read
from memops.state.runs import Run
from memops.stores import open_store

NOW = "2026-06-01T12:00:00Z"
SAID = "Gate 77 of the depot opens at nine, says 门卫老周"


def configured(memops, stores, more=""):
    tables = [f'[stores."{name}"]\naddress = "{address}"\n' for name, address in stores.items()]
    (memops.folder / "memops.toml").write_text("\n".join([*tables, more]), encoding="utf-8")


def several(memops, twins, good):
    """So many stores in order, one that is gone, one cut in half, one that trips over a rule."""
    stores = {f"s{n:02}": f"jsonl:{memops.write(f's{n:02}.jsonl', twins)}" for n in range(good)}
    stores["gone"] = f"jsonl:{memops.folder / 'nowhere.jsonl'}"
    torn = memops.write("torn.jsonl", twins)
    torn.write_bytes(torn.read_bytes()[:-40])
    odd = memops.write("odd.jsonl", [*twins, {"id": "odd", "kind": "fact", "text": SAID}])
    stores |= {"torn": f"jsonl:{torn}", "odd": f"jsonl:{odd}"}
    return dict(sorted(stores.items()))


def trips(records, ctx):
    """Trip over one record, and quote it, as a library might."""
    for text in records["text"].to_list():
        if text == SAID:
            raise ValueError(f"cannot read {text!r}")
    return RULES[0](records, ctx)


@pytest.mark.parametrize("good", [2, pytest.param(17, marks=pytest.mark.slow)])
def test_where_three_stores_fail_the_others_have_their_night(memops, twins, monkeypatch, good):
    configured(memops, several(memops, twins, good), "[policy.limits]\nshare = 1.0\n")
    monkeypatch.setattr("memops.steps.RULES", (trips, *RULES))
    nights = memops("nightly", "--now", NOW)
    assert memops.code == 1
    done = [night for night in nights if "error" not in night]
    assert len(done) == good
    assert {(night["code"], night["applied"]) for night in done} == {(0, 40)}
    lost = {night["store"]: (night["cause"], night["code"]) for night in nights if "error" in night}
    assert lost == {"gone": ("StoreNotFound", 10), "torn": ("Corrupt", 20), "odd": ("Bug", 1)}
    told = {night["store"]: night["error"] for night in nights if "error" in night}
    assert "nowhere.jsonl" in told["gone"]
    assert "torn.jsonl" in told["torn"]
    assert "ValueError" in told["odd"]
    assert SAID not in json.dumps(nights, ensure_ascii=False)
    rows = memops("status", "--now", NOW)
    assert memops.code == 32
    assert {row["store"]: row["state"] for row in rows if row["state"] != "good"} == {
        "gone": "failed", "torn": "failed", "odd": "failed",
    }  # fmt: skip
    book = (memops.state / "log.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in book.splitlines()]
    failed = [(e["store"], e["step"], e["code"]) for e in lines if e["event"] == "failed"]
    assert sorted(failed) == [
        ("gone", "take_snapshot", 10), ("odd", "plan_step", 1), ("torn", "take_snapshot", 20),
    ]  # fmt: skip
    assert sum(e["step"] == "apply_step" and e["applied"] == 40 for e in lines) == good
    assert not [r["text"] for r in twins if r["text"] in book]


@pytest.mark.parametrize(
    ("codes", "code"),
    [([], 0), ([0, 3], 3), ([23, 0], 23), ([31, 10, 0], 10), ([30, 11], 30), ([1, 30], 1)],
)
def test_several_stores_end_with_the_gravest_code(codes, code):
    assert gravest(codes) == code


def test_of_a_foreign_error_only_class_and_place_are_told():
    assert told(Locked("held", "wait")).code == 11
    assert (told(OSError(28, "No space left", "/x")).code, told(TimeoutError()).code) == (26, 24)
    try:
        json.loads(SAID)
    except ValueError as error:
        said = told(error)
    assert (said.code, "JSONDecodeError" in said.message, SAID in said.message) == (1, True, False)


ALWAYS = '[policy.unattended]\nrules = {"*" = "always"}\n'
KILLED = "import sys; from memops.cli import run; sys.exit(run(sys.argv[1:]))"


@pytest.mark.parametrize("site", ["batch-written", "overlay-write"])
def test_the_next_night_finishes_what_a_killed_one_began(memops, twins, site, monkeypatch):
    import os

    path = memops.write("m.jsonl", twins)
    configured(memops, {"home": f"jsonl:{path}"}, "[policy.limits]\nshare = 1.0\n" + ALWAYS)
    argv = [sys.executable, "-c", KILLED, "--state", str(memops.state), "nightly", "--now", NOW]
    env = os.environ | {"MEMOPS_FAIL": f"{site}:1:kill"}
    assert subprocess.run(argv, env=env, capture_output=True, check=False).returncode == -9
    (run,) = unfinished(memops.state)
    settings = read(None, memops.state)
    assert remedies("home", settings) == [
        f"`{settings.typed()} resume {run.id}` goes on, "
        f"`{settings.typed()} rollback {run.id}` takes it back"
    ]
    memops("status", "--now", NOW)
    assert memops.code == 32
    (night,) = memops("nightly", "--now", "2026-06-02T12:00:00Z")
    assert memops.code == 0
    assert [done["run"] for done in night["recovered"]] == [run.id]
    assert (Run(run.path).state, night["ops"], unfinished(memops.state)) == ("verified", 0, [])
    live = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(live) == 80
    assert sum(row.get("superseded_by") is None for row in live) == 40
    memops("rollback", run.id)
    assert memops.code == 0


def test_a_run_that_cannot_go_on_names_the_way_back(memops, twins):
    path = memops.write("m.jsonl", twins)
    plan = memops("plan", f"jsonl:{path}", "--now", NOW)["plan"]
    run = memops("apply", plan, "--approve")["run"]
    (memops.state / "runs" / run / "seal.json").unlink()
    journal = memops.state / "runs" / run / "journal.jsonl"
    kept = [line for line in journal.read_bytes().splitlines(True) if b'"verified"' not in line]
    journal.write_bytes(b"".join(kept))
    (memops.state / "plans" / plan / "plan.json").unlink()
    (night,) = memops("nightly", f"jsonl:{path}")
    assert (memops.code, night["cause"]) == (22, "PlanRefused")
    assert f"memops rollback {run}" in night["hint"]


def test_status_knows_late_waiting_failed_and_never(memops, twins):
    path, few = memops.write("m.jsonl", twins), memops.write("few.jsonl", twins[:4])
    stores = {"big": f"jsonl:{path}", "夜": f"jsonl:{few}", "new": f"jsonl:{path}.x"}
    figures = memops.folder / "memops.prom"
    configured(memops, stores, f'[monitor]\ntextfile = "{figures}"\n')
    memops("nightly", "夜", "--now", "2026-05-28T02:00:00Z")
    memops("nightly", "big", "--now", NOW)
    rows = {row["store"]: row for row in memops("status", "--now", NOW)}
    assert memops.code == 32
    assert {name: row["state"] for name, row in rows.items()} == {
        "big": "waiting", "夜": "late", "new": "never",
    }  # fmt: skip
    assert rows["夜"]["hours_since"] == 106.0
    memops("status", "big", "--now", NOW)
    assert memops.code == 0
    memops("status", "夜", "--now", NOW, "--max-age-hours", "200")
    assert memops.code == 0
    memops("status", "--now", NOW, "--prometheus", str(figures))
    assert figures.stat().st_mode & 0o777 == 0o644
    found = {
        (sample.name, sample.labels["store"]): sample.value
        for family in text_string_to_metric_families(figures.read_text(encoding="utf-8"))
        for sample in family.samples
        if "measure" not in sample.labels
    }
    assert found["memops_last_good_night_timestamp_seconds", "夜"] == 1779933600.0
    assert found["memops_night_code", "big"] == 23
    assert [found["memops_store_good", name] for name in ("big", "夜", "new")] == [1, 0, 0]


def test_a_plan_beyond_its_limits_waits_whoever_has_the_night(twins, memops):
    path = memops.write("m.jsonl", twins)
    settings = read(None, memops.state)
    night = curate(f"jsonl:{path}", settings)
    assert (night["code"], "limit" in night["stopped"]) == (23, True)
    page = Path(night["report"]).read_text()
    assert page.count("beyond its limits") == 0 and page.count("the limit is 10%") == 1
    plan = memops("plan", f"jsonl:{path}")["plan"]  # of no night
    page = Path(memops("report", plan)["path"]).read_text()
    assert page.count("the limit is 10%") == 1
    assert f"apply {plan} --approve</code>" in page and "To reject this:" in page
    assert "To take this back:" not in page
    night = curate(f"jsonl:{path}", settings, approve=True)
    assert (night["code"], night["applied"], "stopped" in night) == (0, 40, False)


def test_a_store_has_one_night_at_a_time_and_a_plan_that_waits_holds_none(
    memops, twins, monkeypatch
):
    monkeypatch.setattr(files.lock.__wrapped__, "__defaults__", (0.0,))  # seconds to wait
    stores = {"home": f"jsonl:{memops.write('m.jsonl', twins)}"}
    configured(memops, stores | {"other": f"jsonl:{memops.write('n.jsonl', twins)}"})
    with alone("home", open_store(stores["home"]), memops.state):
        nights = {night["store"]: night for night in memops("nightly")}
        assert memops.code == nights["home"]["code"] == 11
        assert "another night of home is at work" in nights["home"]["error"]
        assert nights["other"]["code"] == 23
    (first,) = memops("nightly", "home")
    (second,) = memops("nightly", "home")
    assert (first["code"], second["code"]) == (23, 23)
    assert memops("apply", second["plan"], "--approve")["applied"] == 40


def test_an_unknown_runner_or_setting_is_refused_by_name(memops):
    for text, word in (
        ('[runner]\nkind = "ray"\n', "runner.kind"),
        ("[flows]\nat_onse = 2\n", "at_once"),
        ("[monitor]\nmax_age_hours = -1\n", "monitor.max_age_hours"),
    ):
        (memops.folder / "memops.toml").write_text(text)
        said = memops("status")
        assert (memops.code, word in said["message"] + said["hint"]) == (2, True)


@pytest.mark.slow
def test_help_and_the_status_of_fifty_stores_take_no_time(memops):
    """Seconds of the processor, the best of five: how busy the machine is counts for nothing."""
    lines = []
    for n in range(50):
        memops.write(f"s{n}.jsonl", [{"id": "a", "text": f"Pier {n} is closed"}])
        lines += [f"[stores.s{n}]", f'address = "jsonl:s{n}.jsonl"']
    (memops.folder / "memops.toml").write_text("\n".join(lines))
    memops("nightly", "--now", NOW)

    def seconds(*argv):
        best = 60.0
        for _ in range(5):
            before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
            subprocess.run([sys.executable, "-m", "memops", "--state", memops.state, *argv], capture_output=True, check=False)  # fmt: skip
            best = min(best, sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before)
        return best

    assert seconds("--help") < 0.3
    assert seconds("status", "--now", NOW) < 0.6  # half a second, and what other processes cost it
