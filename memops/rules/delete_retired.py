"""Retired records whose grace time is over."""

import polars as pl

from memops.context import Context
from memops.hygiene.decay import DAY, since_epoch
from memops.plan import delete
from memops.schema import LOOSE, TOMBSTONE, only


def delete_retired(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Delete what was retired a grace time ago and has not been touched since.

    `valid_to` is when a record was retired; one that does not know it waits. What was changed or
    recalled since then waits anew.
    """
    grace = ctx.policy.retention.grace_days
    times = [
        pl.col(name).dt.timestamp("us").cast(pl.Float64)
        for name in ("valid_to", "updated_at", "accessed_at")
    ]
    quiet = (since_epoch(ctx.now) - pl.max_horizontal(times)) / DAY
    over = only(records, ctx.changed).filter(
        pl.col("superseded_by") == TOMBSTONE,
        pl.col("valid_to").is_not_null(),
        quiet > grace,
        LOOSE,
        ctx.at_rest(),
    )
    on = pl.col("valid_to").dt.strftime("%Y-%m-%d")
    return delete(over, "time.retired", {"on": on}, evidence=pl.concat_list("id"), risk="medium")
