"""Fusion as the agents do it: `search_hybrid` and `rrf_fuse_memory` of rsclaw-memory, and clawseed's vector.rs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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


Ranked = Sequence[tuple[str, float]]


def reciprocal_ranks(vector: Ranked, keyword: Ranked, k: float, limit: int) -> list[dict[str, Any]]:
    """Return the fusion of two result lists by 1 / (k + rank), each sorted by score, then id."""
    made: dict[str, dict[str, Any]] = {}
    for rank, (id_, score) in enumerate(_sorted(vector), 1):
        made[id_] = {"id": id_, "score": 1 / (k + rank), "vector_score": score}
    for rank, (id_, score) in enumerate(_sorted(keyword), 1):
        entry = made.setdefault(id_, {"id": id_, "score": 0.0, "vector_score": None})
        entry["score"] += 1 / (k + rank)
        entry["keyword_score"] = score
    return best(made, limit)


def best(made: Mapping[str, dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """Return so many entries, the highest score first, then by id."""
    order = sorted(made.values(), key=lambda entry: (-entry["score"], entry["id"]))
    names = ("id", "score", "vector_score", "keyword_score")
    return [{name: entry.get(name) for name in names} for entry in order[:limit]]


def _sorted(ranked: Ranked) -> list[tuple[str, float]]:
    return sorted(ranked, key=lambda item: (-item[1], item[0]))
