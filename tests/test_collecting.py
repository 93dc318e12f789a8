"""Several XingheBot nodes read as one; their sessions collected; their roots left alone."""

import os

import pytest

from memops.commands.collecting import gathered, nodes
from memops.errors import MemopsError

SESSION = "# Session Capture\n\n- run_id: run-1\n\n## Messages (last 1)\n\n- ? user: hi\n"


@pytest.fixture
def farm(tmp_path):
    said = {
        "east": ["The spare key hangs behind the blue door", "用户的猫叫麻薯，每晚八点喂一次鱼干", "Only the east knows this"],
        "west": ["The spare key hangs behind the blue door", "用户的猫叫麻薯，每晚八点喂一次鱼干。", "Only the west knows this"],
    }  # fmt: skip
    for n, (node, texts) in enumerate(said.items()):
        root = tmp_path / node / "memory"
        for folder in ("daily", "sessions"):
            (root / folder).mkdir(parents=True)
        lines = [f"- 2026-05-0{n + 1}T08:0{i}:00Z [fact] {t}\n" for i, t in enumerate(texts)]
        (root / "daily" / f"2026-05-0{n + 1}.md").write_text("".join(lines), encoding="utf-8")
        (root / "sessions" / "2026-05-01-run-1.md").write_text(SESSION + f"- ? assistant: {node}\n")
        (root / "sessions" / "2026-05-01-both.md").write_text(SESSION)
        (root / "sessions" / f"{node}.md").write_text(SESSION.replace("run-1", node))
        os.utime(root / "sessions" / f"{node}.md", ns=(10**18, 10**18))
    (tmp_path / "hub").mkdir()
    return tmp_path


def state(folder):
    return {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()}


def test_sessions_are_collected_once_and_the_roots_stay_as_they_were(memops, farm):
    before = state(farm / "east") | state(farm / "west")
    roots = [farm / "east" / "memory", farm / "west" / "memory"]
    said = memops("collect", *roots, "--into", farm / "hub")
    assert memops.code == 0, memops.err
    assert said["nodes"]["east"]["sessions"] == 3
    assert sorted(said["copied"]) == [
        "sessions/2026-05-01-both.md",
        "sessions/2026-05-01-run-1.md",
        "sessions/2026-05-01-run-1@west.md",
        "sessions/east.md",
        "sessions/west.md",
    ]
    assert said["already"] == 1
    hub = farm / "hub" / "sessions"
    assert (hub / "2026-05-01-run-1@west.md").read_text().endswith("- ? assistant: west\n")
    assert (hub / "east.md").stat().st_mtime_ns == 10**18
    assert state(farm / "east") | state(farm / "west") == before
    again = memops("collect", *roots, "--into", farm / "hub")
    assert (again["copied"], again["already"]) == ([], 6)


def test_what_two_nodes_say_is_found_and_names_the_node(memops, farm):
    said = memops("collect", farm / "east" / "memory", farm / "west" / "memory")
    assert said["copied"] == [] and list((farm / "hub").iterdir()) == []
    pairs = {
        frozenset((p["id"].split("/")[0], p["same_as"].split("/")[0])) for p in said["duplicates"]
    }
    assert pairs == {frozenset(("east", "west"))}
    table = gathered(nodes([f"a={farm / 'east' / 'memory'}", f"b={farm / 'west' / 'memory'}"]))
    texts = dict(zip(table["id"], table["text"], strict=True))
    ids = [p["id"].replace("east/", "a/").replace("west/", "b/") for p in said["duplicates"]]
    facts = [texts[i] for i in ids if "daily" in i]
    assert sorted(t.rstrip("。") for t in facts) == [
        "The spare key hangs behind the blue door",
        "用户的猫叫麻薯，每晚八点喂一次鱼干",
    ]
    assert set(table["origin"].str.split("/").list.first()) == {"a", "b"}
    assert table["id"].is_unique().all()


def test_nodes_need_names_of_their_own(farm):
    assert list(nodes([str(farm / "east" / "memory"), f"x={farm / 'hub'}"])) == ["east", "x"]
    for given in (["/a/memory", "/a/memory"], ["=/a"], ["a/b=/x"]):
        with pytest.raises(MemopsError):
            nodes(given)


def test_a_root_that_is_not_there_is_named(memops, farm):
    memops("collect", farm / "east" / "memory", "--into", farm / "nowhere")
    assert memops.code == 10
    memops("collect", farm / "nowhere")
    assert memops.code == 10
