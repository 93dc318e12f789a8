"""Moves: which queries lost or gained between two grades, and what one of them makes of the mean."""

from typing import Any

import polars as pl

from memops.measures import measure

SLACK = 1e-9
"""Differences up to which values count as the same."""
MOVED = pl.Schema(
    {"query_id": pl.String(), "category": pl.String()}
    | dict.fromkeys(("before", "after"), pl.Float64())
)


def moved(own: pl.DataFrame, name: str, lost: bool) -> pl.DataFrame:
    """Return the queries that lost, or those that gained, the most first."""
    gain = (1 if lost else -1) * measure(name).sign * pl.col("difference")
    return own.filter(gain < -SLACK).sort(gain, "query_id").select(MOVED.names())


def without_one(own: pl.DataFrame) -> dict[str, Any]:
    """Return what leaving out one query would make of the mean difference."""
    if own.height < 2:
        return {}
    difference = pl.col("difference")
    without = (difference.sum() - difference) / (own.height - 1)
    table = own.select("query_id", without=without, far=difference.abs().round(9))
    most = table.sort("far", "query_id", descending=[True, False]).row(0, named=True)
    low, high = table["without"].min(), table["without"].max()
    return {"low": low, "high": high, "query_id": most["query_id"]}


def by_rank(pairs: pl.DataFrame) -> dict[str, int]:
    """Return the counts of first right answers that moved, from the first reciprocal rank among the measures."""
    names = [n for n in pairs["measure"].unique(maintain_order=True) if n.split("@")[0] == "RR"]
    if not names:
        return {}
    own = pairs.filter(pl.col("measure") == names[0])
    was, now = pl.col("before"), pl.col("after")
    moves = {
        "up": (now > was + SLACK) & (was > 0), "down": (now < was - SLACK) & (now > 0),
        "in": (was <= 0) & (now > 0), "out": (was > 0) & (now <= 0),
    }  # fmt: skip
    return {name: own.filter(which).height for name, which in moves.items()}
