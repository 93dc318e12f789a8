"""Records that were stored for a time."""

import polars as pl

from memops.context import Context
from memops.plan import retire
from memops.schema import LIVE, LOOSE, only


def expire_dated(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Retire what has passed the instant it was to be kept until."""
    past = only(records, ctx.changed).filter(
        LIVE, pl.col("expires_at") <= ctx.now, LOOSE, ctx.at_rest()
    )
    on = {"on": pl.col("expires_at").dt.strftime("%Y-%m-%d %H:%M:%SZ")}
    return retire(past, ctx.now, "time.expired", on, evidence=pl.concat_list("id"), risk="low")
