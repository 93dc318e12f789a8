import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.hygiene.decay import CLOCKS, MODELS, age_days, half_life, relevance
from memops.policy.hygiene import Decay
from memops.schema import RECORDS, TIERS, from_rows
from tests.compat import rsclaw_rules
from tests.counts import few

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def record(days=None, **fields):
    at = {} if days is None else {"created_at": NOW - timedelta(days=days)}
    return from_rows([{"id": "a"} | at | fields])


def value(records, expr):
    return records.select(x=expr)["x"][0]


def oracle(tier, importance, uses, days, floored):
    """The published formula, one step a line."""
    beta = {"core": 0.8, "working": 1.0, "peripheral": 1.3}[tier]
    floor = {"core": 0.9, "working": 0.3, "peripheral": 0.1}[tier]
    half = 30 * min(math.exp(1.5 * importance), 10)
    recency = math.exp(-math.log(2) / half * max(0.0, days) ** beta)
    score = 0.4 * recency + 0.3 * (1 - math.exp(-uses / 5)) + 0.3 * importance
    return min(1.0, max(0.01, score, floor)) if floored else score


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(TIERS),
    st.floats(0, 1),
    st.integers(0, 100),
    st.floats(-50, 5000),
    st.booleans(),
)
def test_relevance_is_the_published_formula(tier, importance, uses, days, floored):
    records = record(days, tier=tier, importance=importance, access_count=uses)
    got = value(records, relevance(NOW, Decay(), floored=floored))
    assert got == pytest.approx(oracle(tier, importance, uses, days, floored), abs=1e-9)


def test_half_life_grows_with_importance():
    halves = [value(record(importance=i), half_life(Decay())) for i in (0.01, 0.5, 0.9, 1.0)]
    assert [round(h, 1) for h in halves] == [30.5, 63.5, 115.7, 134.5]


def test_a_pinned_record_does_not_fade():
    assert value(record(9000, pinned=True, importance=0.0), relevance(NOW, Decay())) == 1.0


def test_a_working_record_can_fall_below_its_floor_only_unfloored():
    old = record(2000, importance=0.1)
    assert round(value(old, relevance(NOW, Decay())), 2) == 0.03
    assert value(old, relevance(NOW, Decay(), floored=True)) == 0.3


def test_an_unknown_time_is_no_age():
    assert value(record(), age_days(NOW)) is None
    assert value(record(), relevance(NOW, Decay())) == value(record(0), relevance(NOW, Decay()))


def test_a_future_time_is_age_nought():
    assert value(record(-400), age_days(NOW)) == 0.0


def test_the_clock_decides_which_time_counts():
    records = record(90, updated_at=NOW - timedelta(days=60), accessed_at=NOW - timedelta(days=30))
    assert [value(records, age_days(NOW, clock)) for clock in CLOCKS] == [90.0, 60.0, 30.0]


def test_clawseed_halves_in_a_week_except_core():
    weekly = Decay(model="clawseed", recency=1.0, frequency=0.0, importance=0.0)
    got = [
        value(record(days, tier=tier), relevance(NOW, weekly))
        for days, tier in [(7, "working"), (14, "peripheral"), (700, "core")]
    ]
    assert got == pytest.approx([0.5, 0.25, 1.0])


def test_openclaw_halves_dated_notes_in_thirty_days_and_keeps_the_rest():
    monthly = Decay(model="openclaw", recency=1.0, frequency=0.0, importance=0.0)
    origins = ["memory/2026-05-02.md#3", "MEMORY.md#3", "memory/topics/go.md#1", None]
    got = [value(record(30, origin=o), relevance(NOW, monthly)) for o in origins]
    assert got == pytest.approx([0.5, 1.0, 1.0, 1.0])


def test_none_never_fades():
    none = Decay(model="none")
    assert value(record(5000), relevance(NOW, none)) == value(record(0), relevance(NOW, none))


INT64 = st.integers(-(2**63), 2**63 - 1)


ANY_TIME = (
    st.lists(INT64 | st.none(), min_size=2, max_size=8),
    st.sampled_from(TIERS),
    st.floats(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from(sorted(MODELS)),
    st.booleans(),
)


def check_any_time(times, tier, importance, uses, model, floored):
    stamps = pl.Series("created_at", times, pl.Int64).cast(RECORDS["created_at"])
    records = stamps.to_frame().with_columns(
        updated_at=pl.lit(None, RECORDS["created_at"]),
        accessed_at=pl.lit(None, RECORDS["created_at"]),
        tier=pl.lit(tier),
        importance=pl.lit(importance, pl.Float64),
        access_count=pl.lit(uses, pl.Int64),
        pinned=pl.lit(False),
        origin=pl.lit("memory/2026-01-01.md#1"),
    )
    got = records.select("created_at", x=relevance(NOW, Decay(model=model), floored=floored)).sort(
        "created_at"
    )
    assert got["x"].is_finite().all() and got["x"].is_between(0, 1).all()
    known = got.drop_nulls("created_at")["x"].to_list()
    assert all(b >= a - 1e-12 for a, b in pairwise(known))


@few(100)
@given(*ANY_TIME)
def test_relevance_is_finite_in_range_and_monotone_for_any_time(
    times, tier, importance, uses, model, floored
):
    check_any_time(times, tier, importance, uses, model, floored)


@pytest.mark.slow
@few(2_000)
@given(*ANY_TIME)
def test_ten_thousand_times_keep_relevance_finite_in_range_and_monotone(
    times, tier, importance, uses, model, floored
):
    check_any_time(times, tier, importance, uses, model, floored)


@pytest.mark.parametrize(
    ("fields", "days", "tier"),
    [
        ({"access_count": 15}, 1, "core"),
        ({"access_count": 5, "importance": 0.8}, 1, "core"),
        ({"access_count": 4, "importance": 0.8}, 1, "working"),
        ({}, 60, "working"),
        ({}, 61, "peripheral"),
        ({"tier": "core", "importance": 0.85, "access_count": 2}, 61, "peripheral"),
        ({"tier": "peripheral", "access_count": 3}, 1, "working"),
        ({"tier": "peripheral", "pinned": True, "importance": 0.1}, 900, "core"),
    ],
)
def test_rsclaw_moves_tiers_as_its_source_says(fields, days, tier):
    assert value(record(days, **fields), rsclaw_rules.tier(NOW, Decay())) == tier
