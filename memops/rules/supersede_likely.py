"""Facts whose place a newer one probably took."""

import polars as pl

from memops.context import Context
from memops.judge.supersession import likely_overtaken
from memops.plan import edit, nothing


def supersede_likely(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Let a fact step back of which fitted weights find it probable that a newer one took its place.

    Of rows that stand by themselves, where the rules see nothing; a model, if one is named, is asked instead.
    """
    if ctx.models.judge is not None:
        return nothing()
    old = likely_overtaken(records, ctx)
    if old.is_empty():
        return nothing()
    until, shown = pl.coalesce("valid_to", "until"), pl.col("evidence_ids")
    return edit(
        old, "supersede", "conflict.likely", pl.col("args"),
        superseded_by=pl.col("current"), valid_to=until, evidence=shown, risk="low",
    )  # fmt: skip
