"""rsclaw's own search: how wide each leg looks, how they are fused, what a record has beforehand.

From `search_hybrid` and `rrf_fuse_memory` of its crate rsclaw-memory; the ranks count from 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from memops.hygiene.decay import relevance
from memops.policy.hygiene import Decay

RRF_K = 60
_PINNED = 1.25
_TIERS = {"core": 1.15, "working": 1.0, "peripheral": 0.8}


@dataclass(frozen=True)
class Fanout:
    """How many hits each leg brings for the k that are shown."""

    vectors: int
    words: int
    scanned: int
    """Hits of the words before those of another scope are dropped."""


def fanout(k: int) -> Fanout:
    """Return how wide a search for k records looks: 3k vectors, 4k words, 16 of them at least."""
    words = max(4 * k, 16)
    return Fanout(vectors=3 * k, words=words, scanned=8 * words)


def prior(now: datetime) -> pl.Expr:
    """Return what a record's score is multiplied by: relevance, pin, tier and importance."""
    tier = pl.col("tier").replace_strict(_TIERS, default=1.0)
    pin = pl.when("pinned").then(_PINNED).otherwise(1.0)
    weight = 0.75 + 0.5 * pl.col("importance")
    return (relevance(now, Decay(), floored=True) * pin * tier * weight).fill_null(1.0)


def fused(legs: Sequence[Sequence[int]], priors: Sequence[float]) -> list[tuple[int, float]]:
    """Return (row, score) best first: reciprocal ranks of the legs, times each row's prior."""
    votes: dict[int, float] = {}
    for leg in legs:
        for rank, row in enumerate(leg, 1):
            votes[row] = votes.get(row, 0.0) + 1 / (RRF_K + rank)
    scored = ((row, vote * priors[row]) for row, vote in votes.items())
    return sorted(scored, key=lambda hit: (-hit[1], hit[0]))
