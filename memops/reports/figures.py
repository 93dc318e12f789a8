"""Figures of a report: what two tables of records, before and after, come to."""

from collections.abc import Sequence
from datetime import datetime

import polars as pl

from memops.reports.data import Bin, Count, Distribution, Flow
from memops.schema import LIVE, TIERS

_AGES = (1, 7, 30, 90, 180, 365)


def count(records: pl.DataFrame) -> Count:
    """Return how many records there are, and how many live ones by kind, scope and tier."""
    live = records.filter(LIVE)
    kinds, scopes, tiers = (
        dict(live.group_by(n).len().sort(n).iter_rows()) for n in ("kind", "scope", "tier")
    )
    return {
        "rows": records.height, "live": live.height,
        "by_kind": kinds, "by_scope": scopes, "by_tier": tiers,
    }  # fmt: skip


def flow(before: pl.DataFrame, after: pl.DataFrame) -> list[Flow]:
    """Return how many records moved from a tier to a tier; `new` and `hidden` are the outside."""
    tier = pl.when(LIVE).then(pl.col("tier")).otherwise(pl.lit("hidden"))
    was, now = before.select("id", source=tier), after.select("id", target=tier)
    joined = was.join(now, on="id", how="full", coalesce=True).with_columns(
        pl.col("source").fill_null("new"), pl.col("target").fill_null("hidden")
    )
    moves = joined.filter(pl.col("source") != pl.col("target"))
    counted = moves.group_by("source", "target").len("count").sort("source", "target")
    return [Flow(source=s, target=t, count=n) for s, t, n in counted.iter_rows()]


def distributions(before: pl.DataFrame, after: pl.DataFrame, now: str) -> list[Distribution]:
    """Return live records by age in days, by importance and by tier, before and after."""
    at = datetime.fromisoformat(now)
    days = (pl.lit(at) - pl.coalesce("updated_at", "created_at")).dt.total_days().clip(0)
    labels = [f"<{d} d" for d in _AGES] + [f">={_AGES[-1]} d"]
    age = _banded(days, _AGES, labels).fill_null("unknown")
    names = ["0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0"]
    importance = _banded(pl.col("importance"), (0.2, 0.4, 0.6, 0.8), names)
    return [
        {"name": "age", "bins": _bins(before, after, age, [*labels, "unknown"])},
        {"name": "importance", "bins": _bins(before, after, importance, names)},
        {"name": "tier", "bins": _bins(before, after, pl.col("tier"), list(TIERS))},
    ]


def _banded(value: pl.Expr, edges: Sequence[float], labels: Sequence[str]) -> pl.Expr:
    """The label of the band, closed on the left, that a value lies in; null for null."""
    band: pl.Expr = pl.when(value.is_not_null()).then(pl.lit(labels[-1]))
    for edge, label in reversed(list(zip(edges, labels, strict=False))):
        band = pl.when(value < edge).then(pl.lit(label)).otherwise(band)
    return band


def _bins(before: pl.DataFrame, after: pl.DataFrame, by: pl.Expr, labels: list[str]) -> list[Bin]:
    was, now = (
        dict(r.filter(LIVE).select(label=by).group_by("label").len().iter_rows())
        for r in (before, after)
    )
    return [{"label": x, "before": was.get(x, 0), "after": now.get(x, 0)} for x in labels]
