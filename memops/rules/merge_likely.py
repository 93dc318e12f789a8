"""Records that probably say the same thing."""

import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import statements
from memops.judge.conflicts import groups, judged
from memops.judge.merge import counted, merged
from memops.plan import nothing
from memops.rules.merge_near import passing


def merge_likely(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Keep the fullest of rows of which fitted weights find it probable that any two say the same.

    Of rows that stand by themselves, where the rules see nothing; a model, if one is named, is asked instead.
    """
    if ctx.models.judge is not None:
        return nothing()
    alike = judged(records, ctx).filter("likely_same")
    if alike.is_empty():
        return nothing()
    said = statements(records, ctx)
    group = agreed(groups(alike, said.table.height), alike)
    members = counted(records).filter(ctx.at_rest()).join(
        said.members.join(group, on="statement"), on="id"
    )  # fmt: skip
    led = pl.col("id").is_in(records["superseded_by"].drop_nulls().implode())
    free = members.filter(~passing() & ~led).with_columns(fullness=pl.col("text").str.len_chars())
    return merged(free.sort("id").drop("statement"), "merge.likely")


def agreed(group: pl.DataFrame, alike: pl.DataFrame) -> pl.DataFrame:
    """Return groups of which any two say the same: what is like two things that differ is like neither."""
    of = group.select(pl.col("group"), a=pl.col("statement").cast(alike.schema["a"]))
    edges = alike.select("a").join(of, on="a").group_by("group").len("edges")
    n = pl.len().over("group")
    whole = group.join(edges, on="group", maintain_order="left")
    return whole.filter(pl.col("edges") == n * (n - 1) // 2).drop("edges")
