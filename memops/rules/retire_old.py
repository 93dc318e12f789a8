"""Records of kinds that are only kept for a while."""

from collections.abc import Mapping

import polars as pl

from memops.context import Context
from memops.hygiene.decay import age_days
from memops.hygiene.impact import high_impact
from memops.plan import edit
from memops.policy.narrowest import narrowest
from memops.schema import LIVE, TOMBSTONE, only


def retire_old(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Retire records that are older than their kind is kept; the guard keeps each kind's floor.

    A window stands under its kind, or under `scope/kind` for one scope, or under the category
    that the agent gave it (`category:daily`, `scope/category:daily`); the narrowest counts. Kinds
    without a window stay, and so does what is pinned or core, of unknown age, or in a file still
    being written, and every high-impact note.
    """
    windows = ctx.policy.retention.windows
    window = days_kept(windows)
    age = age_days(ctx.now, ctx.policy.decay.clock)
    old = only(records, ctx.changed).filter(
        LIVE,
        age > window,
        ~pl.col("pinned"),
        pl.col("tier") != "core",
        ~pl.col("id").is_in(list(ctx.fresh)),
    )
    old = old.filter((pl.col("kind") == "session") | ~high_impact(old["text"]))
    whole = (age.floor().cast(pl.Int64), _called(windows), window.cast(pl.Int64))
    reason = pl.format("{} days old; a {} is kept for {}", *whole)
    return edit(
        old,
        reason,
        superseded_by=pl.lit(TOMBSTONE),
        valid_to=pl.lit(ctx.now),
        evidence=pl.concat_list("id"),
        risk="low",
    )


def days_kept(windows: Mapping[str, float]) -> pl.Expr:
    """Return the days that a record is kept by its narrowest window, null for none."""
    return narrowest(windows).replace_strict(windows, default=None, return_dtype=pl.Float64)


def _called(windows: Mapping[str, float]) -> pl.Expr:
    """What a record is to its window: its kind, with the category where the window is for that."""
    own = pl.col("extra").str.json_path_match("$.category")
    by_category = narrowest(windows).str.contains("category:", literal=True)
    return pl.when(by_category).then(pl.format("{} of category {}", "kind", own)).otherwise("kind")
