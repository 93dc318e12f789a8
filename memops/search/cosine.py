"""TF-IDF cosine: what ranks short Chinese texts by character n-grams better than BM25 does."""

import numpy as np
import polars as pl

from memops.search.bm25 import Counts, Floats, Sparse


def cosine(counts: Counts) -> Sparse:
    """Return weights (1 + ln tf) * idf over each document's norm, idf = ln((1 + N) / (1 + df)) + 1.

    A query's terms bear idf too, so that what both share counts by its square. The query's own
    norm, which moves no rank, is left out.
    """
    part = counts.terms["part"].to_numpy()
    df = counts.terms["df"].to_numpy().astype(np.float64)
    weights: Floats = np.log((1 + counts.sizes[part]) / (1 + df)) + 1
    values = (1 + np.log(counts.matrix.data.astype(np.float64))) * counts.each(weights)
    norm = np.sqrt(np.bincount(counts.row, weights=values**2, minlength=len(counts.parts)))
    return Sparse(
        counts.weighted(values / norm[counts.row]),
        counts.terms.with_columns(factor=pl.Series(weights)),
    )


def by_part(first: Sparse, second: Sparse, chosen: Floats) -> Sparse:
    """Return the first's weights in parts whose choice is 1 and the second's where it is 0."""
    from scipy.sparse import diags_array

    take = chosen[first.terms["part"].to_numpy()]
    weights = diags_array(take) @ first.weights + diags_array(1 - take) @ second.weights
    factor = first.terms["factor"].to_numpy() * take + second.terms["factor"].to_numpy() * (
        1 - take
    )
    return Sparse(
        weights.tocsr().astype(np.float32), first.terms.with_columns(factor=pl.Series(factor))
    )
