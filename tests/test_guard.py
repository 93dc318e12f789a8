from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops import guard
from memops.guard import protect
from memops.limits import excess
from memops.plan import delete, edit, outcome, put, squash
from memops.policy import Limits, Policy
from memops.policy.hygiene import Floors
from memops.reasons import sentence, sentences
from memops.schema import LIVE, QUARANTINE, TOMBSTONE, from_rows, live_counts, only
from tests.counts import few

from .strategies import IDS, plans, records

named = st.lists(st.sampled_from(IDS), unique=True)
NO_FLOORS = Policy(floors=Floors(default=0, kinds={}))


def at(day):
    return datetime(2026, 1, day, tzinfo=UTC)


def refusals(step, rows, policy=NO_FLOORS):
    allowed, refused = protect(step, rows, policy)
    assert allowed.height + refused.height == step.height
    return dict(refused.select("id", sentences(refused)).iter_rows())


def one(**fields):
    return from_rows([{"id": "a", "kind": "fact", "text": "用户对青霉素过敏", **fields}])


@pytest.mark.parametrize("fields", [{"pinned": True}, {"tier": "core"}])
def test_protected_records_are_not_deleted_retired_or_demoted(fields):
    rows = one(**fields)
    assert "never deleted" in refusals(delete(rows, "x"), rows)["a"]
    assert (
        "never retired"
        in refusals(edit(rows, "tombstone", "x", superseded_by=TOMBSTONE), rows)["a"]
    )
    assert "only redacted" in refusals(edit(rows, "update", "x", text="gone"), rows)["a"]
    whole = put(rows.with_columns(text=pl.lit("")), "x")
    assert "only redacted" in refusals(whole, rows)["a"]


def test_a_pinned_record_is_not_unpinned():
    pinned = one(pinned=True)
    assert "never unpinned" in refusals(edit(pinned, "update", "x", pinned=False), pinned)["a"]


def waits(step, rows, **how):
    """The reason's code for which each change waits for a person; refused is none of them."""
    allowed, refused = protect(step, rows, NO_FLOORS, **how)
    assert refused.is_empty()
    held = allowed.filter(~pl.col("unattended"))
    return {id: text.split(" ")[0] for id, text in held.select("id", "waits").iter_rows()}


def sides(older, newer, **fields):
    """A record and one that would take its place, of these sources."""
    rows = [{"id": "a", "source": older, **fields}, {"id": "b", "source": newer}]
    return from_rows([row | {"text": row["id"]} for row in rows])


SOURCES = ["user", "agent", "extractor", "channel", "tool", "somebody", None]
LEVELS = [3, 3, 2, 1, 0, None, None]


@pytest.mark.parametrize("intent", ["supersede", "merge"])
@pytest.mark.parametrize("newer", range(7))
@pytest.mark.parametrize("older", range(7))
def test_nothing_takes_the_place_of_what_is_trusted_more(older, newer, intent):
    rows = sides(SOURCES[older], SOURCES[newer])
    step = edit(rows[:1], intent, "x", superseded_by="b", risk="low")
    was, now = LEVELS[older], LEVELS[newer]
    unsure = (-1 if now is None else now) < (3 if was is None else was)
    why = "guard.unsigned" if SOURCES[newer] is None else "guard.source"
    assert waits(step, rows) == ({"a": why} if unsure else {})
    owned = (3 if now is None else now) < (3 if was is None else was)
    assert waits(step, rows, unsigned=True) == ({"a": "guard.source"} if owned else {})


@pytest.mark.parametrize("fields", [{"pinned": True}, {"tier": "core"}])
def test_a_core_or_pinned_record_gives_way_to_the_owners_or_the_agents_own_word_only(fields):
    for newer in ("user", "agent"):
        rows = sides("channel", newer, **fields)
        if "pinned" in fields:
            rows = rows.with_columns(pinned=pl.lit(True))
        step = edit(rows[:1], "supersede", "x", superseded_by="b")
        assert waits(step.with_columns(risk=pl.lit("low")), rows) == {}
        assert waits(step.with_columns(risk=pl.lit("medium")), rows) == {"a": "guard.unsure"}
    for newer in ("channel", "extractor", None):
        rows = sides("channel", newer, **fields)
        step = edit(rows[:1], "supersede", "x", superseded_by="b", risk="low")
        assert waits(step, rows)["a"] in ("guard.own_word", "guard.source", "guard.unsigned")


def test_a_pinned_record_gives_way_to_a_pinned_one():
    rows = sides("user", "user", pinned=True)
    step = edit(rows[:1], "supersede", "x", superseded_by="b", risk="low")
    assert waits(step, rows) == {"a": "guard.pinned_replaced"}


def test_what_says_the_same_in_the_same_words_may_take_its_place_whoever_wrote_it():
    rows = sides("user", None, tier="core").with_columns(text=pl.lit("The same."))
    rows = rows.with_columns(tier=pl.lit("core"))
    assert waits(edit(rows[:1], "merge", "x", superseded_by="b", risk="high"), rows) == {}


@few(20)
@given(records(), plans(), named, named)
def test_what_is_passed_over_unjudged_would_have_been_allowed(rows, step, model, evidence):
    policy = Policy(floors=Floors(default=2))
    tags = pl.when(pl.col("id").is_in(model)).then(pl.lit(["model"])).otherwise("tags")
    rows = rows.with_columns(tags=tags)
    step = step.with_columns(evidence=pl.lit(evidence, pl.List(pl.String)))
    usual = protect(step, rows, policy)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(guard, "_weighs", lambda: pl.lit(True))
        judged = protect(step, rows, policy)
    assert all(one.equals(other) for one, other in zip(usual, judged, strict=True))
    counts, some = live_counts(rows), only(rows, guard.looked_at(step))
    given = protect(step, rows, policy, counts), protect(step, some, policy, counts)
    assert all(one.equals(other) for one, other in zip(*given, strict=True))


def test_the_guard_looks_at_keepers_and_at_what_a_change_rests_on():
    rows = from_rows([{"id": i, "tags": ["model"]} for i in "abcd"])
    newer = edit(rows[:1], "supersede", "x", superseded_by="b").with_columns(risk=pl.lit("low"))
    resting = edit(rows[2:3], "update", "x", importance=0.1).with_columns(evidence=pl.lit(["d"]))
    step = pl.concat([newer, resting])
    assert guard.looked_at(step) == {*"abcd"}
    for without in "abcd":
        said = protect(step, rows.filter(pl.col("id") != without), NO_FLOORS, live_counts(rows))
        assert said[1].height == (without in "bc")
    assert guard.looked_at(edit(rows, "update", "x", importance=0.1)) == frozenset()


def test_anything_may_be_quarantined():
    rows = one(pinned=True, tier="core")
    assert refusals(edit(rows, "quarantine", "x", superseded_by=QUARANTINE), rows) == {}


def test_a_record_is_only_merged_into_a_live_keeper_of_its_tier_and_scope():
    rows = from_rows(
        [
            {"id": "a", "tier": "core"},
            {"id": "b", "tier": "working"},
            {"id": "c", "tier": "core", "superseded_by": TOMBSTONE},
            {"id": "d", "tier": "core", "scope": "other"},
            {"id": "e", "tier": "core"},
        ]
    )
    a = rows.head(1)

    def merge(keeper):
        return edit(a, "merge", "x", superseded_by=keeper)

    assert "lower tier" in refusals(merge("b"), rows)["a"]
    assert "never retired" in refusals(merge("c"), rows)["a"]
    assert "not there" in refusals(merge("nobody"), rows)["a"]
    assert "another scope" in refusals(merge("d"), rows)["a"]
    assert refusals(merge("e"), rows) == {}


def test_a_chain_that_ends_in_a_live_record_is_no_loss():
    rows = from_rows([{"id": i, "kind": "entity"} for i in "abc"])
    step = pl.concat(
        [
            edit(rows[0], "supersede", "x", superseded_by="b"),
            edit(rows[1], "supersede", "x", superseded_by="c"),
        ]
    ).with_columns(risk=pl.lit("low"))
    assert refusals(step, rows, Policy()) == {}


def test_a_keeper_that_sinks_in_the_same_plan_may_keep_what_stood_as_high():
    rows = from_rows([{"id": i} for i in "ab"])
    step = [
        edit(rows[0], "merge", "x", superseded_by="b"),
        edit(rows[1], "demote", "x", tier="peripheral"),
    ]
    assert refusals(pl.concat(step), rows) == {}


def test_a_record_that_sinks_in_the_same_plan_may_be_merged_into_what_stands_as_low():
    rows = from_rows([{"id": "a"}, {"id": "b", "tier": "peripheral"}])
    sunk = edit(rows[0], "demote", "x", tier="peripheral")
    merged = edit(rows[0], "merge", "x", superseded_by="b")
    assert refusals(squash(pl.concat([sunk, merged])), rows) == {}
    assert "lower tier" in refusals(merged, rows)["a"]
    gone = edit(rows[1], "tombstone", "x", superseded_by=TOMBSTONE)
    assert refusals(squash(pl.concat([sunk, merged, gone])), rows) == {}


def test_going_with_a_keeper_that_goes_is_a_loss_that_floors_count():
    rows = from_rows([{"id": i, "kind": "fact", "created_at": at(1)} for i in "abc"])
    step = pl.concat(
        [
            edit(rows[0], "supersede", "x", superseded_by="b"),
            edit(rows[1], "tombstone", "x", superseded_by=TOMBSTONE),
        ]
    )
    assert refusals(step, rows) == {}
    policy = Policy(floors=Floors(default=2, kinds={}))
    assert refusals(step, rows, policy) == {"b": "the floor of 2 live fact records"}


def test_a_cycle_is_refused():
    rows = from_rows([{"id": i} for i in "ab"])
    step = pl.concat(
        [
            edit(rows[0], "supersede", "x", superseded_by="b"),
            edit(rows[1], "supersede", "x", superseded_by="a"),
        ]
    ).with_columns(risk=pl.lit("low"))
    assert set(refusals(step, rows)) == {"a", "b"}


def test_the_oldest_go_first_down_to_the_floor_and_an_unknown_time_is_not_old():
    days = [3, 1, 4, None, 2]
    rows = from_rows(
        [
            {"id": f"r{i}", "kind": "fact", "created_at": at(d) if d else None}
            for i, d in enumerate(days)
        ]
    )
    policy = Policy(floors=Floors(default=2, kinds={}))
    allowed, refused = protect(delete(rows, "x"), rows, policy)
    assert sorted(allowed["id"]) == ["r0", "r1", "r4"]
    assert set(sentences(refused)) == {"the floor of 2 live fact records"}


def test_moving_records_to_another_scope_loses_none_of_them():
    rows = from_rows([{"id": f"r{i}", "kind": "fact", "scope": "main"} for i in range(4)])
    assert refusals(edit(rows, "update", "x", scope="agent:main"), rows, Policy()) == {}


def test_moving_records_to_another_kind_counts_as_losing_them():
    rows = from_rows([{"id": f"r{i}", "kind": "fact", "created_at": at(1 + i)} for i in range(4)])
    policy = Policy(floors=Floors(default=3, kinds={}))
    assert sorted(refusals(edit(rows, "update", "x", kind="note"), rows, policy)) == [
        "r1",
        "r2",
        "r3",
    ]


@few(30)
@given(records(min_size=3), plans(max_size=8))
def test_whatever_the_plan_protected_records_and_floors_stand(before, plan):
    policy = Policy(floors=Floors(default=2, kinds={}))
    after, replaced = before, pl.Series([], dtype=pl.String)
    for change in plan.iter_slices(1):
        allowed, _ = protect(change, after, policy)
        after = outcome(after, allowed)
        gave_way = after.filter(~LIVE & (pl.col("superseded_by") != TOMBSTONE))
        replaced = replaced.append(gave_way["id"])  # some are deleted later, their keepers stay
    kept = before.join(after, on="id", how="left", suffix=":after")
    guarded = kept.filter(LIVE & (pl.col("pinned") | (pl.col("tier") == "core")))
    assert guarded["text:after"].null_count() == 0
    assert guarded.filter(pl.col("superseded_by:after") == TOMBSTONE).is_empty()
    assert guarded.filter(pl.col("pinned") & ~pl.col("pinned:after")).is_empty()
    group = ["scope", "kind"]
    was = before.filter(LIVE & ~pl.col("id").is_in(replaced.implode())).group_by(group).len("was")
    still = after.filter(LIVE).group_by(group).len("now")
    fewer = was.join(still, on=group, how="left").filter(
        pl.col("now").fill_null(0) < pl.min_horizontal("was", pl.lit(2))
    )
    moved_in = fewer.join(
        before.join(after, on="id", suffix=":after").filter(
            (pl.col("kind") != pl.col("kind:after")) | (pl.col("scope") != pl.col("scope:after"))
        ),
        on=group,
        how="anti",
    )
    assert moved_in.is_empty()


def test_the_blast_radius_is_said_and_alters_nothing():
    rows = from_rows([{"id": f"r{i:02}", "kind": "fact"} for i in range(40)])
    said = excess(edit(rows.head(11), "update", "x", importance=0.1), rows, Limits(records=10))
    assert [limit["reason"] for limit in said] == [
        "11 records would change; the limit is 10",
        "11 of 40 live fact records of scope 'default' would change; the limit is 10%",
    ]
    past = pl.DataFrame({"scope": ["default"], "kind": ["fact"], "touched": [30]})
    said += excess(
        edit(rows.head(11), "update", "x", importance=0.1), rows, Limits(records=10), past
    )
    in_chinese = [sentence(limit["code"], limit["args"], "zh") for limit in said]
    assert len(in_chinese) == 4 and all("上限" in text for text in in_chinese)
    assert excess(edit(rows.head(4), "update", "x", importance=0.1), rows, Limits()) == []


def test_without_a_count_no_record_of_the_group_is_lost():
    rows = one()
    policy = Policy(floors=Floors(default=1, kinds={}))
    none = pl.DataFrame(schema={"scope": pl.String, "kind": pl.String, "live": pl.Int64})
    allowed, refused = protect(delete(rows, "x"), rows, policy, none)
    assert allowed.is_empty() and refused["code"].to_list() == ["guard.floor"]


@pytest.mark.parametrize("rule", ["merge_newest", "fold_newest"])
@pytest.mark.parametrize("intent", ["merge", "move", "supersede"])
def test_calling_it_a_merge_does_not_let_a_core_record_give_way(rule, intent):
    rows = sides("user", "user", tier="core").with_columns(tier=pl.lit("core"))
    step = edit(rows[:1], intent, "x", superseded_by="b", risk="high")
    assert waits(step.with_columns(rule=pl.lit(rule)), rows) == {"a": "guard.unsure"}


def test_a_protected_record_is_merged_into_one_that_says_the_same_whatever_the_rule_is_called():
    rows = from_rows([{"id": i, "text": t, "pinned": True} for i, t in (("a", "Öl!"), ("b", "öl"))])
    step = edit(rows[0], "merge", "x", superseded_by="b", risk="high")
    assert waits(step.with_columns(rule=pl.lit("fold_newest")), rows) == {}


@pytest.mark.parametrize(
    ("intent", "fields"),
    [
        ("update", {"superseded_by": "b"}),
        ("merge", {"superseded_by": TOMBSTONE}),
        ("redact", {"superseded_by": QUARANTINE}),
        ("promote", {"tier": "peripheral"}),
        (None, {"superseded_by": "b"}),
    ],
)
def test_a_change_that_is_not_what_it_is_called_is_withdrawn(intent, fields):
    rows = from_rows([{"id": "a"}, {"id": "b"}])
    step = edit(rows[0], "update", "x", risk="low", **fields)
    step = step.with_columns(intent=pl.lit(intent, pl.String))
    assert "and does something else" in refusals(step, rows)["a"]


def test_a_redaction_that_changes_more_than_secrets_is_withdrawn():
    rows = from_rows([{"id": "a", "text": "the door is blue"}])
    step = edit(rows, "redact", "x", text="the door is red")
    assert "more than secrets" in refusals(step, rows)["a"]
    assert refusals(step.with_columns(intent=pl.lit("update")), rows) == {}


def test_of_several_changes_the_gravest_says_what_they_are():
    rows = from_rows([{"id": "a"}])
    sunk = edit(rows, "demote", "first", tier="peripheral")
    gone = edit(rows, "tombstone", "second", superseded_by=TOMBSTONE)
    told = edit(rows, "update", "third", access_count=2)
    whole = squash(pl.concat([sunk, gone, told]))
    assert whole.select("intent", "code").row(0) == ("tombstone", "second")
    assert refusals(whole, rows) == {}
    kept = pl.concat([rows, from_rows([{"id": "b"}])])
    whole = squash(pl.concat([sunk, edit(rows, "promote", "lasts", superseded_by="b"), told]))
    assert whole.select("intent", "code").row(0) == ("promote", "lasts")
    assert refusals(whole, kept) == {}
