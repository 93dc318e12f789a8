"""Fusion: several retrievers' scores or ranks as one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memops.models.nearest import Floats, Ints, Ranks, Scores

Mask = npt.NDArray[np.bool_]


def rrf_rows(rankings: Sequence[Ints], k: int, top: int) -> tuple[Ints, Floats]:
    """Return rankings fused by reciprocal rank: each adds 1 / (k + rank) (Cormack et al. 2009).

    Each is a matrix, a row a query, documents by number, best first, -1 where there is none. Scores
    are compared at 1e-6; ties go by number.
    """
    places = [1 / (k + np.arange(1, rows.shape[1] + 1, dtype=np.float64)) for rows in rankings]
    rows = np.concatenate(rankings, axis=1)
    votes = np.broadcast_to(np.concatenate(places), rows.shape) * (rows >= 0)
    order = np.argsort(rows, axis=1, kind="stable")
    rows, votes = np.take_along_axis(rows, order, axis=1), np.take_along_axis(votes, order, axis=1)
    first = np.ones(rows.shape, dtype=bool)
    first[:, 1:] = rows[:, 1:] != rows[:, :-1]
    starts = np.flatnonzero(first)
    scores = np.zeros(rows.shape)
    scores.flat[starts] = np.rint(np.add.reduceat(votes.ravel(), starts) * 1e6) / 1e6
    scores[~first | (rows < 0)] = -1
    best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    ranked = np.take_along_axis(np.where(scores > 0, rows, -1), best, axis=1)
    return ranked, np.take_along_axis(scores, best, axis=1)


def minmax(scores: Scores, seen: Mask | None = None) -> Scores:
    """Return each row stretched to 0..1 over the documents it may see; a flat row becomes 0."""
    if scores.shape[1] == 0:
        return scores
    low = np.min(scores, axis=1, where=True if seen is None else seen, initial=np.inf)
    high = np.max(scores, axis=1, where=True if seen is None else seen, initial=-np.inf)
    span = np.where(high > low, high - low, np.inf)
    low = np.where(np.isfinite(low), low, 0)
    return np.asarray(np.clip((scores - low[:, None]) / span[:, None], 0, 1), dtype=np.float32)


def convex(arms: dict[str, Scores], weights: dict[str, float], seen: Mask | None = None) -> Scores:
    """Return the weighted sum of the arms, each min-max scaled by query (Bruch et al. 2023)."""
    total = sum(weights[name] for name in arms) or 1.0
    parts = [minmax(arm, seen) * np.float32(weights[name] / total) for name, arm in arms.items()]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float32)


def diversified(rows: Ints, scores: Floats, vectors: Scores, weight: float, k: int) -> Ranks:
    """Return k of each row's candidates by maximal marginal relevance (Carbonell and Goldstein 1998).

    Each step takes the most of (1 - weight) * score / best score - weight * cosine to the nearest
    one taken. Candidates are columns, best first, -1 where there is none; ties go to the better.
    """
    count, width = rows.shape
    held = vectors[np.maximum(rows, 0)]
    alike = np.einsum("qid,qjd->qij", held, held)
    relevance = scores / np.maximum(scores.max(axis=1, keepdims=True, initial=0), 1e-9)
    nearest = np.zeros(rows.shape)
    open_ = rows >= 0
    every = np.arange(count)
    picked = np.full((count, min(k, width)), -1, dtype=np.int64)
    for place in range(picked.shape[1]):
        worth = np.where(open_, (1 - weight) * relevance - weight * nearest, -np.inf)
        best = np.argmax(np.round(worth, 9), axis=1)
        some = open_.any(axis=1)
        picked[some, place] = best[some]
        open_[every, best] = False
        nearest = np.maximum(nearest, alike[every, best])
    taken = np.maximum(picked, 0)
    found = np.take_along_axis(rows, taken, axis=1)
    return np.where(picked >= 0, found, -1), np.take_along_axis(scores, taken, axis=1)
