"""Hide from recall what gives orders to a model."""

import polars as pl

from memops.context import Context
from memops.plan import edit
from memops.safety.hostile import injected
from memops.schema import LIVE, QUARANTINE


def quarantine_injected(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Hide text that gives orders to a model, and stored prompts, until a person has looked.

    Any tier and pin: a planted record is often the best protected one. Nothing is deleted.
    """
    live = records.filter(LIVE)
    code = injected(live["text"], ctx.policy.hostile)
    found = live.with_columns(code=code).filter(pl.col("code").is_not_null())
    tags = pl.concat_list("tags", pl.lit(["quarantined"])).list.unique(maintain_order=True)
    return edit(
        found, "quarantine", pl.col("code"),
        superseded_by=pl.lit(QUARANTINE), tags=tags, evidence=[], risk="medium",
    )  # fmt: skip
