"""Nearest vectors: exactly, or for large scopes by cells, with the recall that a sample measured."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float32]
Ranks = tuple[Ints, Floats]
"""Columns and scores, a row a query, best first; -1 where there is none."""

_FEW = 4  # queries below which each is better multiplied by itself
_SAMPLE = 64  # documents, asked as queries, by which the recall is measured
_DEPTH = 10
_TRAINING = 40  # documents a cell that the cells are learnt from


def nearest(documents: Scores, queries: Scores, k: int) -> Ranks:
    """Return rows and inner products of each query's k nearest, exactly, by faiss."""
    faiss = library()
    more = min(k + 32, len(documents))
    # Its own limit leaves hundreds of queries without the matrix product, at a sixth of the rate.
    faiss.cvar.distance_compute_blas_threshold = _FEW * documents.shape[1]
    products, found = faiss.knn(queries, documents, more, metric=faiss.METRIC_INNER_PRODUCT)
    return _ranked(products, found, k)


def _ranked(products: Scores, found: Ints, k: int) -> Ranks:
    rounded = np.rint(products.astype(np.float64) * 1e6)
    order = np.lexsort((found, -rounded), axis=1)[:, :k]
    rows = np.take_along_axis(found.astype(np.int64), order, axis=1)
    return rows, np.take_along_axis(rounded, order, axis=1) / 1e6


def library() -> Any:
    """Return faiss, with threads that sleep while they wait: spinning took four times the CPU time."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # is read when faiss is loaded
    import faiss

    return faiss


@dataclass(frozen=True)
class Approximate:
    """An inverted file over cells of like vectors; `probes` cells are searched for each query."""

    index: Any
    probes: int
    recall: float

    def nearest(self, queries: Scores, k: int) -> Ranks:
        """Return rows and inner products of each query's k nearest, rounded to 1e-6."""
        self.index.nprobe = self.probes
        products, found = self.index.search(np.ascontiguousarray(queries), k)
        return _ranked(products, found, k)


def approximate(documents: Scores, least: float, whole: bool = False) -> Approximate:
    """Return an index that finds at least this share of the exact nearest, on a sample; searched cells double.

    Where documents are `whole` numbers, so are the cells' centres, so that what a query finds does not
    depend on how many are asked together, nor by how many threads.
    """
    faiss = library()
    count, dims = documents.shape
    cells = max(1, int(4 * np.sqrt(count)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dims), dims, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = 7
    index.cp.min_points_per_centroid = 1
    index.cp.max_points_per_centroid = _TRAINING
    step = max(1, count // (_TRAINING * cells))
    if whole:
        index = _whole(index, documents, step)
    else:
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


def _whole(index: Any, documents: Scores, step: int) -> Any:
    """An index over centres of whole numbers, as long as the documents are."""
    from threadpoolctl import threadpool_limits

    faiss = library()
    with threadpool_limits(1):  # sums that several threads add up differ in their last bits
        index.train(np.ascontiguousarray(documents[::step]))
    length = np.linalg.norm(documents, axis=1).max()
    centres = faiss.IndexFlatIP(index.d)
    centres.add(np.rint(index.quantizer.reconstruct_n(0, index.nlist) * length))
    return faiss.IndexIVFFlat(centres, index.d, index.nlist, faiss.METRIC_INNER_PRODUCT)
