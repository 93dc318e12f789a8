"""Dense neighbours: for each statement the nearest of its scope by the vectors of an encoder.

Vectors are rounded to whole numbers so small that 32-bit floats hold every sum of their products:
what is near then depends neither on the order of sums, nor on threads or parts.

An encoder of many languages places texts first by language, then by what they say: of other
languages the nearest are looked for by vectors from which the mean of each language is taken off.
"""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.language.text import language
from memops.models.nearest import approximate, nearest

Array = Any
NEAR = pl.Schema({"a": pl.UInt32(), "b": pl.UInt32(), "cosine": pl.Float64()})
"""Pairs of statements, a < b, with the cosine of their vectors."""
RECALL = "dense recall"
"""Where the context keeps the least recall that was measured of a scope searched by cells."""
_FEW = 10  # texts of a language that its mean is told by no more than by none
_AT_ONCE = 20_000  # pairs whose vectors are held at a time
_UNIT = 4000  # the length of a vector; 4000 * 4000 < 2 ** 24, below which floats are exact


def dense_neighbours(table: pl.DataFrame, ctx: Context) -> pl.DataFrame | None:
    """Return the pairs of statements (statement, scope, text) that the models of a night bring together.

    None where the policy names none. Of each statement the nearest `dense.nearest` of its scope,
    and as many of each other language, that reach `dense.cosine`; for a judge also all pairs of a
    scope in which each statement has no more others than it is asked about (`judge.nearest`),
    whatever words they share.
    """
    encode = ctx.models.encode
    few = ctx.policy.judge.nearest + 1 if ctx.models.judge is not None else 0
    if encode is None:
        return _of_few(table, few) if few else None

    found = [NEAR.to_frame()]
    if table.height > 1:
        vectors = _vectors(table["text"], ctx)
        spoken = table.select(language(pl.col("text")).rank("dense") - 1).to_series().to_numpy()
        shifts = _shifts(vectors, spoken)
        sizes = table.group_by("scope", maintain_order=True).len()["len"].to_list()
        for end, size in zip(np.cumsum(sizes), sizes, strict=True):
            here = slice(int(end - size), int(end))
            grid = vectors[here].to_numpy().astype(np.float32)
            found += _within(grid, spoken[here], shifts, table["statement"][here].to_numpy(), ctx)
    if few:
        found.append(_of_few(table, few))
    return pl.concat(found).group_by("a", "b").agg(pl.max("cosine")).sort("a", "b")


def _vectors(texts: pl.Series, ctx: Context) -> pl.Series:
    """The vectors of texts in whole numbers, each text encoded once in the life of the context."""
    encode = ctx.models.encode
    assert encode is not None

    def gridded(new: pl.Series) -> pl.DataFrame:
        whole = np.rint(np.asarray(encode(new.to_list())) * _UNIT).astype(np.int16)
        kind = pl.Array(pl.Int16, whole.shape[1])
        return new.to_frame().with_columns(vector=pl.Series(whole, dtype=kind))

    known, at = ctx.of_texts("dense", texts, gridded)
    return known["vector"].gather(at)


def cosines(texts: pl.Series, one: Array, two: Array, ctx: Context) -> Array:
    """Return how near the encoder of the context places pairs of texts (places one and two)."""
    vectors, out = _vectors(texts, ctx).to_numpy(), np.empty(len(one))
    for start in range(0, len(one), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        sides = (vectors[at[some]].astype(np.float32) for at in (one, two))
        out[some] = np.einsum("ij,ij->i", *sides) / _UNIT**2
    return out


def _shifts(vectors: pl.Series, spoken: Array) -> Array:
    """What takes the vectors of each language to where those of all lie."""
    of = [vectors.filter(pl.Series(spoken == code)).to_numpy() for code in range(spoken.max() + 1)]
    means = np.array([held.sum(axis=0, dtype=np.int64) / (len(held) + _FEW) for held in of])
    return means.mean(axis=0) - means


def _of_few(table: pl.DataFrame, few: int) -> pl.DataFrame:
    """All pairs of the scopes that hold no more than a few statements."""
    small = table.filter(pl.len().over("scope") <= few).select("scope", a="statement")
    both = small.join(small.rename({"a": "b"}), on="scope").filter(pl.col("a") < pl.col("b"))
    return both.select("a", "b", cosine=0.0).cast(NEAR).sort("a", "b")


def _within(
    grid: Array, spoken: Array, shifts: Array, statement: Array, ctx: Context
) -> Iterator[pl.DataFrame]:
    """Yield the near pairs of one scope, then those of each two of its languages."""
    whole = np.arange(len(grid))
    yield _near(grid, whole, whole, statement, ctx)
    rows = [whole[spoken == code] for code in np.unique(spoken)]
    if len(rows) > 1:
        moved = grid + shifts[spoken]
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        level = np.rint(moved * (_UNIT / np.maximum(length, 1))).astype(np.float32)
        for own, others in permutations(rows, 2):
            yield _near(level, own, others, statement, ctx)


def _near(grid: Array, own: Array, others: Array, statement: Array, ctx: Context) -> pl.DataFrame:
    """The pairs of rows and the nearest of the others."""
    limits, asked, held = ctx.policy.dense, grid[own], grid[others]
    most = min(limits.nearest + (own is others), len(held))
    if len(held) <= limits.exact:
        found, product = nearest(held, asked, most)
    else:
        index = approximate(held, limits.recall, whole=True)
        ctx.cache[RECALL] = min(index.recall, ctx.once(RECALL, lambda: 1.0))
        found, product = index.nearest(asked, most)
    cosine = product / _UNIT**2
    one, two = np.broadcast_to(own[:, None], found.shape), others[found]
    keep = (found >= 0) & (one != two) & (cosine >= limits.cosine)
    a, b = (statement[at[keep]] for at in (one, two))
    pairs = {"a": np.minimum(a, b), "b": np.maximum(a, b), "cosine": np.minimum(cosine[keep], 1)}
    return pl.DataFrame(pairs).cast(NEAR).unique(["a", "b"])


def measured(ctx: Context) -> dict[str, Any]:
    """Return what the context's models depend on, with the least recall that was measured."""
    said = {name: dict(recipe) for name, recipe in ctx.models.recipes.items()}
    if "encoder" in said and RECALL in ctx.cache:
        said["encoder"]["recall"] = ctx.cache[RECALL]
    return said
