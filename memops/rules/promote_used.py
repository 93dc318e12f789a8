"""Records that prove useful."""

import polars as pl

from memops.context import Context
from memops.hygiene.chatter import chatter
from memops.hygiene.decay import relevance, shown
from memops.judge.confirmations import confirmed
from memops.plan import arguments, edit
from memops.safety.trust import by_anybody, by_machine
from memops.schema import LIVE, only

_RAW = ("note", "session", "summary")
_QUESTION = r"[?？]\s*$|[吗嘛][。！!~～\s]*$"


def promote_used(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Lift what is used often and matters to core, and what is used again back to working.

    Use alone does not lift unless the policy says so (a recalled record gains weight by being
    recalled), and never what is no knowledge: raw notes, summaries, questions, chatter, and what
    machines said. What people said again in other sessions counts as used. A restored record lies above
    every threshold of demotion, so none swings between tiers.
    """
    tiers, uses = ctx.policy.tiers, pl.col("access_count")
    score = relevance(ctx.now, ctx.policy.decay)
    knowledge = LIVE & ~pl.col("kind").is_in(_RAW) & ~(by_machine() | by_anybody())
    weighty = pl.col("importance") >= tiers.promote_importance
    often = pl.col("confirmed") >= tiers.promote_confirmed
    used = uses >= tiers.promote_accesses
    enough = used | often.fill_null(False)
    ways = {
        "both": enough & weighty,
        "access": used,
        "importance": weighty,
        "either": used | weighty,
    }
    high = ways[tiers.promote_by]
    again = score >= tiers.restore_relevance
    rising = (pl.col("tier") != "core") & high
    fallen = (pl.col("tier") == "peripheral") & (uses >= tiers.restore_accesses)
    some = _counted(only(records, ctx.changed).filter(knowledge), weighty & ~used, records, ctx)
    to = pl.when(rising).then(pl.lit("core")).when(fallen & again).then(pl.lit("working"))
    lifted = some.filter(rising | fallen).with_columns(_to=to).filter(pl.col("_to").is_not_null())
    lifted = lifted.filter(~pl.col("text").str.contains(_QUESTION))
    lifted = lifted.filter(chatter(lifted["text"]).is_null())
    by_others = (pl.col("_to") == "core") & ~used & often.fill_null(False) & weighty
    code, args = _reason(by_others, tiers.promote_confirmed, score)
    own = pl.concat_list("id")
    evidence = pl.when(by_others).then(pl.concat_list("id", "by")).otherwise(own)
    return edit(lifted, "promote", code, args, tier=pl.col("_to"), evidence=evidence, risk="low")


def _reason(by_others: pl.Expr, confirmed: int, score: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The code and the arguments of a promotion."""
    weight, uses = shown(pl.col("importance")), pl.col("access_count")
    core = pl.col("_to") == "core"
    code = (
        pl.when(by_others).then(pl.lit("use.confirmed"))
        .when(core).then(pl.lit("use.often"))
        .otherwise(pl.lit("use.again"))
    )  # fmt: skip
    args = (
        pl.when(by_others).then(arguments(sessions=confirmed, importance=weight))
        .when(core).then(arguments(uses=uses, importance=weight))
        .otherwise(arguments(uses=uses, relevance=shown(score)))
    )  # fmt: skip
    return code, args


def _counted(
    some: pl.DataFrame, which: pl.Expr, records: pl.DataFrame, ctx: Context
) -> pl.DataFrame:
    """Records, with how often others said what those of them say that may rise by it."""
    ids = some.filter(which & (pl.col("tier") != "core"))["id"]
    if ids.is_empty() or not ctx.policy.tiers.promote_confirmed:
        blank = {"confirmed": pl.lit(None, pl.UInt32), "by": pl.lit(None, pl.List(pl.String))}
        return some.with_columns(**blank)
    said = confirmed(ids, records, ctx, ctx.policy.tiers.promote_confirmed)
    return some.join(said, on="id", how="left", maintain_order="left")
