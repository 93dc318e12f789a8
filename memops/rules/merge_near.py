"""Records that say the same thing in other words, or in another language."""

import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import statements
from memops.judge.conflicts import groups, judged
from memops.judge.decision import DUPLICATE
from memops.judge.merge import counted, merged
from memops.judge.places import one_a_block
from memops.plan import nothing

_PASSING = ("session", "summary")


def merge_near(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Keep one of the records of a scope that say the same of the same thing.

    Every number, date, name, owner, circumstance, negation and quantifier must agree, however
    alike the words are; the reading of each is in `memops.judge.judgement.same`. A merge that
    takes a model's word has a reason of its own; only by it is merged what faded.
    """
    pairs = judged(records, ctx)
    alike = pairs.filter(DUPLICATE)
    if alike.is_empty():
        return nothing()
    said = statements(records, ctx)
    group = groups(alike, said.table.height).filter(pl.len().over("group") > 1)
    asked = pl.col("effect") == "decided" if "effect" in alike.columns else pl.lit(False)
    told = alike.filter(asked)["a"]
    group = group.with_columns(told=pl.col("statement").is_in(told.implode()).any().over("group"))
    of = said.members.join(group, on="statement")
    live = counted(records).filter(ctx.at_rest()).join(of, on="id")
    members = live.filter(~passing() | (faded() & pl.col("told")))
    members = members.with_columns(fullness=pl.col("text").str.len_chars() // 40)
    members = one_a_block(members.sort("id"))
    code = pl.when("told").then(pl.lit("merge.judged")).otherwise(pl.lit("merge.near"))
    return merged(members.drop("statement"), code)


def passing() -> pl.Expr:
    """Return whether a record tells of a moment, or is a note that sank: it may lose to a statement alone."""
    return pl.col("kind").is_in(_PASSING) | faded()


def faded() -> pl.Expr:
    """Return whether a record is a note that sank."""
    return (pl.col("kind") == "note") & (pl.col("tier") == "peripheral")
