from datetime import UTC, datetime

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from memops.plan import delete, diff, edit, meaning, nothing, outcome, put, squash
from memops.schema import QUARANTINE, RECORDS, TOMBSTONE, conform, from_rows
from tests.counts import few

from .strategies import plans, records

LAWS = few(30)
T = datetime(2026, 6, 1, tzinfo=UTC)
ONE = from_rows([{"id": "r0", "text": "User likes tea", "tier": "core", "valid_to": T}])


@LAWS
@given(records(), records())
def test_a_diff_carried_out_gives_the_other_table(a, b):
    assert outcome(a, diff(a, b)).equals(b)


@LAWS
@given(records())
def test_a_table_does_not_differ_from_itself(a):
    assert diff(a, a).is_empty()


@LAWS
@given(records(), plans(), plans())
@example(ONE, edit(ONE, "demote", "1", tier="working"), edit(ONE, "demote", "2", tier="peripheral"))
@example(
    ONE, edit(ONE, "demote", "1", tier="working"), edit(ONE, "update", "2", clears=["valid_to"])
)
@example(ONE, delete(ONE, "1"), edit(ONE, "demote", "2", tier="working"))
@example(ONE.clear(), edit(ONE, "demote", "1", tier="working"), put(ONE, "2"))
def test_plans_one_after_the_other_are_their_concatenation(r, p, q):
    assert outcome(outcome(r, p), q).equals(outcome(r, pl.concat([p, q])))


@LAWS
@given(records(), plans())
def test_a_squashed_plan_does_the_same_with_one_change_a_record(r, p):
    squashed = squash(p)
    assert squashed["id"].is_unique().all()
    assert outcome(r, squashed).equals(outcome(r, p))


@LAWS
@given(records(), plans())
def test_undo_is_the_diff_the_other_way(r, p):
    after = outcome(r, p)
    assert outcome(after, diff(after, r)).equals(r)


@LAWS
@given(records(), plans(), st.randoms())
def test_an_outcome_does_not_depend_on_the_order_of_records(r, p, random):
    order = list(range(r.height))
    random.shuffle(order)
    assert outcome(r[order], p).equals(outcome(r, p))


def test_the_last_edit_of_a_field_wins():
    plan = pl.concat(
        [
            edit(ONE, "demote", "first", tier="working"),
            edit(ONE, "demote", "then", tier="peripheral"),
        ]
    )
    assert outcome(ONE, plan)["tier"].to_list() == ["peripheral"]


def test_a_field_that_is_cleared_and_set_again_is_set():
    plan = pl.concat(
        [edit(ONE, "update", "clear", clears=["valid_to"]), edit(ONE, "update", "set", valid_to=T)]
    )
    assert outcome(ONE, plan)["valid_to"].to_list() == [T]
    assert outcome(ONE, plan[::-1])["valid_to"].to_list() == [None]


def test_supersession_can_be_taken_back():
    hidden = outcome(ONE, edit(ONE, "supersede", "old", superseded_by="r1"))
    shown = outcome(hidden, edit(hidden, "update", "was right", clears=["superseded_by"]))
    assert shown.equals(ONE)


def test_no_changes_are_no_changes():
    assert outcome(ONE, nothing()).equals(ONE)


def test_each_change_has_its_word_for_the_wire():
    new = from_rows([{"id": "n"}])
    plan = pl.concat(
        [
            put(new, "x"),
            put(ONE, "x"),
            delete(ONE, "x"),
            edit(ONE, "tombstone", "x", superseded_by=TOMBSTONE),
            edit(ONE, "quarantine", "x", superseded_by=QUARANTINE),
            edit(ONE, "supersede", "x", superseded_by="n"),
            edit(ONE, "merge", "x", superseded_by="n"),
            edit(ONE, "move", "x", superseded_by="n"),
            edit(ONE, "redact", "x", text="***"),
            edit(ONE, "demote", "x", tier="working"),
            edit(ONE, "update", "x", importance=0.1),
        ]
    )
    assert meaning(plan, ONE)["op"].to_list() == [
        "insert", "update", "tombstone", "tombstone", "quarantine", "supersede", "merge",
        "update", "redact", "demote", "update",
    ]  # fmt: skip
    lower = outcome(ONE, edit(ONE, "demote", "x", tier="peripheral"))
    assert meaning(edit(lower, "promote", "x", tier="core"), lower)["op"].to_list() == ["promote"]


def test_records_are_conformed_with_their_defaults():
    row = conform(pl.DataFrame({"id": ["a"], "text": ["你好"]})).row(0, named=True)
    assert (row["tier"], row["kind"], row["pinned"], row["tags"]) == ("working", "note", False, [])
    assert list(row) == RECORDS.names()
