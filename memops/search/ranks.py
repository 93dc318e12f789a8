"""Ranks: the best of many scores, compared at 1e-6, ties by the order of ids."""

from typing import Any

import numpy as np
import numpy.typing as npt

from memops.models.nearest import Ranks, Scores

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
    """Return the same of a sparse product, only ever holding some rows of it.

    Columns count from `first`.
    """
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
