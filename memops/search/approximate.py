"""Approximate nearest vectors for large scopes, with the recall that a sample of them measured."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from memops.search.ranks import Ranks, Scores, library, nearest

_SAMPLE = 64  # documents, asked as queries, by which the recall is measured
_DEPTH = 10
_TRAINING = 40  # documents a cell that the cells are learnt from


@dataclass(frozen=True)
class Approximate:
    """An inverted file over cells of like vectors; `probes` cells are searched for each query."""

    index: Any
    probes: int
    recall: float

    def nearest(self, queries: Scores, k: int) -> Ranks:
        """Return rows and inner products of each query's k nearest, rounded to 1e-6."""
        self.index.nprobe = self.probes
        products, rows = self.index.search(np.ascontiguousarray(queries), k)
        rounded = np.rint(products.astype(np.float64) * 1e6)
        order = np.lexsort((rows, -rounded), axis=1)
        ranked = np.take_along_axis(rows.astype(np.int64), order, axis=1)
        return ranked, np.take_along_axis(rounded, order, axis=1) / 1e6


def approximate(documents: Scores, least: float) -> Approximate:
    """Return an index that finds at least this share of the exact nearest, on a sample.

    As many cells are searched as that takes, doubling; in the end all of them, which is exact.
    """
    faiss = library()
    count, dims = documents.shape
    cells = max(1, int(4 * np.sqrt(count)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dims), dims, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = 7
    index.cp.min_points_per_centroid = 1
    index.cp.max_points_per_centroid = _TRAINING
    step = max(1, count // (_TRAINING * cells))
    index.train(np.ascontiguousarray(documents[::step]))
    index.add(np.ascontiguousarray(documents))
    asked = np.ascontiguousarray(documents[:: max(1, count // _SAMPLE)][:_SAMPLE])
    exact, _ = nearest(documents, asked, min(_DEPTH, count))
    probes = 1
    while True:
        made = Approximate(index, probes, 0.0)
        found, _ = made.nearest(asked, exact.shape[1])
        hits = [len(np.intersect1d(a, b)) for a, b in zip(exact, found, strict=True)]
        recall = float(np.sum(hits) / exact.size)
        if recall >= least or probes >= cells:
            return Approximate(index, probes, recall)
        probes = min(2 * probes, cells)
