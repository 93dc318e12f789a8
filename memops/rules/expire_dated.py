"""Records that were stored for a time."""

import polars as pl

from memops.context import Context
from memops.plan import edit
from memops.schema import LIVE, TOMBSTONE, only


def expire_dated(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Retire what has passed the instant it was to be kept until."""
    past = only(records, ctx.changed).filter(
        LIVE,
        pl.col("expires_at") <= ctx.now,
        ~pl.col("pinned"),
        pl.col("tier") != "core",
        ~pl.col("id").is_in(list(ctx.fresh)),
    )
    return edit(
        past,
        "tombstone",
        "time.expired",
        {"on": pl.col("expires_at").dt.strftime("%Y-%m-%d %H:%M:%SZ")},
        superseded_by=pl.lit(TOMBSTONE),
        valid_to=pl.lit(ctx.now),
        evidence=pl.concat_list("id"),
        risk="low",
    )
