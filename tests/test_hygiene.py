"""Laws of the hygiene rules: floors, quiet second nights, one tier change a week, speed."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memops.context import Context
from memops.errors import MemopsError
from memops.plan import outcome
from memops.policy import Policy, from_table
from memops.rules import propose
from memops.rules.delete_retired import delete_retired
from memops.rules.demote_faded import demote_faded
from memops.rules.expire_dated import expire_dated
from memops.rules.promote_used import promote_used
from memops.rules.retire_old import retire_old
from memops.schema import KINDS, LIVE, TIERS, TOMBSTONE, from_rows

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HYGIENE = (promote_used, demote_faded, expire_dated, retire_old, delete_retired)
moments = st.none() | st.integers(-2000, 400).map(lambda d: NOW + timedelta(days=d))
row = st.fixed_dictionaries(
    {
        "scope": st.sampled_from(["default", "agent:main"]),
        "kind": st.sampled_from(KINDS),
        "tier": st.sampled_from(TIERS),
        "importance": st.sampled_from([0.0, 0.1, 0.4, 0.65, 0.8, 1.0]),
        "pinned": st.booleans(),
        "access_count": st.integers(0, 20),
        "created_at": moments,
        "updated_at": moments,
        "accessed_at": moments,
        "expires_at": moments,
        "valid_to": moments,
        "superseded_by": st.none() | st.sampled_from([TOMBSTONE, "elsewhere"]),
    }
)
stores = st.lists(row, max_size=25).map(
    lambda rows: from_rows([{"id": f"{i:03}"} | r for i, r in enumerate(rows)])
)
policies = st.sampled_from(
    [
        Policy(),
        from_table({"retention": {"windows": {"fact": 10.0, "entity": 5.0}, "grace_days": 1.0}}),
        from_table({"floors": {"default": 1}, "decay": {"model": "clawseed"}}),
        from_table({"tiers": {"promote_accesses": 1, "promote_importance": 0.0}}),
        from_table({"decay": {"clock": "created", "model": "none"}}),
    ]
)


def night(records, policy, now=NOW):
    plan, _ = propose(records, Context(now=now, policy=policy), HYGIENE)
    return outcome(records, plan), plan


def check_a_night(records, policy):
    after, _ = night(records, policy)
    guarded = records.filter(LIVE & (pl.col("pinned") | (pl.col("tier") == "core")))
    kept = after.filter(LIVE)
    assert guarded.join(kept, on="id", how="anti").is_empty()
    rank = {tier: n for n, tier in enumerate(TIERS)}
    both = guarded.join(after, on="id").with_columns(
        pl.col("tier", "tier_right").replace_strict(rank)
    )
    assert both.filter(pl.col("tier_right") < pl.col("tier")).is_empty()
    was = dict(records.filter(LIVE).group_by("scope", "kind").len().select(
        pl.concat_str("scope", "kind"), "len").iter_rows())  # fmt: skip
    now = dict(kept.group_by("scope", "kind").len().select(
        pl.concat_str("scope", "kind"), "len").iter_rows())  # fmt: skip
    for scope in ("default", "agent:main"):
        for kind in KINDS:
            floor = policy.floors.kinds.get(kind, policy.floors.default)
            assert now.get(scope + kind, 0) >= min(was.get(scope + kind, 0), floor)
    assert night(after, policy)[1].is_empty()


@settings(deadline=None, max_examples=40)
@given(stores, policies)
def test_nothing_pinned_core_or_below_a_floor_is_lost_and_a_second_night_is_quiet(records, policy):
    check_a_night(records, policy)


@pytest.mark.slow
@settings(deadline=None, max_examples=10_000)
@given(stores, policies)
def test_ten_thousand_nights_lose_nothing_guarded(records, policy):
    check_a_night(records, policy)


@settings(deadline=None, max_examples=15)
@given(stores, policies)
def test_a_record_changes_its_tier_at_most_once_in_a_week_without_new_use(records, policy):
    changes = []
    for day in range(7):
        records, plan = night(records, policy, NOW + timedelta(days=day))
        changes.append(plan.filter(pl.col("tier").is_not_null()).select("id"))
    assert not pl.concat(changes)["id"].is_duplicated().any()


def test_a_retired_record_is_deleted_only_after_its_grace_time():
    records = from_rows([{"id": "a", "kind": "session", "created_at": NOW - timedelta(days=29)}])
    policy = from_table({"retention": {"windows": {"session": 30.0}, "grace_days": 30.0}})
    states = []
    for day in (0, 2, 20, 32, 33, 40):
        records, _ = night(records, policy, NOW + timedelta(days=day))
        states.append(records["superseded_by"].to_list())
    assert states == [[None], [TOMBSTONE], [TOMBSTONE], [TOMBSTONE], [], []]


def test_floors_hold_in_the_night_that_retires():
    records = from_rows(
        [
            {"id": f"{n}", "kind": "fact", "created_at": NOW - timedelta(days=100 + n)}
            for n in range(8)
        ]
    )
    after, plan = night(records, from_table({"retention": {"windows": {"fact": 30.0}}}))
    assert plan["id"].to_list() == ["5", "6", "7"]  # the oldest go first
    assert after.filter(LIVE).height == 5


def test_a_window_of_nought_days_is_refused():
    policy = from_table({"retention": {"windows": {"note": 0.0}}})
    with pytest.raises(MemopsError, match=r"retention.windows.note must be above nought"):
        retire_old(from_rows([]), Context(now=NOW, policy=policy))


def test_every_tier_change_can_be_computed_again_from_its_reason():
    records = from_rows(
        [
            {"id": "a", "kind": "fact", "text": "x", "importance": 0.9, "access_count": 7},
            {"id": "b", "kind": "fact", "importance": 0.1, "created_at": NOW - timedelta(days=900)},
            {"id": "c", "importance": 0.6, "created_at": NOW - timedelta(days=61)},
        ]
    )
    _, plan = night(records, Policy())
    assert plan.sort("id").select("id", "tier", "reason").rows() == [
        ("a", "core", "used 7 times, importance 0.9"),
        ("b", "peripheral", "relevance 0.03, under 0.15"),
        ("c", "peripheral", "61 days old, used 0 times"),
    ]
