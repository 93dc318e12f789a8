"""BM25 with eager scores: one sparse matrix of term weights, and a whole batch as one product.

score(q, d) = sum over terms of q: idf(t) * tf / (tf + k1 * (1 - b + b * |d| / mean |d|)),
idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)) (Robertson and Zaragoza 2009, as Lucene computes it).
Documents stand in parts (scopes), whose own statistics count, and which a query does not leave.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from memops.models.nearest import Floats, Ints


@dataclass(frozen=True)
class Sparse:
    """Term weights, terms x documents, and the rows' names: term, part, code, df, and a query's `factor`."""

    weights: Any
    terms: pl.DataFrame

    def asked(self, queries: pl.DataFrame, count: int) -> Any:
        """Return the sparse queries x terms matrix of a (row, code, part) table."""
        held = (
            queries.group_by("row", "part", "code").len("tf")
            .join(self.terms, on=["part", "code"], how="inner").sort("row", "term")
            .select("row", "term", value=pl.col("tf") * pl.col("factor"))
        )  # fmt: skip
        return sparse(held["value"], held["row"], held["term"], (count, self.terms.height))


@dataclass(frozen=True)
class Counts:
    """Term counts of documents: a sparse terms x documents matrix, and the terms' table."""

    matrix: Any
    terms: pl.DataFrame
    parts: Ints
    """Each document's part."""

    @property
    def row(self) -> Ints:
        """Return the document of each count."""
        held: Ints = self.matrix.indices
        return held

    @property
    def sizes(self) -> Floats:
        """Return the number of documents of each part."""
        return np.bincount(self.parts).astype(np.float64)

    def each(self, values: Floats) -> Floats:
        """Return a value of each term beside each of its counts."""
        return np.repeat(values, np.diff(self.matrix.indptr))

    def weighted(self, values: Floats) -> Any:
        """Return the matrix with other values, in single precision."""
        from scipy.sparse import csr_array

        held = self.matrix
        data = values.astype(np.float32, copy=False)
        return csr_array((data, held.indices, held.indptr), shape=held.shape)


def counted(documents: pl.DataFrame, parts: Ints) -> Counts:
    """Count a (row, code, id?) table of terms; `parts` gives each document's part, ascending.

    An `id` column, a small number of each code's own, spares the grouping by codes.
    """
    codes, matrix = (_by_id if "id" in documents.columns else _by_code)(documents, len(parts))
    matrix.sum_duplicates()
    # Documents ascend within a term, and parts with them: each part's share of it is one range.
    of = parts[matrix.indices] if len(parts) and parts[-1] else np.zeros(matrix.nnz, np.int8)
    begins = np.zeros(matrix.nnz + 1, dtype=bool)
    begins[1:-1] = of[1:] != of[:-1]
    begins[matrix.indptr[:-1]] = True
    starts = np.flatnonzero(begins[:-1])
    ends = np.append(starts, matrix.nnz)
    term = np.searchsorted(matrix.indptr, starts, side="right") - 1
    table = pl.DataFrame(
        {"code": codes[term], "part": of[starts].astype(np.int64), "df": np.diff(ends)}
    ).with_row_index("term").with_columns(factor=1.0)  # fmt: skip
    return Counts(_compressed(matrix.data, matrix.indices, ends, len(parts)), table, parts)


def _by_id(documents: pl.DataFrame, count: int) -> tuple[Any, Any]:
    """Codes, and the matrix of a table whose codes are numbered: one counting sort."""
    from scipy.sparse import csr_array

    ids, code = documents["id"].to_numpy(), documents["code"].to_numpy()
    codes = np.zeros(int(ids.max()) + 1 if len(ids) else 0, dtype=np.uint64)
    codes[ids] = code
    places = ids.astype(np.int32, copy=False), documents["row"].cast(pl.Int32).to_numpy()
    return codes, csr_array((np.ones(len(ids), np.float32), places), shape=(len(codes), count))


def _by_code(documents: pl.DataFrame, count: int) -> tuple[Any, Any]:
    held = documents.group_by("code").agg(pl.col("row").cast(pl.Int32)).sort("code")
    ends = np.concatenate([[0], np.cumsum(held["row"].list.len().to_numpy(), dtype=np.int64)])
    columns = held["row"].explode(empty_as_null=False).to_numpy()
    data = np.ones(len(columns), np.float32)
    return held["code"].to_numpy(), _compressed(data, columns, ends, count)


def _compressed(data: Any, columns: Any, ends: Any, count: int) -> Any:
    from scipy.sparse import csr_array

    return csr_array((data, columns, ends), shape=(len(ends) - 1, count))


def bm25(counts: Counts, k1: Floats, b: Floats) -> Sparse:
    """Return BM25 weights; k1 and b are each part's."""
    tf, part = counts.matrix.data, counts.terms["part"].to_numpy()
    length = np.bincount(counts.row, weights=tf, minlength=len(counts.parts))
    relative = length / mean_lengths(length, counts.parts)[counts.parts]
    rarity = idf(counts.terms["df"].to_numpy().astype(np.float64), counts.sizes[part])
    of = counts.parts
    # What length adds to a document's every denominator, so that each count needs one division.
    ballast = (k1[of] * (1 - b[of] + b[of] * relative)).astype(np.float32)
    values = counts.each(rarity.astype(np.float32)) * (tf / (tf + ballast[counts.row]))
    return Sparse(counts.weighted(values), counts.terms)


def idf(df: Floats, n: Floats) -> Floats:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5))."""
    return np.asarray(np.log1p((n - df + 0.5) / (df + 0.5)))


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


def cosine(counts: Counts) -> Sparse:
    """Return weights (1 + ln tf) * idf over each document's norm, idf = ln((1 + N) / (1 + df)) + 1."""
    part = counts.terms["part"].to_numpy()
    df = counts.terms["df"].to_numpy().astype(np.float64)
    weights: Floats = np.log((1 + counts.sizes[part]) / (1 + df)) + 1
    values = (1 + np.log(counts.matrix.data.astype(np.float64))) * counts.each(weights)
    norm = np.sqrt(np.bincount(counts.row, weights=values**2, minlength=len(counts.parts)))
    terms = counts.terms.with_columns(factor=pl.Series(weights))
    return Sparse(counts.weighted(values / norm[counts.row]), terms)


def by_part(first: Sparse, second: Sparse, chosen: Floats) -> Sparse:
    """Return the first's weights in parts whose choice is 1 and the second's where it is 0."""
    from scipy.sparse import diags_array

    take = chosen[first.terms["part"].to_numpy()]
    weights = diags_array(take) @ first.weights + diags_array(1 - take) @ second.weights
    one, two = (side.terms["factor"].to_numpy() for side in (first, second))
    terms = first.terms.with_columns(factor=pl.Series(one * take + two * (1 - take)))
    return Sparse(weights.tocsr().astype(np.float32), terms)
