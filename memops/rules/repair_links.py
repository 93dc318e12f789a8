"""Records that stepped back behind one that does not stand either."""

import numpy as np
import polars as pl

from memops.context import Context
from memops.judge.places import placed
from memops.ordered import connected
from memops.plan import edit, successors
from memops.schema import LIVE, RETIRED


def repair_links(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Let each record that stepped back stand behind the one that stands in the end.

    In a row a link to a record that stepped back too is moved to the end of the chain, since its
    agent reads no further; in documents, which nobody reads by links, it stays. Of records that
    supersede one another in a ring the newest stands again. A record whose successor a person
    purged stands again; one whose successor is gone otherwise, as where its agent forgot it, stays
    hidden, since nothing says what holds now.
    """
    ends = successors(records)
    stands = records.filter(LIVE).select(end="id", _scope="scope")
    late = (
        records.filter(ctx.at_rest(), ~placed())
        .join(ends, on="id", how="inner")
        .filter(pl.col("end") != pl.col("superseded_by"))
        .join(stands, on="end", how="inner")
        .filter(pl.col("scope") == pl.col("_scope"))
    )
    ringed = _rings(records, ends).filter(ctx.at_rest())
    newest = ringed.filter(pl.col("id") == pl.col("first"))
    rest = ringed.filter(
        (pl.col("id") != pl.col("first")) & (pl.col("superseded_by") != pl.col("first"))
    )
    left = records.filter(ctx.at_rest(), pl.col("superseded_by").is_in(sorted(ctx.purged)))
    return pl.concat(
        [
            edit(
                left, "update", "link.purged",
                clears=["superseded_by", "valid_to", "expires_at"], evidence=pl.concat_list("id"),
                risk="medium",
            ),
            edit(
                late, "supersede", "link.chain",
                superseded_by=pl.col("end"), evidence=pl.concat_list("superseded_by", "end"), risk="low",
            ),
            edit(
                newest, "update", "link.ring_newest",
                clears=["superseded_by", "valid_to"], evidence=pl.col("ring"), risk="medium",
            ),
            edit(
                rest, "supersede", "link.ring",
                superseded_by=pl.col("first"), evidence=pl.concat_list("first"), risk="medium",
            ),
        ]
    ).sort("id")  # fmt: skip


def _rings(records: pl.DataFrame, ends: pl.DataFrame) -> pl.DataFrame:
    """Records whose links never come to an end, with the newest (`first`) and all of the ring.

    Whatever leads into a ring belongs to it; a ring over several scopes is left alone.
    """
    held = records.select(end="id", _next="superseded_by")
    endless = ends.join(held, on="end").filter(
        pl.col("_next").is_not_null() & ~pl.col("_next").is_in([*RETIRED])
    )
    rows = records.join(endless.select("id"), on="id", how="semi")
    rows = rows.filter(pl.col("superseded_by").is_in(rows["id"].implode()))
    if rows.is_empty():
        return rows.with_columns(first=pl.lit(None, pl.String), ring=pl.lit([], pl.List(pl.String)))
    told = rows.with_columns(_ring=_labels(rows)).sort(
        pl.coalesce("valid_from", "created_at"), "id", descending=[True, False], nulls_last=True
    )
    one = pl.col("scope").n_unique().over("_ring") == 1
    first, ring = (
        pl.col("id").first().over("_ring"),
        pl.col("id").sort().over("_ring", mapping_strategy="join"),
    )
    return told.filter(one).with_columns(first=first, ring=ring).drop("_ring")


def _labels(rows: pl.DataFrame) -> pl.Series:
    """Which connected group of links each record belongs to."""
    place = dict(zip(rows["id"], range(rows.height), strict=True))
    to = np.array([place[link] for link in rows["superseded_by"]])
    return pl.Series("_ring", connected(np.arange(rows.height), to, rows.height))
