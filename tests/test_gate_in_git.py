"""The gate as continuous integration: a memory file in a Git repository, a suite, and commits."""

import json
import random
import subprocess
import xml.etree.ElementTree as ET

import pytest

ITEMS = ("router", "scanner", "projector", "boiler", "badge reader", "freezer", "generator")
ROOMS = ("lobby", "archive", "kitchen", "cellar", "workshop", "garage", "attic", "studio")
ITEMS_ZH = ("路由器", "扫描仪", "投影仪", "锅炉", "读卡器", "冰柜", "发电机")
ROOMS_ZH = ("大厅", "档案室", "厨房", "地下室", "车间", "车库", "阁楼", "工作室")


def memories():
    """One hundred and twelve facts, half of them in Chinese, each with a question of its own."""
    for n, (item, room) in enumerate((i, r) for i in range(7) for r in range(8)):
        en, zh = f"en{n:02}", f"zh{n:02}"
        yield (
            en,
            f"The {ITEMS[item]} in the {ROOMS[room]} was replaced by model M{37 * n + 5}",
            (f"which model is the {ITEMS[item]} in the {ROOMS[room]}"),
        )
        yield (
            zh,
            f"{ROOMS_ZH[room]}的{ITEMS_ZH[item]}由{53 * n + 7}号师傅维护",
            (f"{ROOMS_ZH[room]}的{ITEMS_ZH[item]}由谁维护"),
        )


@pytest.fixture
def repository(memops):
    folder = memops.folder
    rows = [{"id": i, "text": t, "scope": "u", "kind": "fact"} for i, t, _ in memories()]
    memops.write("memories.jsonl", rows)
    golden = folder / "evals" / "home"
    golden.mkdir(parents=True)
    (golden / "suite.toml").write_text('measures = ["R@5", "RR@10"]\n')
    queries = [{"query_id": f"q-{i}", "text": q, "relevant": [i]} for i, _, q in memories()]
    (golden / "queries.jsonl").write_text(
        "".join(json.dumps(q, ensure_ascii=False) + "\n" for q in queries), encoding="utf-8"
    )
    git("init", "-q")
    memops("gate", "jsonl:memories.jsonl", "--suite", "home", "--accept")
    commit("Remember the house")
    return memops


def git(*argv):
    who = ("-c", "user.name=ci", "-c", "user.email=ci@example.org")
    return subprocess.run(["git", *who, *argv], check=True, capture_output=True, text=True).stdout


def commit(message):
    git("add", "memories.jsonl", "evals")
    git("commit", "-q", "-m", message)


def gated(memops):
    """What the job prints for a clean checkout of the last commit."""
    assert not git("status", "--porcelain", "memories.jsonl", "evals")
    argv = ("--suite", "home", "--junit", "junit.xml", "--github")
    said = memops("gate", "jsonl:memories.jsonl", *argv)
    return said, ET.parse("junit.xml").getroot().find("testsuite")


def rewrite(memops, change):
    path = memops.folder / "memories.jsonl"
    path.write_text("".join(change(path.read_text(encoding="utf-8").splitlines(keepends=True))))


def test_a_commit_that_drops_evidence_is_red_and_names_its_queries(repository, monkeypatch):
    summary = repository.folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    gone = {f"{lang}{n:02}" for lang in ("en", "zh") for n in range(0, 30, 2)}
    rewrite(repository, lambda ls: [x for x in ls if json.loads(x)["id"] not in gone])
    commit("Tidy up")
    said, junit = gated(repository)
    assert (repository.code, said["verdict"]) == (30, "fail")
    assert {row["query_id"] for row in said["lost"]} == {f"q-{i}" for i in gone}
    failed = {case.attrib["name"] for case in junit if case.find("failure") is not None}
    assert failed == {"verdict", *(f"query q-{i}" for i in gone)}
    assert int(junit.attrib["failures"]) == len(failed) == 31
    assert "### Recall gate: fail" in summary.read_text(encoding="utf-8")
    # A night still does not believe that so much is gone.
    repository("plan", "jsonl:memories.jsonl")
    assert repository.code == 21


def test_a_commit_that_only_reorders_is_green(repository):
    def shuffled(lines):
        random.Random(5).shuffle(lines)
        return lines

    rewrite(repository, shuffled)
    commit("Sort differently")
    said, junit = gated(repository)
    assert (repository.code, said["verdict"], said["lost"]) == (0, "pass", [])
    assert junit.attrib["failures"] == "0" and len(junit) == int(junit.attrib["tests"]) > 1
