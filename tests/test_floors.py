"""Floors: the guard, a simulation and a report count by the same groups."""

import random
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from memops.commands.simulation import simulated
from memops.context import Context
from memops.guard import protect
from memops.hygiene import floors
from memops.hygiene.floors import standing
from memops.plan import edit, outcome
from memops.policy import Policy, from_table
from memops.rules import propose
from memops.rules.retire_old import retire_old
from memops.schema import LIVE, TOMBSTONE, from_rows

from .compat.clawseed_rules import pruned
from .test_hygiene import drawn

NOW = datetime(2026, 6, 1, tzinfo=UTC)
BY_CATEGORY = {
    "floors": {
        "default": 2,
        "kinds": {"note": 0, "home/fact": 4, "category:日记": 3, "work/category:daily": 5},
    },
    "retention": {"windows": {"fact": 10.0, "note": 10.0}},
}


def store():
    """Eight records of each scope, kind and category, tasks among them."""
    native = {"a": "{}", "b": '{"category": "日记"}', "c": '{"category": "daily"}'}
    return from_rows(
        [
            {
                "id": f"{scope}{kind}{name}{n}",
                "scope": scope,
                "kind": kind,
                "text": f"待办：收拾第{n}间" if n > 5 else f"The {n}th shelf is blue",
                "extra": native[name],
                "created_at": NOW - timedelta(days=20 + n),
            }
            for scope in ("home", "work")
            for kind in ("fact", "note")
            for name in native
            for n in range(8)
        ]
    )


def retiring(records):
    greedy = edit(
        records, "tombstone", "because", superseded_by=pl.lit(TOMBSTONE), valid_to=pl.lit(NOW)
    )
    return greedy.with_columns(rule=pl.lit("wipe"), risk=pl.lit("low"))


def test_what_the_guard_leaves_of_a_greedy_plan_is_what_the_table_of_floors_asks():
    records, policy = store(), from_table(BY_CATEGORY)
    allowed, _ = protect(retiring(records), records, policy)
    left = standing(outcome(records, allowed), policy.floors)
    assert left.rows() == [
        ("home", "category:日记", 3, 3),
        ("home", "fact", 4, 4),
        ("work", "category:daily", 5, 5),
        ("work", "category:日记", 3, 3),
        ("work", "fact", 2, 2),
    ]
    start = standing(records, policy.floors)
    assert start.filter(pl.col("kind") == "fact")["live"].to_list() == [
        18,
        6,
    ]  # a floor of one scope counts before one by category


def test_a_simulation_shows_the_groups_that_the_guard_keeps():
    records, policy = store(), from_table(BY_CATEGORY)
    course = simulated(records, policy, NOW, days=63)
    end = course.kinds.filter(pl.col("week") == 9).drop("week")
    assert end.filter(pl.col("live") > 0).equals(standing(course.records, policy.floors))
    assert end.filter(pl.col("live") < pl.col("floor")).is_empty()
    assert end.filter(pl.col("kind") == "category:日记")["live"].to_list() == [3, 3]


@pytest.mark.parametrize("seed", range(3))
def test_of_a_large_group_no_more_is_counted_than_decides_the_same(seed, monkeypatch):
    records = drawn(seed, stores=10, rows=40).with_columns(scope=pl.lit("one"))
    some = records.filter(LIVE).head(200)
    whole = protect(retiring(some), records, Policy())
    monkeypatch.setattr(floors, "_FIRST", 60)
    again = protect(retiring(some), records, Policy())
    assert all(a.equals(b) for a, b in zip(whole, again, strict=True))
    assert whole[1].filter(pl.col("code") == "guard.floor").height > 3


@pytest.mark.parametrize("seed", range(12))
def test_a_floor_by_category_keeps_of_live_rows_what_clawseed_keeps(seed):
    draw = random.Random(seed)
    ages = [draw.choice([3, 20, 40, 90]) + n / 100 for n in range(draw.randint(1, 12))]
    floor, days = draw.choice([0, 1, 3, 6, 20]), 30
    records = from_rows(
        [
            {
                "id": f"{n:02}",
                "kind": draw.choice(["note", "fact"]),
                "extra": '{"category": "daily"}',
                "created_at": NOW - timedelta(days=age),
            }
            for n, age in enumerate(ages)
        ]
    )
    policy = from_table(
        {
            "floors": {"kinds": {"category:daily": floor, "note": 0}},
            "retention": {"windows": {"category:daily": float(days)}},
        }
    )
    plan, _ = propose(records, Context(now=NOW, policy=policy), [retire_old])
    rows = [
        {"id": row["id"], "category": "daily", "superseded_by": None, "updated_at": row["created_at"].isoformat()}
        for row in records.to_dicts()
    ]  # fmt: skip
    gone = pruned(rows, "daily", (NOW - timedelta(days=days)).isoformat(), floor)
    assert sorted(plan["id"]) == sorted(row["id"] for row in gone)
