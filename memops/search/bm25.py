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

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sparse:
    """Term weights of documents: `weights` is terms x documents.

    `terms` names its rows: term, part, code, df, and the `factor` of a query that holds the term.
    """

    weights: Any
    terms: pl.DataFrame

    def asked(self, queries: pl.DataFrame, count: int) -> Any:
        """Return the sparse queries x terms matrix of a (row, code, part) table.

        Its product with `weights` is the scores; terms that no document has are left out.
        """
        held = (
            queries.group_by("row", "part", "code").len("tf")
            .join(self.terms, on=["part", "code"], how="inner").sort("row", "term")
            .select("row", "term", value=pl.col("tf") * pl.col("factor"))
        )  # fmt: skip
        return sparse(held["value"], held["row"], held["term"], (count, self.terms.height))


@dataclass(frozen=True)
class Counts:
    """Term counts of documents: parallel arrays of row, term and tf, and the terms' table."""

    row: Ints
    term: Ints
    tf: Floats
    terms: pl.DataFrame
    parts: Ints
    """Each document's part."""

    @property
    def sizes(self) -> Floats:
        """Return the number of documents of each part."""
        return np.bincount(self.parts).astype(np.float64)


def counted(documents: pl.DataFrame, parts: Ints) -> Counts:
    """Count a (row, code) table of terms; `parts` gives each document's part."""
    held = documents.group_by("row", "code").len("tf").sort("row", "code")
    held = held.with_columns(part=pl.Series(parts[held["row"].to_numpy()]))
    terms = (
        held.group_by("part", "code").agg(df=pl.len()).sort("part", "code").with_row_index("term")
        .with_columns(factor=pl.lit(1.0))
    )  # fmt: skip
    held = held.join(terms, on=["part", "code"], how="left", maintain_order="left")
    row, term = (held[name].to_numpy().astype(np.int64) for name in ("row", "term"))
    return Counts(row, term, held["tf"].to_numpy().astype(np.float64), terms, parts)


def bm25(counts: Counts, k1: Floats, b: Floats) -> Sparse:
    """Return BM25 weights; k1 and b are each part's."""
    part = counts.parts[counts.row]
    length = np.bincount(counts.row, weights=counts.tf, minlength=len(counts.parts))
    mean = mean_lengths(length, counts.parts)
    df = counts.terms["df"].to_numpy().astype(np.float64)[counts.term]
    weight = idf(df, counts.sizes[part]) * saturation(
        counts.tf, length[counts.row] / mean[part], k1[part], b[part]
    )
    shape = (counts.terms.height, len(counts.parts))
    return Sparse(sparse(weight, counts.term, counts.row, shape), counts.terms)


def idf(df: Floats, n: Floats) -> Floats:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5))."""
    return np.asarray(np.log1p((n - df + 0.5) / (df + 0.5)))


def saturation(tf: Floats, relative: Floats, k1: Floats, b: Floats) -> Floats:
    """Return tf / (tf + k1 * (1 - b + b * relative)); `relative` is the length over the mean."""
    return np.asarray(tf / (tf + k1 * (1 - b + b * relative)))


def mean_lengths(length: Any, parts: Ints) -> Floats:
    """Return each part's mean document length, never 0."""
    sizes = np.bincount(parts)
    totals = np.bincount(parts, weights=length, minlength=len(sizes))
    return np.asarray(np.maximum(totals, 1e-9) / np.maximum(sizes, 1))


def sparse(values: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    """Return a compressed sparse matrix of single precision."""
    from scipy.sparse import csr_array

    coordinates = (np.asarray(rows, dtype=np.int32), np.asarray(columns, dtype=np.int32))
    return csr_array((np.asarray(values, dtype=np.float32), coordinates), shape=shape)
