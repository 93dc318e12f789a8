"""Who said the same again: persons in other sessions count, machines that repeat themselves do not."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from memops.context import Context
from memops.judge.confirmations import confirmed
from memops.plan import outcome
from memops.policy import from_table
from memops.reasons import sentences
from memops.rules import RULES, propose
from memops.rules.promote_used import promote_used
from memops.schema import LIVE, from_rows

NOW = datetime(2026, 6, 1, tzinfo=UTC)
CTX = Context(now=NOW)
SAID = ["The user is allergic to penicillin", "用户对青霉素过敏"]
DENIED = ["The user is not allergic to penicillin", "用户对青霉素不过敏"]


def said(id_, text, days, source="user", **more):
    row = {"id": id_, "text": text, "kind": "fact", "source": source}
    return row | {"created_at": NOW - timedelta(days=days)} | more


def count(rows, id_):
    records = from_rows(rows)
    return confirmed(pl.Series("id", records["id"]), records, CTX).filter(id=id_)["confirmed"][0]


def night(rows, policy=None):
    records = from_rows(rows)
    ctx = Context(now=NOW, policy=from_table(policy or {}))
    plan, _ = propose(records, ctx, RULES)
    return plan, outcome(records, plan)


@pytest.mark.parametrize("text", SAID)
def test_a_person_confirms_once_a_session_or_a_day(text):
    one = said("a", text, 50)
    assert count([one], "a") == 0
    assert count([one, said("b", text + ".", 50), said("c", text, 50)], "a") == 0
    assert count([one, said("b", text + ".", 40), said("c", text, 30)], "a") == 2
    chats = [said(str(n), text, 50, extra=f'{{"session_id": "s{n % 2}"}}') for n in range(4)]
    assert count([*chats, one], "a") == 2


@pytest.mark.parametrize(
    "source", ["tool", "web", "system", "banner", "channel", "assistant", "model"]
)
def test_what_no_person_says_is_one_voice_however_often(source):
    flood = [said(f"f{n}", SAID[0], n, source) for n in range(1, 30)]
    assert count(flood, "f1") == 0
    assert count([*flood, said("a", SAID[0], 60)], "a") == 1


def test_what_stepped_back_behind_a_record_counts_if_it_says_the_same():
    rows = [
        said("a", SAID[0], 9),
        said("b", SAID[0] + "!", 30, superseded_by="a"),
        said("c", DENIED[0], 60, superseded_by="a"),
        said("d", SAID[0], 80, superseded_by="memops:quarantine"),
    ]
    assert count(rows, "a") == 1


@pytest.mark.parametrize("n", [0, 1])
def test_of_facts_of_one_time_the_one_that_is_confirmed_more_often_stands(n):
    often = [said(f"a{day}", SAID[n], day) for day in (1, 20, 40)]
    plan, after = night([*often, said("b", DENIED[n], 1)])
    assert plan.filter(id="b")["superseded_by"].to_list() == ["a1"]
    assert plan.filter(id="b")["code"].to_list() == ["conflict.confirmed"]
    once = [said("a", SAID[n], 1), said("b", DENIED[n], 1)]
    assert night(once)[1].filter(LIVE)["id"].to_list() == ["a", "b"]


@pytest.mark.parametrize("n", [0, 1])
def test_a_channel_does_not_overtake_what_a_person_said_more_often(n):
    person = [said(f"a{day}", SAID[n], day) for day in (20, 40)]
    flood = [said(f"x{day}", DENIED[n], day, "channel") for day in (1, 2, 3, 4)]
    after = night([*person, *flood])[1]
    assert after.filter(LIVE, pl.col("text") == SAID[n]).height == 1
    changed = [said("b", DENIED[n], 1)]
    assert night([*person, *changed])[1].filter(LIVE)["id"].to_list() == ["b"]


@pytest.mark.parametrize("n", [0, 1])
def test_a_rise_by_confirmations_follows_again_from_the_records_that_it_names(n):
    heavy = {"importance": 0.9}
    rows = [
        *(said(f"a{day:02}", SAID[n], day, **heavy) for day in range(1, 9)),
        said("b", SAID[n] + "!", 60, superseded_by="a01"),
        said("c", DENIED[n], 70, **heavy),
        said("d", "The gateway listens on port 9191", 3, **heavy),
        said("e", "The gateway listens on port 9191!", 5, superseded_by="d"),
        said("f", "the gateway listens on port 9191", 7, superseded_by="e"),
    ]
    records = from_rows(rows)
    plan = promote_used(records, CTX)
    assert plan["id"].to_list() == [*(f"a{day:02}" for day in range(1, 9)), "d"]
    assert plan["evidence"].list.len().unique().to_list() == [3]
    for change in plan.to_dicts():
        alone = records.filter(pl.col("id").is_in([change["id"], *change["evidence"]]))
        assert change in promote_used(alone, CTX).to_dicts()


@pytest.mark.parametrize("n", [0, 1])
def test_saying_it_again_in_other_sessions_lifts_what_matters_and_repeating_does_not(n):
    person = [said(f"a{day}", SAID[n], day, importance=0.9) for day in (1, 20, 40)]
    plan, after = night(person)
    lifted = plan.filter(rule="promote_used")
    assert sentences(lifted).to_list() == ["said in at least 2 other sessions, importance 0.9"]
    assert after.filter(LIVE)["tier"].to_list() == ["core"]
    for source in ("tool", "web", "channel"):
        flood = [said(f"x{day}", SAID[n], day, source, importance=1.0) for day in range(1, 9)]
        assert night(flood)[0].filter(rule="promote_used").is_empty()
        mixed = [*flood, said("a", SAID[n], 0.5, importance=0.9)]
        assert night(mixed)[0].filter(rule="promote_used").is_empty()
    light = [row | {"importance": 0.5} for row in person]
    assert night(light)[0].filter(rule="promote_used").is_empty()
    assert (
        night(person, {"tiers": {"promote_confirmed": 0}})[0].filter(rule="promote_used").is_empty()
    )
