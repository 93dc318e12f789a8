"""Comparing: the judged retriever against each other one, query by query."""

from typing import Any

import numpy as np
import polars as pl

from memops.evaluation.grading import Grades
from memops.evaluation.statistics import holm, interval, sign_flip
from memops.measures import measure
from memops.policy.grading import Gate

_SAME = 1e-9


def compared(graded: Grades, settings: Gate) -> list[dict[str, Any]]:
    """Return a row for each other retriever and measure, in their order.

    `difference` is the judged retriever's mean less the other's, with its bootstrap interval; `p`
    that of a sign-flip test on both sides, by Holm over all rows; `won`, `tied` and `lost` count
    queries by what is better.
    """
    key = ["query_id", "measure"]
    own = graded.per_query.filter(pl.col("retriever") == graded.retriever)
    others = graded.per_query.filter(pl.col("retriever") != graded.retriever)
    pairs = others.join(own.select(*key, own="value"), on=key, maintain_order="left").with_columns(
        difference=pl.col("own") - pl.col("value")
    )
    rows = [
        {"retriever": graded.retriever, "against": str(against), "measure": str(name)}
        | _row(held["difference"].to_numpy(), str(name), settings)
        for (against, name), held in pairs.group_by("retriever", "measure", maintain_order=True)
    ]
    ps = holm([row["p"] for row in rows])
    return [row | {"p": round(p, 6)} for row, p in zip(rows, ps, strict=True)]


def _row(difference: Any, name: str, settings: Gate) -> dict[str, Any]:
    sign = 1 if measure(name).better == "higher" else -1
    low, high = interval(difference, settings.confidence, settings.resamples, settings.seed)
    sides = [
        sign_flip(side, settings.resamples, settings.seed) for side in (difference, -difference)
    ]
    won, lost = (int(np.sum(sign * side > _SAME)) for side in (difference, -difference))
    return {
        "difference": round(float(difference.mean()), 6), "low": round(low, 6),
        "high": round(high, 6), "p": min(1.0, 2 * min(sides)),
        "won": won, "tied": len(difference) - won - lost, "lost": lost,
    }  # fmt: skip
