"""Arbitrary lists of changes, on a store that drifted: what must stand stands, whatever they say.

The write path is the one that a table has, without its file; the oracle is plain Python.
"""

import os
from collections import Counter
from functools import cache

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from memops.apply.checks import Checker
from memops.limits import excess
from memops.plan import nothing, squash
from memops.policy import Floors, Limits, Policy
from memops.safety.secrets import redacted
from memops.schema import TIERS, TOMBSTONE, conform, from_rows, only
from memops.stores import Work
from memops.stores.base import _changed
from memops.stores.formats import json_line, parsed
from tests.strategies import IDS, NOW, plans, records, rows

from .checker import Tally

POLICY = Policy(
    floors=Floors(default=1, kinds={"entity": 0, "preference": 2}),
    limits=Limits(share=0.5, records=4, small=1),
)


@st.composite
def scenes(draw):
    """Records, what an agent made of them since, and a plan that no guard has seen."""
    before = draw(records(min_size=2))
    live = {row["id"]: row for row in before.to_dicts()}
    for id_ in draw(st.lists(st.sampled_from(IDS), max_size=2, unique=True)):
        if draw(st.booleans()):
            live[id_] = from_rows([{"id": id_, **draw(rows)}]).to_dicts()[0]
        else:
            live.pop(id_, None)
    return before, live, draw(plans(max_size=8))


def carried_out(before, live, plan):
    """Carry a plan out on live records as a table's write does; returns records by id."""
    changes, table = squash(plan), from_rows(list(live.values()))
    check, sees = Checker(before, changes, nothing(), POLICY, "unattended", False, False).of(
        changes
    )
    told = lambda live, counts: check(only(live, sees), counts)  # noqa: E731
    work = Work(changes, before, NOW, told, lambda undo: None)
    answers, undo, new = _changed(lines_of(live), table, work, "table")
    assert {u.id for u in undo} == {a.id for a in answers if a.state == "applied"}
    table = parsed("\n".join(new.values()).encode(), "table")
    return {row["id"]: row for row in conform(table, "table").to_dicts()}


def lines_of(records):
    """Return the lines by which a table holds these records."""
    return {id_: json_line(row) for id_, row in records.items()}


def violations(was, now, policy=POLICY):
    """Return a sentence for each thing that no plan may do; `was` and `now` are records by id."""
    said = []
    for id_, row in was.items():
        if row["superseded_by"] is not None or not (row["pinned"] or row["tier"] == "core"):
            continue
        there = now.get(id_)
        if there is None:
            said.append(f"{id_} was protected and is gone")
            continue
        if there.get("superseded_by") == TOMBSTONE:
            said.append(f"{id_} was protected and is retired")
        if there["text"] not in (row["text"], _redacted(row["text"])):
            said.append(f"{id_} was protected and is rewritten")
        if row["pinned"] and not there["pinned"]:
            said.append(f"{id_} was unpinned")
        if TIERS.index(there["tier"]) < TIERS.index(row["tier"]):
            said.append(f"{id_} was protected and is demoted")
    return said + _below_floors(was, now, policy)


@cache
def _redacted(text):
    return redacted(pl.Series([text]))[0]


def _below_floors(was, now, policy):
    """Of each scope and kind no more live records are lost than leave its floor."""
    group = Counter((r["scope"], r["kind"]) for r in was.values() if r["superseded_by"] is None)
    lost = Counter()
    for id_, row in was.items():
        there, place = now.get(id_), (row["scope"], row["kind"])
        if row["superseded_by"] is not None:
            continue
        moved = there is not None and there["kind"] != row["kind"]  # another scope is no loss
        if (
            there is None
            or there.get("superseded_by") == TOMBSTONE
            or (moved and there.get("superseded_by") is None)
        ):
            lost[place] += 1
    return [
        f"{place} lost {n} of {group[place]} records"
        for place, n in lost.items()
        if group[place] - n < policy.floors.kinds.get(place[1], policy.floors.default)
    ]


def beyond_limits(plan, live):
    """Tell by plain counting whether a plan goes beyond the limits."""
    touched = {row["id"] for row in plan.select("id").to_dicts()} & live.keys()
    if len(touched) > POLICY.limits.records:
        return True
    group = Counter((r["scope"], r["kind"]) for r in live.values() if r["superseded_by"] is None)
    hit = Counter(
        (live[i]["scope"], live[i]["kind"]) for i in touched if live[i]["superseded_by"] is None
    )
    return any(n > 1 and n / group[place] > POLICY.limits.share for place, n in hit.items())


def op_lists(count, from_seed):
    """Try so many op lists; returns the tally, whose `delivered` are lists that changed anything."""
    tally = Tally()

    @seed(from_seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate] if "TRUST_MUTANT" in os.environ else [Phase.generate, Phase.shrink],
    )
    @given(scenes())
    def each(scene):
        before, live, plan = scene
        tally.runs += 1
        known = {row["id"]: row for row in before.to_dicts()}
        said = excess(plan, before, POLICY.limits)
        assert bool(said) == beyond_limits(plan, known), said
        now = carried_out(before, live, plan)
        tally.delivered += {i: json_line(r) for i, r in now.items()} != lines_of(live)
        assert violations(live, now) == []

    try:
        each()
    except Exception as error:
        tally.failures.append(f"seed {from_seed}: {str(error)[:300]}")
    return tally


def test_no_list_of_changes_takes_what_is_protected_or_goes_below_a_floor():
    tally = op_lists(40, 1)
    assert tally.failures == []
    assert tally.delivered > 10


@pytest.mark.slow
def test_ten_thousand_lists_of_changes():
    tally = op_lists(10_000, 2)
    assert tally.failures == []
