"""Records that say the same thing in other words, or in another language."""

import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import Statements, statements
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
    alike = judged(records, ctx).filter(DUPLICATE)
    if alike.is_empty():
        return nothing()
    said = statements(records, ctx)
    live = counted(records).filter(ctx.at_rest())
    sure = _grouped(alike.filter(~pl.col("likely")), said)
    known = sure["statement"].implode()
    rest = alike.filter(pl.col("likely") & ~pl.col("a").is_in(known) & ~pl.col("b").is_in(known))
    likely = _agreed(_grouped(rest, said), rest)
    return pl.concat(_merged(group, said, live) for group in (sure, likely))


def _agreed(group: pl.DataFrame, alike: pl.DataFrame) -> pl.DataFrame:
    """Groups of which any two say the same: what is like two things that differ is like neither."""
    of = group.select(pl.col("group"), a=pl.col("statement").cast(alike.schema["a"]))
    edges = alike.select("a").join(of, on="a").group_by("group").len("edges")
    n = pl.len().over("group")
    whole = group.join(edges, on="group", maintain_order="left")
    return whole.filter(pl.col("edges") == n * (n - 1) // 2).drop("edges")


def _grouped(alike: pl.DataFrame, said: Statements) -> pl.DataFrame:
    """Statements that say the same, by group, and what is said of all of it: judged so, or likely."""
    group = groups(alike, said.table.height).filter(pl.len().over("group") > 1)
    asked = pl.col("effect") == "decided" if "effect" in alike.columns else pl.lit(False)
    marks = {"told": asked, "likely": pl.col("likely")}
    return group.with_columns(
        pl.col("statement").is_in(alike.filter(of)["a"].implode()).any().over("group").alias(name)
        for name, of in marks.items()
    )


def _merged(group: pl.DataFrame, said: Statements, live: pl.DataFrame) -> pl.DataFrame:
    members = live.join(said.members.join(group, on="statement"), on="id")
    members = members.filter(~passing() | (faded() & pl.col("told")))
    length = pl.col("text").str.len_chars()
    members = members.with_columns(fullness=pl.when("likely").then(length).otherwise(length // 40))
    members = one_a_block(members.sort("id"))
    code = pl.when("told").then(pl.lit("merge.judged")).when("likely").then(pl.lit("merge.likely"))
    return merged(members.drop("statement"), code.otherwise(pl.lit("merge.near")))


def passing() -> pl.Expr:
    """Return whether a record tells of a moment, or is a note that sank: it may lose to a statement alone."""
    return pl.col("kind").is_in(_PASSING) | faded()


def faded() -> pl.Expr:
    """Return whether a record is a note that sank."""
    return (pl.col("kind") == "note") & (pl.col("tier") == "peripheral")
