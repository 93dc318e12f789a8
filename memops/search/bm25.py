"""BM25 with eager scores: one sparse matrix of term weights, and a whole batch as one product.

score(q, d) = sum over terms of q: idf(t) * tf / (tf + k1 * (1 - b + b * |d| / mean |d|)),
idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)) (Robertson and Zaragoza 2009, as Lucene computes it).
Documents stand in parts (scopes); a term's statistics are those of its part, and a query meets
only the documents of its own part.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bm25:
    """Term weights of a collection: `weights` is terms x documents, `terms` names its rows."""

    weights: Any
    terms: pl.DataFrame

    def asked(self, queries: pl.DataFrame, count: int) -> Any:
        """Return the sparse queries x terms counts of a (row, code, part) table.

        Their product with `weights` is the scores; terms that no document has are left out.
        """
        held = (
            queries.group_by("row", "part", "code").len("tf")
            .join(self.terms, on=["part", "code"], how="inner").sort("row", "term")
        )  # fmt: skip
        shape = (count, self.terms.height)
        return _sparse(
            held["tf"].to_numpy(), held["row"].to_numpy(), held["term"].to_numpy(), shape
        )


def bm25(documents: pl.DataFrame, parts: npt.NDArray[np.int64], k1: Vector, b: Vector) -> Bm25:
    """Index a (row, code) table of terms; `parts` gives each document's part, k1 and b each part's."""
    counts = documents.group_by("row", "code").len("tf").sort("row", "code")
    counts = counts.with_columns(part=pl.Series(parts[counts["row"].to_numpy()]))
    terms = (
        counts.group_by("part", "code").agg(df=pl.len()).sort("part", "code").with_row_index("term")
    )
    held = counts.join(terms, on=["part", "code"], how="left", maintain_order="left")
    row, part = held["row"].to_numpy(), held["part"].to_numpy()
    tf, df = held["tf"].to_numpy().astype(np.float64), held["df"].to_numpy().astype(np.float64)
    length = np.bincount(row, weights=tf, minlength=len(parts))
    weight = idf(df, np.bincount(parts, minlength=len(k1))[part]) * saturation(
        tf, length[row] / mean_lengths(length, parts, len(k1))[part], k1[part], b[part]
    )
    return Bm25(_sparse(weight, held["term"].to_numpy(), row, (terms.height, len(parts))), terms)


def idf(df: Vector, n: Vector) -> Vector:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5))."""
    return np.asarray(np.log1p((n - df + 0.5) / (df + 0.5)))


def saturation(tf: Vector, relative: Vector, k1: Vector, b: Vector) -> Vector:
    """Return tf / (tf + k1 * (1 - b + b * relative)); `relative` is the length over the mean."""
    return np.asarray(tf / (tf + k1 * (1 - b + b * relative)))


def mean_lengths(length: Vector, parts: npt.NDArray[np.int64], count: int) -> Vector:
    """Return each part's mean document length, never 0."""
    totals = np.bincount(parts, weights=length, minlength=count)
    return np.asarray(np.maximum(totals, 1e-9) / np.maximum(np.bincount(parts, minlength=count), 1))


def _sparse(values: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    coordinates = (rows.astype(np.int32), columns.astype(np.int32))
    return csr_array((values.astype(np.float32), coordinates), shape=shape)
