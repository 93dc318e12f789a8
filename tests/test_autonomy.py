"""Autonomy: the lines that may happen unattended are a plan by themselves."""

import polars as pl

from memops.autonomy import settled
from memops.plan import delete, edit, put
from memops.schema import TOMBSTONE, from_rows

ROWS = from_rows([{"id": i, "text": i} for i in "abc"])


def row(id):
    return ROWS.filter(pl.col("id") == id)


def may(*changes, waits=()):
    """Whether each change may happen, where those at some places wait for a person."""
    plan = pl.concat(changes).with_columns(rule=pl.lit("r"))
    held = pl.int_range(pl.len()).is_in(list(waits))
    plan = plan.with_columns(
        unattended=pl.when(held).then(False), waits=pl.when(held).then(pl.lit("x"))
    )
    return settled(plan, ROWS)["unattended"].to_list()


def test_without_anything_that_waits_all_of_it_may_happen():
    assert may(edit(row("a"), "demote", "x", tier="peripheral"), delete(row("b"), "x")) == [
        True,
        True,
    ]


def test_a_keeper_gains_nothing_from_a_record_that_waits():
    merge = edit(row("a"), "merge", "x", superseded_by="b", evidence=["b"])
    gain = edit(row("b"), "update", "x", access_count=3, evidence=["a"])
    other = edit(row("c"), "update", "x", importance=0.9, evidence=["c"])
    assert may(merge, gain, other, waits=[0]) == [False, False, True]


def test_nothing_stands_on_a_record_that_is_not_there_yet():
    made = put(from_rows([{"id": "n", "text": "new"}]), "x")
    behind = edit(row("a"), "tombstone", "x", superseded_by="n")
    more = edit(from_rows([{"id": "n"}]), "update", "x", importance=0.9)
    assert may(made, behind, more, waits=[0]) == [False, False, False]


def test_a_later_change_of_the_same_column_waits_and_one_of_another_does_not():
    hidden = edit(row("a"), "supersede", "x", superseded_by="b")
    linked = edit(row("a"), "supersede", "x", superseded_by="c")
    masked = edit(row("a"), "redact", "x", text="***")
    shown = edit(row("a"), "update", "x", clears=["superseded_by"])
    assert may(hidden, masked, linked, waits=[0]) == [False, True, False]
    assert may(masked, hidden, shown, waits=[1]) == [True, False, False]
    assert may(hidden, masked, waits=[1]) == [True, False]
    gone = edit(row("a"), "tombstone", "x", superseded_by=TOMBSTONE)
    assert may(masked, delete(row("a"), "x"), gone, waits=[0]) == [False, False, True]
