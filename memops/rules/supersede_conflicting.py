"""Facts that a newer fact about the same thing has overtaken."""

import polars as pl

from memops.context import Context
from memops.judge.supersession import overtaken
from memops.plan import edit


def supersede_conflicting(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Let the newest of several facts that cannot all hold stand, and the older step back."""
    old = overtaken(records, ctx)
    until, shown = pl.coalesce("valid_to", "until"), pl.col("evidence_ids")
    return edit(
        old, "supersede", pl.col("code"), pl.col("args"),
        superseded_by=pl.col("current"), valid_to=until, evidence=shown, risk="low",
    )  # fmt: skip
