"""Records that prove useful."""

import polars as pl

from memops.context import Context
from memops.decay import relevance
from memops.plan import edit
from memops.schema import LIVE

_RAW = ("note", "session", "summary")
_MACHINES = ("banner", "channel", "system", "tool")
_QUESTION = r"[?？]\s*$|[吗嘛][。！!~～\s]*$"


def promote_used(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Lift what is used often and matters to core, and what is used again back to working.

    Use alone never lifts (a recalled record gains weight by being recalled), nor does use of what
    is no knowledge: raw notes, summaries, questions, and what machines said. A restored record
    lies above every threshold of demotion, so none swings between tiers.
    """
    tiers, uses = ctx.policy.tiers, pl.col("access_count")
    score = relevance(ctx.now, ctx.policy.decay)
    knowledge = (
        LIVE
        & ~pl.col("kind").is_in(_RAW)
        & ~pl.col("source").is_in(_MACHINES).fill_null(False)
        & ~pl.col("text").str.contains(_QUESTION)
    )
    high = (uses >= tiers.promote_accesses) & (pl.col("importance") >= tiers.promote_importance)
    again = (uses >= tiers.restore_accesses) & (score >= tiers.restore_relevance)
    to = (
        pl.when((pl.col("tier") != "core") & high).then(pl.lit("core"))
        .when((pl.col("tier") == "peripheral") & again).then(pl.lit("working"))
    )  # fmt: skip
    lifted = records.filter(knowledge).with_columns(_to=to).filter(pl.col("_to").is_not_null())
    reason = (
        pl.when(pl.col("_to") == "core")
        .then(pl.format("used {} times, importance {}", uses, pl.col("importance").round(2)))
        .otherwise(pl.format("used {} times, relevance {}", uses, score.round(2)))
    )
    evidence = pl.concat_list("id")
    return edit(lifted, reason, tier=pl.col("_to"), evidence=evidence, risk="low")
