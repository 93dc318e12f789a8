"""Records of kinds that are only kept for a while."""

from collections.abc import Mapping

import polars as pl

from memops.context import Context
from memops.hygiene.decay import age_days
from memops.hygiene.floors import narrowest
from memops.hygiene.impact import high_impact
from memops.judge.places import line_of, misdated, placed
from memops.plan import arguments, retire
from memops.safety.trust import PERSONS
from memops.schema import CATEGORY, LIVE, LOOSE, only

_LISTED = r"(?m)^\s*(?:\|.*\|\s*$|[-*+•]\s|\d+[.)]\s)"  # a row of a table, a point of a list


def retire_old(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Retire records that are older than their kind is kept; the guard keeps each kind's floor.

    A window stands under its kind, or under `scope/kind` for one scope, or under the category
    that the agent gave it (`category:daily`, `scope/category:daily`); the narrowest counts. Kinds
    without a window stay, and so does what is pinned or core, of unknown age, in a file still
    being written or dated by a slip of the pen, and every high-impact note. Of documents only what
    the agent said in talks goes: a note of a day is the day's record, and a person's word stays.
    """
    windows = ctx.policy.retention.windows
    window = days_kept(windows)
    age = age_days(ctx.now, ctx.policy.decay.clock)
    dated = records.filter(~misdated() & (~placed() | _talk()))
    old = only(dated, ctx.changed).filter(LIVE, age > window, LOOSE, ctx.at_rest())
    old = old.filter((pl.col("kind") == "session") | ~high_impact(old["text"]))
    code, args = _reason(age, window, windows)
    return retire(old, ctx.now, code, args, evidence=pl.concat_list("id"), risk="low")


def _talk() -> pl.Expr:
    """True of an agent's turn of a talk that is nothing more: no answer under a heading of its own,
    none with a table or a list.
    """
    turn = pl.col("source").sort_by(line_of()).first().over("scope", "block").is_not_null()
    more = pl.col("text").str.contains(_LISTED) | pl.col("source").is_in(PERSONS)
    talk = (pl.col("kind") == "session") & (pl.col("role") == "session")
    return (talk & turn & ~more.fill_null(False)).fill_null(False)


def days_kept(windows: Mapping[str, float]) -> pl.Expr:
    """Return the days that a record is kept by its narrowest window, null for none."""
    return narrowest(windows).replace_strict(windows, default=None, return_dtype=pl.Float64)


def _reason(age: pl.Expr, window: pl.Expr, windows: Mapping[str, float]) -> tuple[pl.Expr, pl.Expr]:
    """The code and the arguments: the record's kind, with the category where the window is for that."""
    by_category = pl.when(narrowest(windows).str.contains("category:", literal=True))
    days, kept = age.floor().cast(pl.Int64), window.cast(pl.Int64)
    told = {"days": days, "kind": pl.col("kind"), "window": kept}
    return (
        by_category.then(pl.lit("time.old_category")).otherwise(pl.lit("time.old")),
        by_category.then(arguments(**told, category=CATEGORY)).otherwise(arguments(**told)),
    )
