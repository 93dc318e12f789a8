"""Records that nobody needs any more."""

import polars as pl

from memops.context import Context
from memops.hygiene.decay import age_days, relevance, shown
from memops.hygiene.impact import high_impact
from memops.hygiene.tasks import is_task
from memops.judge.places import placed
from memops.plan import arguments, edit
from memops.schema import LIVE, MODEL, only


def demote_faded(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Sink to peripheral what is no longer relevant, or old and little used, unless it is pinned.

    Little use says something only where use is counted at all: a store whose every count is nought
    does not count, so the evidence names a record that was used, and that no model wrote: on a
    model's word no change may rest. A record of unknown age is not old. Open tasks and facts about
    money, health and access do not sink with time, nor does what stands in a document, which is
    read with all that stands around it.
    """
    tiers, decay, uses = ctx.policy.tiers, ctx.policy.decay, pl.col("access_count")
    score, age = relevance(ctx.now, decay), age_days(ctx.now, decay.clock)
    own = ~pl.col("tags").list.contains(MODEL).fill_null(False)
    most = records.filter(own, uses > 0).filter(uses == uses.max())["id"].min()
    counted = most is not None
    faded = score < tiers.demote_relevance
    unused = (age > tiers.demote_days).fill_null(False) & (uses < tiers.demote_accesses)
    loose = LIVE & (pl.col("tier") == "working") & ~pl.col("pinned") & ~placed()
    old = only(records, ctx.changed).filter(loose & (faded | (unused & pl.lit(counted))))
    sinking = old.filter(~high_impact(old["text"]) & ~is_task())
    code = pl.when(faded).then(pl.lit("use.faded")).otherwise(pl.lit("use.seldom"))
    low = arguments(relevance=shown(score), under=tiers.demote_relevance)
    args = pl.when(faded).then(low).otherwise(arguments(days=age.floor().cast(pl.Int64), uses=uses))
    one = pl.lit(most, pl.String)
    evidence = pl.when(faded).then(pl.concat_list("id")).otherwise(pl.concat_list("id", one))
    return edit(sinking, "demote", code, args, tier="peripheral", evidence=evidence, risk="low")
