"""Tests of a judge: what it is right about, and what it may therefore decide unattended."""

import json
from pathlib import Path

import pytest

from memops.evaluation import judge_tests
from memops.policy import Judge, Policy, Unattended
from memops.verdicts import A_REPLACES_B, B_REPLACES_A, BOTH_HOLD, SAME, UNSURE, Verdict
from tests.model_server import Model

THEMES = Path(__file__).parent.parent / "evals/pairs/themes"
PAIRS = THEMES / "garden.jsonl"
CONFIG = """[policy.judge]
endpoint = "{url}"
model = "m"
decides = true
pause = 0.01
sure = 0.5
[policy.unattended]
changes = 8
lower = 0.6
"""
STORE = ["Rent is due on the 1st", "The 1st is when rent has to be paid"]


def pairs(path=PAIRS):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def truth(rows):
    """The verdict on each pair of texts, either way round."""
    said = {}
    for row in rows:
        there = {"duplicate": SAME, "neither": BOTH_HOLD}.get(row["label"])
        newer = there or (A_REPLACES_B if row["newer"] == "a" else B_REPLACES_A)
        turned = {A_REPLACES_B: B_REPLACES_A, B_REPLACES_A: A_REPLACES_B}.get(newer, newer)
        said[row["a"], row["b"]], said[row["b"], row["a"]] = newer, turned
    return said


@pytest.fixture
def served(tmp_path):
    """A server that says of each pair what it is told, and the settings that name it."""
    made = []

    def start(say):
        def reply(user):
            asked = json.loads(user)["pairs"]
            rows = [{"n": p["n"], "reason": "so", "verdict": say(p["a"]["text"], p["b"]["text"])} for p in asked]  # fmt: skip
            return json.dumps({"answers": rows})

        made.append(Model(reply))
        (tmp_path / "memops.toml").write_text(CONFIG.format(url=made[-1].url))

    yield start
    for model in made:
        model.close()


class Says:
    name = "told"

    def __init__(self, say):
        self.say = say

    def recipe(self):
        return {"sha256": "0" * 64}

    def __call__(self, asked):
        return [Verdict(self.say(p.a.text, p.b.text)) for p in asked]


def test_a_judge_that_is_always_right_is_said_to_be_in_each_language():
    rows, gold = pairs(), truth(pairs())
    counts, earned = judge_tests.tested(rows, Says(lambda a, b: gold[a, b]), Policy())
    assert set(counts["lang"]) == {"en", "zh", "cross"} and (counts["precision"] == 1).all()
    assert (counts["low"] < 1).all() and (counts["high"] == 1).all()
    assert not earned["may"].any()
    easy = Policy(unattended=Unattended(changes=8, lower=0.6))
    assert judge_tests.tested(rows, Says(lambda a, b: gold[a, b]), easy)[1]["may"].all()


def test_the_language_in_which_a_verdict_does_worst_counts():
    rows, gold = pairs(), truth(pairs())
    lang = {row["a"]: row["lang"] for row in rows}

    def say(a, b):
        return SAME if lang[a] == "zh" else gold[a, b]

    counts, earned = judge_tests.tested(
        rows, Says(say), Policy(unattended=Unattended(changes=8, lower=0.6))
    )
    same = {row["lang"]: row["precision"] for row in counts.filter(verdict="same").to_dicts()}
    assert same["en"] == 1 > 0.6 > same["zh"]
    assert earned.filter(verdict="same").row(0, named=True)["lang"] == "zh"
    assert dict(earned.select("verdict", "may").iter_rows()) == {"same": False, "replaces": True}


def test_a_replacement_the_wrong_way_round_is_wrong_and_what_is_unsure_is_not_counted():
    rows, gold = pairs(), truth(pairs())
    turned = Says(lambda a, b: gold[b, a] if "replaces" in gold[a, b] else UNSURE)
    counts, _ = judge_tests.tested(rows, turned, Policy())
    assert set(counts["verdict"]) == {"replaces"} and counts["right"].sum() == 0


@pytest.mark.earned
def test_what_an_unearned_judge_decides_waits_until_a_test_shows_it_right(memops, served, tmp_path):
    gold = truth(pairs()) | {tuple(STORE): SAME, tuple(STORE[::-1]): SAME}
    served(lambda a, b: gold.get((a, b), BOTH_HOLD))
    path = tmp_path / "m.jsonl"
    rows = [{"id": f"r{n}", "text": t, "kind": "fact", "source": "user", "created_at": f"2026-01-0{n + 1}T00:00:00Z"} for n, t in enumerate(STORE)]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def merges(day):
        made = memops("plan", f"jsonl:{path}", "--now", f"2026-10-0{day}T00:00:00Z")
        ops = (Path(made["path"]) / "ops.jsonl").read_text(encoding="utf-8").splitlines()
        return [row for row in map(json.loads, ops) if row["op"] == "merge"]

    (before,) = merges(1)
    assert before["unattended"] is False and before["waits"]["code"] == "autonomy.unearned"
    said = memops("judge", "test", PAIRS)
    assert said["pairs"] == 130 and {row["may"] for row in said["earned"]} == {True}
    assert Path(said["kept"]).is_file()
    (after,) = merges(2)
    assert after["unattended"] is True
    text = Path(said["kept"]).read_text(encoding="utf-8")
    assert not any(row["a"] in text for row in pairs())


def test_a_file_that_holds_no_labelled_pairs_is_named_with_its_row(memops, served, tmp_path):
    served(lambda a, b: SAME)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"a": "x", "b": "y", "label": "duplicate"}\n{"a": "x"}\n', encoding="utf-8")
    assert "bad.jsonl: line 2" in memops("judge", "test", bad)["message"] and memops.code == 20
    (tmp_path / "memops.toml").unlink()
    assert memops("judge", "test", PAIRS)["message"] == "no judge is configured"
    assert Policy().judge == Judge()
