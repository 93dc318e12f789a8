"""Laws of the hygiene rules: floors, quiet second nights, one tier change a week, long runs.

Stores are drawn many at a time, one a scope, from a seed: 13 draws of 40 stores are 520 of them.
"""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memops import rules
from memops.context import Context
from memops.hygiene.decay import relevance, shown
from memops.hygiene.tasks import is_task
from memops.plan import outcome
from memops.policy import Budgets, Policy, from_table
from memops.reasons import sentences
from memops.rules import HYGIENE, propose
from memops.rules.consolidate_daily import consolidate_daily
from memops.rules.move_overflow import move_overflow
from memops.schema import KINDS, LIVE, TIERS, TOMBSTONE, from_rows
from tests.counts import few

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TEXTS = [
    "The gateway listens on port 9191",
    "用户喜欢浅色主题",
    "用户对花生过敏",
    "TODO: sort the cabinets by 2026-03-01",
    "待办：收拾书房",
    "Done: the cabinets are sorted.",
    "Where does the user live?",
]


def drawn(seed, stores=20, rows=12):
    """Records of many stores, one a scope, with everything that the rules look at."""
    draw = random.Random(seed)
    moment = lambda: draw.choice([None, NOW + timedelta(days=draw.randint(-2000, 400))])
    ids = [f"{n:05}" for n in range(stores * rows)]
    return from_rows(
        [
            {
                "id": id_,
                "scope": f"s{n % stores:02}",
                "kind": draw.choice(KINDS),
                "text": draw.choice(TEXTS),
                "tier": draw.choice(TIERS),
                "importance": draw.choice([0.0, 0.1, 0.4, 0.65, 0.8, 1.0]),
                "confidence": draw.choice([None, 0.2, 0.9]),
                "pinned": draw.random() < 0.2,
                "access_count": draw.choice([0, 0, 1, 3, 6, 20]),
                "source": draw.choice([None, "user", "system"]),
                "created_at": moment(),
                "updated_at": moment(),
                "accessed_at": moment(),
                "expires_at": draw.choice([None, moment()]),
                "valid_to": moment(),
                "superseded_by": draw.choice([None, None, None, TOMBSTONE, draw.choice(ids)]),
            }
            for n, id_ in enumerate(ids)
        ]
    )


seeds = st.integers(0, 2**32 - 1)
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
    # Tasks have an end of their own, so no floor keeps them: those that went do not count.
    ended = records.filter(LIVE & is_task()).join(kept, on="id", how="anti")
    groups, was, now = (
        ["scope", "kind"],
        records.filter(LIVE).join(ended, on="id", how="anti"),
        kept,
    )
    floor = pl.col("kind").replace_strict(
        policy.floors.kinds, default=policy.floors.default, return_dtype=pl.Int64
    )
    low = (
        was.group_by(groups).len("was").join(now.group_by(groups).len("now"), on=groups, how="left")
    )
    least = pl.min_horizontal(pl.col("was").cast(pl.Int64), floor)
    assert low.filter(pl.col("now").fill_null(0) < least).is_empty()
    assert night(after, policy)[1].is_empty()


@few(5, many=250)
@given(seeds, policies)
@example(
    321, from_table({"floors": {"default": 1}, "decay": {"model": "clawseed"}})
)  # an open task
def test_nothing_pinned_core_or_below_a_floor_is_lost_and_a_second_night_is_quiet(seed, policy):
    check_a_night(drawn(seed, stores=40), policy)


@pytest.mark.parametrize("seed", range(4))
def test_a_rule_that_looks_again_at_what_changed_decides_as_if_it_looked_at_all(seed, monkeypatch):
    records, policy = drawn(seed, stores=40), from_table({"retention": {"grace_days": 1.0}})
    for day in (0, 3, 40):
        ctx = Context(now=NOW + timedelta(days=day), policy=policy)
        quick = propose(records, ctx, HYGIENE)
        with monkeypatch.context() as patch:
            patch.setattr(rules._Course, "since", lambda course, rule: None)
            whole = propose(records, replace(ctx, cache={}), HYGIENE)
        assert all(a.equals(b) for a, b in zip(quick, whole, strict=True))
        records = outcome(records, quick[0])


def test_what_a_deletion_takes_the_ground_from_is_looked_at_again_in_the_same_night():
    said = lambda days: NOW - timedelta(days=days)
    records = from_rows(
        [
            {"id": "a", "kind": "preference", "text": "喜欢浅色主题", "created_at": said(400)},
            {
                "id": "b",
                "kind": "preference",
                "text": "用户喜欢浅色主题",
                "created_at": said(100),
                "superseded_by": "a",
                "expires_at": said(1),
            },
        ]
    )
    _, plan = night(records, Policy())
    assert plan.select("rule", "id").rows() == [
        ("delete_superseded", "b"),
        ("doubt_unconfirmed", "a"),
    ]


def check_a_week(records, policy):
    changes = []
    for day in range(7):
        records, plan = night(records, policy, NOW + timedelta(days=day))
        changes.append(plan.filter(pl.col("tier").is_not_null()).select("id"))
    assert not pl.concat(changes)["id"].is_duplicated().any()


@few(3, many=100)
@given(seeds, policies)
def test_a_record_changes_its_tier_at_most_once_in_a_week_without_new_use(seed, policy):
    check_a_week(drawn(seed, stores=100), policy)


def check_years(seed, step):
    """Two years in which nobody deletes: what goes is what a window names, down to its floor."""
    records = drawn(seed, stores=12, rows=60).filter(pl.col("superseded_by").is_null())
    records = records.filter(~is_task()).with_columns(
        expires_at=pl.lit(None, records["expires_at"].dtype)
    )
    policy = from_table({"retention": {"windows": {"session": 180.0, "fact": 900.0}}})
    after = records
    for day in range(0, 731, step):
        after, _ = night(after, policy, NOW + timedelta(days=day))
    end, lost = NOW + timedelta(days=day), 0
    for group in records.partition_by("scope", "kind"):
        kind = group["kind"][0]
        floor = policy.floors.kinds.get(kind, policy.floors.default)
        window = policy.retention.windows.get(kind)
        loose = [
            row
            for row in group.to_dicts()
            if window
            and not row["pinned"]
            and row["tier"] != "core"
            and not (row["access_count"] >= 5 and row["importance"] >= 0.8 and kind == "fact")
            and (kind == "session" or "过敏" not in row["text"])
            and (times := [row[n] for n in ("created_at", "updated_at", "accessed_at") if row[n]])
            and (end - max(times)).total_seconds() > window * 86_400
        ]
        lost += (gone := max(0, min(len(loose), group.height - floor)))
        stays = after.filter(LIVE, pl.col("scope") == group["scope"][0], pl.col("kind") == kind)
        assert stays.height == group.height - gone, (kind, group.height, len(loose), floor)
    assert lost > 10, lost
    guarded = records.filter(pl.col("pinned") | (pl.col("tier") == "core"))
    assert guarded.join(after.filter(LIVE), on="id", how="anti").is_empty()


def test_in_two_years_of_weeks_only_what_the_policy_names_is_lost():
    check_years(7, step=73)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_in_730_nights_only_what_the_policy_names_is_lost(seed):
    check_years(seed, step=1)


def test_every_change_follows_again_from_its_evidence_alone():
    records, seen = drawn(11, stores=30), set()
    for rule in HYGIENE:
        plan = rule(records, Context(now=NOW, policy=Policy()))
        for change in plan.sample(min(12, plan.height), seed=3).to_dicts():
            cited = [change["id"], *change["evidence"]]
            alone = records.filter(pl.col("id").is_in(cited))
            again = rule(alone, Context(now=NOW, policy=Policy())).filter(
                pl.col("id") == change["id"]
            )
            assert again.drop("evidence").to_dicts() == [
                {n: v for n, v in change.items() if n != "evidence"}
            ]
            seen.add(rule.__name__)
    files_only = {"consolidate_daily", move_overflow.__name__}
    assert seen == {rule.__name__ for rule in HYGIENE} - files_only


def entries(path, texts, **fields):
    """Records as they are read from the lines of a Markdown file."""
    about = {"kind": "fact", "extra": '{"prefix": "- "}', "tier": "working"} | fields
    return [
        {"id": f"{path}:{n:012}:0", "text": text, "origin": f"{path}#{n + 1}"} | about
        for n, text in enumerate(texts)
    ]


def test_what_is_consolidated_follows_again_from_the_line_alone():
    lines = [
        "用户对青霉素过敏",
        "The gateway listens on port 9191",
        "好的，收到。",
        "ok, thanks",
    ] * 5
    records = from_rows(
        entries("memory/2025-08-01.md", [f"{text} " * (1 + n // 9) for n, text in enumerate(lines)])
        + entries("memory/2025-09-01.md", lines, kind="note")
        + entries("memory/2026-05-20.md", lines, kind="note")
    )
    policy = Policy(budgets=Budgets(daily_days=180))
    ctx = Context(now=NOW, store="openclaw", policy=policy)
    plan = consolidate_daily(records, ctx)
    assert {"put", "edit"} == set(plan["action"]) and TOMBSTONE in plan["superseded_by"]
    for change in plan.to_dicts():
        cited = [change["id"], *change["evidence"]]
        again = consolidate_daily(records.filter(pl.col("id").is_in(cited)), ctx)
        assert change in again.to_dicts()


def test_what_moves_out_of_a_memory_file_follows_again_from_its_reason():
    texts = [f"Shelf {n} holds {'blue ' * (n % 5)}boxes, 第{n}格放盒子" for n in range(60)]
    rows = entries("MEMORY.md", texts)
    for n, row in enumerate(rows):
        row |= {"created_at": NOW - timedelta(days=7 * n % 90), "access_count": n % 4}
    records, policy = from_rows(rows), from_table({"budgets": {"words": {"openclaw": 300}}})
    plan = move_overflow(records, Context(now=NOW, policy=policy, store="openclaw"))
    went = plan.filter(pl.col("action") == "edit").sort("id")
    score = records.select("id", score=shown(relevance(NOW, policy.decay)))
    words = (
        pl.col("text").str.count_matches(r"\p{Han}|[^\s\p{Han}]+").alias("words") + 1
    )  # the dash
    rows = went.join(records.select("id", words), on="id").join(score, on="id").to_dicts()
    names = ("total", "most", "spare", "before", "relevance")
    said = [tuple(json.loads(row["args"])[name] for name in names) for row in rows]
    order = sorted(zip(said, rows, strict=True), key=lambda pair: pair[0][3])
    assert len(order) > 10 and len({one[:3] for one in said}) == 1
    (total, most, spare), gone, least = said[0][:3], 0, 0.0
    assert spare == total - int(most * policy.budgets.room)
    for (*_, before, relevant), row in order:
        assert before == gone < spare and relevant == row["score"] >= least
        gone, least = gone + row["words"], relevant
    assert gone >= spare
    puts = plan.filter(pl.col("action") == "put")
    assert sorted(puts["evidence"].explode()) == went["id"].to_list()
    assert puts["args"].sort().to_list() == went["args"].sort().to_list()


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


def test_floors_and_windows_stand_by_kind_category_and_scope_and_the_narrowest_counts():
    native = {"a": '{"category": "daily"}', "b": '{"category": "日记"}', "c": "{}"}
    records = from_rows(
        [
            {
                "id": f"{scope}{name}{n}",
                "scope": scope,
                "kind": "fact" if n % 2 else "note",
                "extra": native[name],
                "created_at": NOW - timedelta(days=20 + n),
            }
            for scope in ("home", "work")
            for name in native
            for n in range(8)
        ]
    )
    policy = from_table(
        {
            "floors": {
                "kinds": {
                    "fact": 1,
                    "note": 0,
                    "work/fact": 3,
                    "category:日记": 5,
                    "work/category:日记": 7,
                }
            },
            "retention": {
                "windows": {"note": 10.0, "fact": 10.0, "category:daily": 24.5, "work/note": 90.0}
            },
        }
    )
    after, _ = night(records, policy)
    left = (
        after.filter(LIVE).group_by(pl.col("id").str.slice(0, 5), "kind").len().sort("id", "kind")
    )
    assert left.rows() == [
        ("homea", "fact", 2), ("homea", "note", 3), ("homeb", "fact", 2), ("homeb", "note", 3),
        ("worka", "fact", 2), ("worka", "note", 4), ("workb", "fact", 3), ("workb", "note", 4),
        ("workc", "fact", 1), ("workc", "note", 4),
    ]  # fmt: skip


def test_every_tier_change_can_be_computed_again_from_its_reason():
    records = from_rows(
        [
            {"id": "a", "kind": "fact", "text": "x", "importance": 0.9, "access_count": 7},
            {"id": "b", "kind": "fact", "importance": 0.1, "created_at": NOW - timedelta(days=900)},
            {"id": "c", "importance": 0.6, "created_at": NOW - timedelta(days=61)},
        ]
    )
    _, plan = night(records, Policy())
    plan = plan.sort("id")
    assert plan.select("id", "tier", sentences(plan)).rows() == [
        ("a", "core", "used 7 times, importance 0.9"),
        ("b", "peripheral", "relevance 0.03, under 0.15"),
        ("c", "peripheral", "61 days old, used 0 times"),
    ]
