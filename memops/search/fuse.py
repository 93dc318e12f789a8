"""Fusion: several retrievers' scores or ranks as one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memops.models.nearest import Floats, Ints, Ranks, Scores

Mask = npt.NDArray[np.bool_]


def rrf_rows(rankings: Sequence[Ints], k: int, top: int) -> tuple[Ints, Floats]:
    """Return rankings fused by reciprocal rank: each adds 1 / (k + rank) (Cormack et al. 2009).

    Each is a row a query of documents by number, best first, -1 for none. Scores compare at 1e-6, ties
    by number.
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

    Each step takes the most of (1 - weight) * score / best score - weight * cosine to the nearest one
    taken. Candidates are columns, best first, -1 for none.
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


_LOWEST = -(2**62)
_ROWS = 32  # rows of a sparse product at a time, which may hold a third of all documents each


def best(scores: Scores, k: int, seen: npt.NDArray[np.bool_] | None, above: float = 0.0) -> Ranks:
    """Return each row's k best; what is not seen, or not above the given score, is not ranked."""
    count = scores.shape[1]
    k = min(k, count)
    rounded = np.rint(scores.astype(np.float64) * 1e6).astype(np.int64)
    allowed = rounded > above * 1e6 if above > -np.inf else np.ones(scores.shape, dtype=bool)
    allowed = allowed if seen is None else allowed & seen
    # One integer holds score and place, so that a partial sort is exact about ties.
    keys = np.where(allowed, rounded * count - np.arange(count), _LOWEST)
    if k < count:
        top = np.argpartition(-keys, k - 1, axis=1)[:, :k]
    else:
        top = np.tile(np.arange(count), (len(scores), 1))
    order = np.argsort(-np.take_along_axis(keys, top, axis=1), axis=1, kind="stable")
    rows = np.take_along_axis(top, order, axis=1)
    ok = np.take_along_axis(allowed, rows, axis=1)
    return np.where(ok, rows, -1), np.take_along_axis(rounded, rows, axis=1) / 1e6


def best_sparse(queries: Any, weights: Any, first: int, k: int) -> Ranks:
    """Return the same of a sparse product, only ever holding some rows of it."""
    rows = np.full((queries.shape[0], k), -1, dtype=np.int64)
    scores = np.zeros(rows.shape)
    for start in range(0, queries.shape[0], _ROWS):
        product = queries[start : start + _ROWS] @ weights
        for i, (a, b) in enumerate(zip(product.indptr, product.indptr[1:], strict=False)):
            found = _top(product.data[a:b], product.indices[a:b], k)
            rows[start + i, : len(found[0])] = found[0] - first
            scores[start + i, : len(found[1])] = found[1]
    return rows, scores


def _top(values: Scores, columns: Any, k: int) -> Ranks:
    fold = max(1, len(values) // (8 * k))
    count = len(values) // fold
    if count > k:
        # The k-th best of the maxima of groups is at most the k-th best of all; half a millionth
        # below it stands all that may be equal to that once rounded.
        highest = values[: fold * count].reshape(fold, count).max(axis=0)
        kept = np.flatnonzero(values >= np.partition(highest, count - k)[count - k] - 2e-6)
        values, columns = values[kept], columns[kept]
    rounded = np.rint(values.astype(np.float64) * 1e6)
    order = np.lexsort((columns, -rounded))[:k]
    order = order[rounded[order] > 0]
    return columns[order].astype(np.int64), rounded[order] / 1e6
