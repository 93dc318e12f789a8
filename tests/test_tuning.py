"""Choosing how to search: what is tried, what is held back, and what the picture shows."""

import json
import xml.etree.ElementTree as ET

import polars as pl
import pytest

from memops.search.collection import in_passages, whole

from .test_gate_in_git import memories


@pytest.fixture
def house(memops):
    rows = [{"id": i, "text": t, "scope": "u", "kind": "fact"} for i, t, _ in memories()]
    memops.write("memories.jsonl", rows)
    golden = memops.folder / "golden"
    golden.mkdir()
    (golden / "suite.toml").write_text('measures = ["RR@10", "R@5"]\nretriever = "dense"\n')
    queries = [{"query_id": f"q-{i}", "text": q, "relevant": [i]} for i, _, q in memories()]
    (golden / "queries.jsonl").write_text(
        "".join(json.dumps(q, ensure_ascii=False) + "\n" for q in queries[::2] + queries[1:40:2])
    )
    return memops


def test_ways_of_searching_are_chosen_on_one_half_and_told_on_the_other(house):
    said = house("tune", "jsonl:memories.jsonl", "--suite", "golden", "-o", "tune.svg")
    assert house.code == 0 and said["now"] == "dense lsa"
    names = [t["name"] for t in said["tried"]]
    assert names[0] == said["chosen"] and {"bm25", "dense lsa", "rrf lsa", "hybrid lsa"} <= set(
        names
    )
    assert said["dev_queries"] + said["test_queries"] == 76
    assert said["gain"]["low"] <= said["gain"]["mean"] <= said["gain"]["high"]
    best = max(t["dev"] for t in said["tried"])
    assert said["tried"][0]["dev"] == best
    root = ET.parse("tune.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    marks = [c for c in root.iter(f"{space}circle") if not c.get("class")]
    assert len(marks) == len(names) and "Chosen on the other half" in root.findtext(f"{space}desc")
    assert all(len("".join(t.itertext())) <= 104 for t in root.iter(f"{space}text"))


def test_too_small_a_suite_is_no_ground_to_choose(house):
    path = house.folder / "golden/queries.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:10]))
    house("tune", "jsonl:memories.jsonl", "--suite", "golden")
    assert house.code == 2 and "too few to choose by" in house.err


def test_passages_lose_no_text_and_count_by_the_best_of_a_record():
    long = "one two three, four five. " * 40
    zh = "用户住在上海，喜欢喝咖啡。" * 60
    cut = in_passages(pl.DataFrame({"id": ["a", "b", "c"], "text": [long, zh, ""]}), 100)
    parts = dict(cut.group_by(pl.col("id").str.split("\x1f").list.first()).agg("text").rows())
    assert {i: "".join(p) for i, p in parts.items()} == {"a": long, "b": zh, "c": ""}
    assert all(len(p) <= 112 for p in parts["a"] + parts["b"])
    run = pl.DataFrame(
        {"query_id": "q", "doc_id": ["a\x1f3", "b\x1f0", "a\x1f1", "c\x1f0"], "rank": [1, 2, 3, 4],
         "score": [0.9, 0.8, 0.7, 0.6]}
    )  # fmt: skip
    assert whole(run, 2).rows() == [("q", "a", 1, 0.9), ("q", "b", 2, 0.8)]
