"""Records that probably say the same thing, or no more than a fuller one says."""

import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import statements
from memops.judge.conflicts import groups, judged
from memops.judge.merge import counted, into_fuller, merged
from memops.plan import nothing
from memops.rules.merge_near import passing


def merge_likely(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Keep the fullest of rows of which fitted weights find it probable that any two say the same.

    So does one step back behind a fuller one that probably says all that it says. Of rows that stand
    by themselves, where the rules see nothing; a model, if one is named, is asked instead.
    """
    if ctx.models.judge is not None:
        return nothing()
    pairs = judged(records, ctx).filter(pl.col("likely_same") | pl.col("likely_part"))
    if pairs.is_empty():
        return nothing()
    said = statements(records, ctx)
    led = pl.col("id").is_in(records["superseded_by"].drop_nulls().implode())
    size = pl.col("text").str.len_chars()
    free = counted(records).filter(ctx.at_rest()).filter(~passing() & ~led)
    live = free.join(said.members, on="id").with_columns(fullness=size).sort("id")
    alike = pairs.filter("likely_same")
    group = agreed(groups(alike, said.table.height), alike)
    same = merged(live.join(group, on="statement").drop("statement"), "merge.likely")
    held = fuller(pairs.filter("likely_part"), live.filter(~_among(same)))
    return pl.concat([same, into_fuller(held, live.drop("fullness", "statement"), "merge.fuller")])


def agreed(group: pl.DataFrame, alike: pl.DataFrame) -> pl.DataFrame:
    """Return groups of which any two say the same: what is like two things that differ is like neither."""
    of = group.select(pl.col("group"), a=pl.col("statement").cast(alike.schema["a"]))
    edges = alike.select("a").join(of, on="a").group_by("group").len("edges")
    n = pl.len().over("group")
    whole = group.join(edges, on="group", maintain_order="left")
    return whole.filter(pl.col("edges") == n * (n - 1) // 2).drop("edges")


def fuller(held: pl.DataFrame, live: pl.DataFrame) -> pl.DataFrame:
    """Return which records (id) are held by a fuller one (keeper), the fullest; none keeps that goes.

    `held` are pairs of statements (a, b) of which the longer says all of the shorter.
    """
    of = live.select("id", "statement", "fullness", text=_bare())
    turned = held.select(a="b", b="a")
    both = (
        pl.concat([held.select("a", "b"), turned])
        .join(of, left_on="a", right_on="statement")
        .join(of, left_on="b", right_on="statement", suffix="_keeper")
        .filter((pl.col("fullness") < pl.col("fullness_keeper")) & ~_goes_on())
    )  # fmt: skip
    goes = pl.col("id_keeper").is_in(both["id"].implode())
    best = both.filter(~goes).sort("fullness_keeper", "id_keeper", descending=[True, False])
    return (
        best.unique("id", keep="first", maintain_order=True)
        .select("id", keeper="id_keeper")
        .sort("id")
    )


def _bare() -> pl.Expr:
    """The text in one case, without what ends it."""
    return pl.col("text").str.to_lowercase().str.strip_chars().str.replace(r"\P{L}+$", "")


def _goes_on() -> pl.Expr:
    """True when the longer text holds all of the other as the beginning of a longer word or clause."""
    after = pl.col("text_keeper").str.split(pl.col("text")).list.get(1, null_on_oob=True)
    return after.str.contains(r"^\p{L}").fill_null(False)


def _among(changes: pl.DataFrame) -> pl.Expr:
    """True of a record that steps back, or behind which another does."""
    kept = changes["superseded_by"].drop_nulls()
    return pl.col("id").is_in(changes["id"].implode()) | pl.col("id").is_in(kept.implode())
