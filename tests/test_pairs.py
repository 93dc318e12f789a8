"""What a person is told of pairs: the listings, the threshold, and why a record steps back."""

import json
from datetime import UTC, datetime

import polars as pl
import pytest

from memops.context import Context
from memops.evaluation.bench import judge_pairs
from memops.plan import outcome
from memops.rules import RULES, propose
from memops.schema import from_rows
from memops.search.collection import collect

NOW = "2026-10-01T00:00:00Z"
SAID = [
    ("dark", "User prefers dark mode", "2026-03-01"), ("light", "User prefers light mode", "2026-09-01"),
    ("mysql", "数据库用 MySQL", "2026-01-01"), ("pg", "数据库换成 PostgreSQL", "2026-03-01"),
    ("rate", "The API rate limit is 100 requests per minute", "2026-01-01"),
    ("again", "Rate limit of the API: 100 req/min", "2026-02-01"), ("cat", "用户养了一只猫", "2026-02-01"),
]  # fmt: skip


@pytest.fixture
def store(tmp_path):
    rows = [{"id": i, "text": text, "kind": "fact", "scope": "me", "created_at": f"{day}T00:00:00Z"} for i, text, day in SAID]  # fmt: skip
    path = tmp_path / "m.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return f"jsonl:{path}"


def ids(rows):
    return [{row["a_id"], row["b_id"]} for row in rows]


def test_pairs_are_listed_from_a_likeness_on(memops, store):
    found = memops("conflicts", store, "--now", NOW)
    assert sorted(ids(found), key=sorted) == [{"dark", "light"}, {"mysql", "pg"}]
    assert ids(memops("duplicates", store, "--now", NOW)) == [{"rate", "again"}]
    least = found[0]["score"] - 0.001
    assert ids(memops("conflicts", store, "--now", NOW, "--least", str(least))) == ids(found[:1])


def test_the_pairs_in_most_doubt_are_listed_for_review(memops, store):
    rows = memops("conflicts", store, "--now", NOW, "--near", "2")
    distance = [abs(row["conflict_score"] - 0.5) for row in rows]
    assert len(rows) == 2 and distance == sorted(distance)
    assert {"a_text", "b_text", "jaccard", "cosine", "bm25", "conflict"} <= rows[0].keys()


def test_an_explained_change_names_signals_slots_cues_and_from_what_to_what(memops, store):
    plan = memops("plan", store, "--now", NOW)["plan"]
    (change,) = memops("explain", plan, "dark")["changes"]
    (pair,) = change["pairs"]
    assert pair["with"] == "light" and pair["opposes"] == "opposite"
    assert pair["signals"]["opposites"] == 1.0
    assert pair["change"].endswith("dark (2026-03) -> light (2026-09)")
    decided = pair["decided"]
    assert decided["decider"] == "rules" and decided["verdict"] == "conflict"
    assert decided["probability"] == pair["conflict_score"] > 0.5
    assert decided["similarity"] == change["args"]["similarity"]
    (chinese,) = memops("explain", plan, "mysql")["changes"][0]["pairs"]
    assert chinese["change"].endswith("mysql (2026-01) -> postgresql (2026-03)")
    assert chinese["b"]["cues"] == ["change"]
    merged = memops("explain", plan, "again")["changes"][0]["pairs"][0]
    assert merged["same"] and merged["change"] is None
    assert merged["decided"]["verdict"] == "same"


def test_of_a_chain_each_step_is_seen_as_of_its_own_time():
    day = lambda month, n=1: datetime(2026, month, n, tzinfo=UTC)  # noqa: E731
    chain = [
        {
            "id": "a",
            "text": "The call is at 15:00 on Fridays",
            "created_at": day(1),
            "kind": "fact",
        },
        {
            "id": "b",
            "text": "The call is at 16:00 on Fridays",
            "created_at": day(2),
            "kind": "fact",
        },
        {
            "id": "c",
            "text": "The call is at 17:00 on Fridays",
            "created_at": day(3),
            "kind": "fact",
        },
    ]
    before = from_rows(chain)
    after = outcome(before, propose(before, Context(now=day(6)), RULES)[0])
    assert after["superseded_by"].to_list() == ["c", "c", None]
    asked = [("q1", day(1, 15)), ("q2", day(2, 15)), ("q3", day(3, 15))]
    queries = pl.DataFrame({"query_id": [q for q, _ in asked], "text": "call", "as_of": [t for _, t in asked]})  # fmt: skip
    held = collect(after, queries).documents.select("id", "stored", "until").rows()
    at = [t.timestamp() * 1e6 for _, t in asked]
    assert [[i for i, stored, until in held if stored <= t < until] for t in at] == [
        ["a"],
        ["b"],
        ["c"],
    ]


@pytest.mark.parametrize(
    ("one", "other", "another"),
    [
        ("The cabin is 1.2 km from the lake.", "The cabin is 1,200 metres from the lake.", "The cabin is 1,300 metres from the lake."),
        ("The call is at 3 pm on Fridays.", "The call is at 15:00 on Fridays.", "The call is at 16:00 on Fridays."),
        ("房租是两千元一个月", "房租是2000元一个月", "房租是2200元一个月"),
    ],
)  # fmt: skip
def test_a_night_merges_what_differs_only_in_how_a_value_is_written(one, other, another):
    made = {}
    for told in (other, another):
        rows = [{"id": i, "text": t, "kind": "fact"} for i, t in (("a", one), ("b", told))]
        for row, day in zip(rows, ("2026-01-01", "2026-02-01"), strict=True):
            row["created_at"] = f"{day}T00:00:00Z"
        plan, _ = propose(from_rows(rows), Context(datetime(2026, 3, 1, tzinfo=UTC)), RULES)
        made[told] = plan["intent"].to_list()
    assert made == {other: ["merge"], another: ["supersede"]}


def test_a_text_that_stands_whole_in_a_fuller_one_is_a_duplicate_and_a_changed_one_is_none():
    stove = "The greenhouse is heated by a pellet stove from October to April"
    others = {
        f"{stove}, filled twice a day by whoever is on duty.": True,
        f"Keys hang behind the door. {stove}.": True,
        stove.replace("is heated", "is not heated") + ", whatever the manual says.": False,
        stove.replace("April", "March") + ", filled twice a day by whoever is on duty.": False,
        f"They say that {stove[0].lower()}{stove[1:]}, and by the sun in May.": False,
    }
    pairs = [{"id": str(n), "a": stove, "b": other} for n, other in enumerate(others)]
    told = list(judge_pairs(pairs))
    assert [row["duplicate"] for row in told] == list(others.values())
    assert all((row["duplicate_score"] > 0.5) == row["duplicate"] for row in told)
