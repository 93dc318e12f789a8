"""Raw notes that must not become knowledge."""

import polars as pl

from memops.context import Context
from memops.extract.verdicts import judged_notes
from memops.plan import edit, retire


def retire_chatter(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Retire questions, requests, chatter, pasted output and prompts; sink what is unclear."""
    notes, _ = judged_notes(records, ctx)
    weight = ctx.policy.extract.demoted
    unclear = notes.filter(
        pl.col("verdict") == "demote",
        (pl.col("tier") != "peripheral") | (pl.col("importance") > weight),
    )
    why, junk = (pl.col("code"), pl.col("args")), notes.filter(pl.col("verdict") == "tombstone")
    risk = pl.when("surely").then(pl.lit("low")).otherwise(pl.lit("medium"))
    sunk = pl.when(pl.col("tier") == "peripheral").then(pl.lit("update"))
    low = pl.min_horizontal("importance", pl.lit(weight))
    return pl.concat(
        [
            retire(junk, ctx.now, *why, evidence=[], risk=risk),
            edit(
                unclear, sunk.otherwise(pl.lit("demote")), *why,
                tier="peripheral", importance=low, evidence=[], risk="low",
            ),
        ]
    )  # fmt: skip
