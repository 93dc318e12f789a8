"""Confirmations: how often somebody else, or somebody again another day, said what a record says.

Counted in the store each time they are needed, never read from a field that whoever writes a
record could fill. What was merged into a record, or stepped back behind one that says the same,
still counts for it until it is deleted.
"""

import polars as pl

from memops.conflicts import groups, judged
from memops.context import Context
from memops.plan import successors
from memops.schema import RETIRED
from memops.similarity import statements
from memops.trust import voice


def confirmed(ids: pl.Series, records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return (id, confirmed): the voices beside its own that say what each of these records says.

    Looked at are the given records themselves and what stepped back behind them; what is
    quarantined or retired says nothing.
    A person has one voice a session, or a day where the store knows no sessions; all that machines
    and channels say is one voice together, and confirms nothing by itself.
    """
    links = successors(records).filter(pl.col("end").is_in(ids.unique().implode()))
    mine = pl.concat([ids.rename("id"), links["id"]]).unique()
    standing = ~pl.col("superseded_by").is_in(RETIRED).fill_null(False)
    said = alike(records.filter(pl.col("id").is_in(mine.implode()) & standing), ctx)
    voices = said.with_columns(voice=voice()).group_by("group").agg(
        confirmed=(pl.col("voice").drop_nulls().n_unique() + pl.col("voice").is_null().any() - 1)
    )  # fmt: skip
    counted = said.join(voices, on="group").select("id", pl.col("confirmed").cast(pl.UInt32))
    return counted.filter(pl.col("id").is_in(ids.implode())).sort("id")


def alike(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return records, hidden ones too, with the `group` of those that say the same."""
    shown = records.with_columns(superseded_by=pl.lit(None, pl.String))
    same = judged(shown, ctx).filter(pl.col("same"))
    said = statements(shown, ctx)
    of = groups(same, said.table.height)
    return records.join(said.members.join(of, on="statement").select("id", "group"), on="id")
