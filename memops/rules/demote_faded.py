"""Records that nobody needs any more."""

import polars as pl

from memops.context import Context
from memops.decay import age_days, relevance
from memops.plan import edit
from memops.schema import LIVE


def demote_faded(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Sink to peripheral what is no longer relevant, or old and little used, unless it is pinned.

    Little use says something only where use is counted at all: a store whose every count is nought
    does not count. A record of unknown age is not old.
    """
    tiers, decay, uses = ctx.policy.tiers, ctx.policy.decay, pl.col("access_count")
    score, age = relevance(ctx.now, decay), age_days(ctx.now, decay.clock)
    counted = (uses > 0).any()
    faded = score < tiers.demote_relevance
    unused = (age > tiers.demote_days).fill_null(False) & (uses < tiers.demote_accesses)
    loose = LIVE & (pl.col("tier") == "working") & ~pl.col("pinned")
    sinking = records.filter(loose & (faded | (unused & counted)))
    reason = (
        pl.when(faded)
        .then(pl.format("relevance {}", score.round(2)))
        .otherwise(pl.format("{} days old, used {} times", age.floor().cast(pl.Int64), uses))
    )
    return edit(sinking, reason, tier="peripheral", evidence=pl.concat_list("id"), risk="low")
