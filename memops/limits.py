"""Limits: how much a plan may touch unattended. They never alter a plan: each is a reason beside it."""

from typing import Any

import polars as pl

from memops.policy import Limits
from memops.reasons import Reason, reason
from memops.schema import LIVE

_GROUP = ("scope", "kind")
TOUCHED = pl.Schema({"scope": pl.String(), "kind": pl.String(), "touched": pl.Int64()})


def excess(
    plan: pl.DataFrame,
    records: pl.DataFrame,
    limits: Limits,
    earlier: pl.DataFrame | None = None,
    whole: pl.DataFrame | None = None,
) -> list[Reason]:
    """Return a reason for each limit of the blast radius that the plan exceeds.

    `earlier` (TOUCHED) counts what plans within the limits' window changed; `whole` (scope, kind, all)
    stands in for the sizes of a table of which only part was read.
    """
    touched = plan.join(records.select("id"), on="id", how="semi").select("id").unique()
    before = pl.DataFrame(schema=TOUCHED) if earlier is None else earlier.select(TOUCHED.names())
    past = int(before["touched"].sum())
    said = []
    if touched.height and touched.height + past > limits.records:
        said.append(_limit("records", past, limits, touched=touched.height, limit=limits.records))
    every = sizes(records) if whole is None else whole
    shares = (
        records.filter(LIVE).join(touched, on="id", how="semi").group_by(_GROUP).len("touched")
        .join(every, on=_GROUP).join(before.rename({"touched": "past"}), on=_GROUP, how="left")
        .with_columns(pl.col("past").fill_null(0))
        .with_columns(sum=pl.col("touched") + pl.col("past"))
        .with_columns(share=pl.col("sum") / pl.col("all"))
        .filter((pl.col("share") > limits.share) & (pl.col("sum") > limits.small))
        .sort("share", "scope", "kind", descending=[True, False, False])
    )  # fmt: skip
    names = ("touched", "all", "kind", "scope")
    share = {"limit": f"{limits.share:.0%}"}
    told = ((row["past"], share | {n: row[n] for n in names}) for row in shares.to_dicts())
    return said + [_limit("share", past, limits, **args) for past, args in told]


def sizes(records: pl.DataFrame) -> pl.DataFrame:
    """Return how many live records there are: scope, kind, all."""
    return records.filter(LIVE).group_by(_GROUP).len("all")


def _limit(what: str, past: int, limits: Limits, **args: Any) -> Reason:
    earlier = {"past": past, "hours": f"{limits.window_hours:g}"} if past else {}
    return reason(f"limit.{what}_window" if past else f"limit.{what}", args | earlier)
