"""Records that a fuller one says word for word."""

import polars as pl

from memops.context import Context
from memops.judge.containment import contained
from memops.judge.merge import COPIED, counted, into_fuller
from memops.judge.places import stating
from memops.plan import nothing
from memops.rules.merge_near import passing


def merge_contained(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Keep the fuller of two records of a scope, one of which stands whole in the other.

    Nothing of what steps back is lost: every sentence of it is a sentence of the keeper, or begins
    one. The keeper is of no lower tier, and pinned where the other is. What is brief, as many say
    it of many things, stays, and so does what stands in a document, where each place is read by itself.
    """
    fresh = pl.col("id").is_in(list(ctx.fresh))
    alone = stating() & pl.col("block").is_null() & ~passing() & ~fresh
    live = counted(records).filter(alone & (pl.col("text").str.len_bytes() >= COPIED))
    pairs = contained(live.select("id", "scope", "text"), ctx)
    if pairs.is_empty():
        return nothing()
    return into_fuller(pairs, live, "merge.contained")
