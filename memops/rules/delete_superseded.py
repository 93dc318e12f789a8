"""Records that were replaced long ago."""

import polars as pl

from memops.context import Context
from memops.hygiene.decay import DAY, age_days, since_epoch
from memops.plan import arguments, delete
from memops.schema import LOOSE, REPLACED, only

_LOOKED = (
    "id", "pinned", "tier", "superseded_by", "expires_at", "created_at", "updated_at", "accessed_at"
)  # fmt: skip


def delete_superseded(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Delete what a newer record replaced, once its time is over and nobody recalls it.

    A superseded record is kept until its `expires_at`, which a night gives it; one that the agent
    superseded itself, for as long since it was last touched. The record that replaced it
    must be there, and no record that stays may lead to it. Floors count live records only, so none of
    these is held by one.
    """
    window = ctx.policy.retention.superseded_days
    quiet = (since_epoch(ctx.now) - _last_touched()) / DAY
    waited = (quiet > ctx.policy.retention.grace_days).fill_null(True)
    over = (pl.col("expires_at") <= ctx.now).fill_null(False) & waited
    unset = pl.col("expires_at").is_null() & (age_days(ctx.now) > window)
    looked = records.select(_LOOKED)
    linked = looked.filter(REPLACED)
    gone = linked.filter((over | unset) & (window > 0), LOOSE, ctx.at_rest())
    links = linked.select("id", end="superseded_by")
    there = only(records.select("id"), gone["superseded_by"].unique())
    while gone.height:
        staying = links.join(gone.select("id"), on="id", how="anti")
        held = gone.join(staying.select(id="end"), on="id", how="semi")
        unled = gone.join(there, left_on="superseded_by", right_on="id", how="anti")
        out = held["id"].append(unled["id"]).unique()
        if out.is_empty():
            break
        gone = gone.filter(~pl.col("id").is_in(out.implode()))
    by, until = pl.col("superseded_by"), pl.col("expires_at").dt.strftime("%Y-%m-%d")
    dated = pl.when(until.is_not_null())
    code = dated.then(pl.lit("time.replaced")).otherwise(pl.lit("time.replaced_unused"))
    args = dated.then(arguments(by=by, until=until)).otherwise(arguments(by=by))
    return delete(gone, code, args, evidence=pl.concat_list("superseded_by"), risk="medium")


def _last_touched() -> pl.Expr:
    times = ("updated_at", "accessed_at")
    return pl.max_horizontal(pl.col(n).dt.timestamp("us").cast(pl.Float64) for n in times)
