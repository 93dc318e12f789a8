"""Diversity: of what ranks best, each next one the most relevant and the least like those before."""

import numpy as np

from memops.models.nearest import Floats, Ints, Ranks, Scores


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
