"""Raw notes that must not become knowledge."""

import polars as pl

from memops.context import Context
from memops.extract.verdicts import judged_notes
from memops.plan import edit
from memops.schema import TOMBSTONE


def retire_chatter(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Retire questions, requests, chatter, pasted output and prompts; sink what is unclear."""
    notes, _ = judged_notes(records, ctx)
    weight = ctx.policy.extract.demoted
    unclear = notes.filter(
        pl.col("verdict") == "demote",
        (pl.col("tier") != "peripheral") | (pl.col("importance") > weight),
    )
    return pl.concat(
        [
            edit(
                notes.filter(pl.col("verdict") == "tombstone"),
                "tombstone",
                pl.col("code"),
                pl.col("args"),
                superseded_by=TOMBSTONE,
                valid_to=ctx.now,
                evidence=[],
                risk=pl.when("surely").then(pl.lit("low")).otherwise(pl.lit("medium")),
            ),
            edit(
                unclear,
                pl.when(pl.col("tier") == "peripheral")
                .then(pl.lit("update"))
                .otherwise(pl.lit("demote")),
                pl.col("code"),
                pl.col("args"),
                tier="peripheral",
                importance=pl.min_horizontal("importance", pl.lit(weight)),
                evidence=[],
                risk="low",
            ),
        ]
    )
