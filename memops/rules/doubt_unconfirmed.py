"""Preferences that nobody has confirmed for long."""

import polars as pl

from memops.context import Context
from memops.hygiene.decay import DAY, since_epoch
from memops.judge.places import placed
from memops.plan import edit, nothing
from memops.schema import LIVE, REPLACED, only

_SURE = 1.0  # what a preference of no stated confidence starts from


def doubt_unconfirmed(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Lower the confidence of preferences that nobody stated again for long.

    Each unconfirmed period leaves a share of it, so the same age always gives the same confidence
    and one change a period is enough. Pinned preferences are confirmed by a person. Being recalled
    confirms nothing, being said again does: by the record itself, or by one that stepped back
    behind it. What stands in a document holds until it is changed.
    """
    policy = ctx.policy.lifecycles
    live = records.filter(LIVE, pl.col("kind") == "preference", ~pl.col("pinned"), ~placed())
    live = only(live, ctx.changed)
    if not policy.unconfirmed_days or live.is_empty():
        return nothing()
    said = records.select("id", "superseded_by", "created_at", "updated_at")
    behind = said.filter(~LIVE).filter(pl.col("superseded_by").is_in(live["id"].implode()))
    stated = confirmed(pl.concat([live.select(said.columns), behind]))
    periods = ((since_epoch(ctx.now) - pl.col("at")) / DAY / policy.unconfirmed_days).floor()
    most = _SURE * pl.lit(policy.unconfirmed_share).pow(periods.clip(0, 50))
    rows = live.join(stated, on="id").with_columns(
        _most=most.round(3), _days=((since_epoch(ctx.now) - pl.col("at")) / DAY).floor()
    )
    rows = rows.filter((periods >= 1) & (pl.col("confidence").fill_null(_SURE) > pl.col("_most")))
    return edit(
        rows.sort("id"), "update", "use.unconfirmed", {"days": pl.col("_days").cast(pl.Int64)},
        confidence=pl.col("_most"), evidence=pl.concat_list("by"), risk="low",
    )  # fmt: skip


def confirmed(records: pl.DataFrame) -> pl.DataFrame:
    """Return when each record was last stated, and by which record (id, at, by).

    `at` in microseconds since 1970; a record that stepped back behind another counts as its
    statement. Records of unknown time are left out.
    """
    times = [pl.col(n).dt.timestamp("us").cast(pl.Float64) for n in ("created_at", "updated_at")]
    said = records.select("id", "superseded_by", at=pl.max_horizontal(times)).drop_nulls("at")
    own = said.select("id", "at", by="id")
    behind = said.filter(REPLACED).select(id="superseded_by", at="at", by="id")
    both = pl.concat([own, behind]).sort("at", "by", descending=[True, False])
    return both.unique("id", keep="first", maintain_order=True)
