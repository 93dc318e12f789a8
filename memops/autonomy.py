"""Autonomy: which changes of a plan may happen without a person, and which wait for one.

What waits takes along what would make no sense without it: what a keeper gains from a record that
does not step back yet, whatever stands on a record that is not there yet, and what a later rule set
anew on the same record. So the lines that may happen unattended are a plan by themselves.
"""

import polars as pl

from memops.plan import DELETES, FIELDS
from memops.refusals import hanging

_HANGS = "guard.hangs"


def settled(plan: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Return a plan of which each change says whether it may happen unattended."""
    may = plan["unattended"].fill_null(True)
    if may.all():
        return plan.with_columns(unattended=may)
    held = (~may).arg_true()
    while True:
        more = hanging(plan, records, pl.concat([held, _later(plan, held)]))
        if more.len() == held.len():
            break
        held = more
    waits = pl.int_range(pl.len(), dtype=pl.UInt32).is_in(held.implode())
    return plan.with_columns(
        unattended=~waits, waits=pl.when(waits).then(pl.coalesce("waits", pl.lit(_HANGS)))
    )


def _later(plan: pl.DataFrame, held: pl.Series) -> pl.Series:
    """Positions of changes that set what a change which waits sets before them, or delete its record."""
    rows = plan.with_row_index("nth")
    sets = [pl.col("nth"), pl.col("id"), DELETES.alias("gone")]
    sets += [
        (pl.col(name).is_not_null() | pl.col("clears").list.contains(name).fill_null(False)).alias(
            name
        )
        for name in FIELDS
    ]
    table = rows.join(rows[held].select("id").unique(), on="id", how="semi").select(sets)
    waiting = pl.col("nth").is_in(held.implode())
    before = [
        (pl.col(name) & waiting).cast(pl.Int8).cum_max().over("id", order_by="nth").cast(pl.Boolean)
        & pl.col(name)
        for name in FIELDS
    ]
    gone = pl.col("gone") & waiting.cum_max().over("id", order_by="nth")
    return table.filter(pl.any_horizontal(*before, gone))["nth"]
