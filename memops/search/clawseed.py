"""clawseed's fusion of what its words and its vectors find, as its vector.rs computes it."""

from collections.abc import Mapping, Sequence
from typing import Any

Ranked = Sequence[tuple[str, float]]


def reciprocal_ranks(vector: Ranked, keyword: Ranked, k: float, limit: int) -> list[dict[str, Any]]:
    """Return the fusion of two result lists by 1 / (k + rank), each sorted by score, then id.

    An id that stands twice counts once among vectors (its later rank) and twice among keywords.
    """
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
