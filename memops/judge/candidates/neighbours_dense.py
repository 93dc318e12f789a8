"""Dense neighbours: for each statement the nearest of its scope by the vectors of an encoder.

Vectors are rounded to whole numbers so small that 32-bit floats hold every sum of their products:
what is near then depends neither on the order of sums, nor on threads or parts.
"""

from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.models.nearest import approximate, nearest
from memops.policy.models import Dense

Array = Any
NEAR = pl.Schema({"a": pl.UInt32(), "b": pl.UInt32(), "cosine": pl.Float64()})
"""Pairs of statements, a < b, with the cosine of their vectors."""
RECALL = "dense recall"
"""Where the context keeps the least recall that was measured of a scope searched by cells."""
_UNIT = 4000  # the length of a vector; 4000 * 4000 < 2 ** 24, below which floats are exact


def dense_neighbours(table: pl.DataFrame, ctx: Context) -> pl.DataFrame | None:
    """Return the pairs of statements (statement, scope, text) that the models of a night bring together.

    None where the policy names none. Of each statement the nearest `dense.nearest` of its scope
    that reach `dense.cosine`; for a judge also all pairs of a scope in which each statement has no
    more others than it is asked about (`judge.nearest`), whatever words they share.
    """
    encode, limits = ctx.models.encode, ctx.policy.dense
    few = ctx.policy.judge.nearest + 1 if ctx.models.judge is not None else 0
    if encode is None:
        return _of_few(table, few) if few else None

    def gridded(texts: list[str]) -> pl.DataFrame:
        whole = np.rint(np.asarray(encode(texts)) * _UNIT).astype(np.int16)
        kind = pl.Array(pl.Int16, whole.shape[1])
        return pl.DataFrame({"text": texts, "vector": pl.Series(whole, dtype=kind)})

    found = [NEAR.to_frame()]
    if table.height > 1:
        vectors = ctx.of_texts("dense", table["text"], gridded)["vector"]
        sizes = table.group_by("scope", maintain_order=True).len()["len"].to_list()
        ends = np.cumsum(sizes)
        for start, end in zip(ends - sizes, ends, strict=True):
            if end - start > 1:
                grid = vectors[int(start) : int(end)].to_numpy().astype(np.float32)
                found.append(_within(grid, table["statement"][int(start) : int(end)], limits, ctx))
    if few:
        found.append(_of_few(table, few))
    return pl.concat(found).unique(["a", "b"], keep="first").sort("a", "b")


def _of_few(table: pl.DataFrame, few: int) -> pl.DataFrame:
    """All pairs of the scopes that hold no more than a few statements."""
    small = table.filter(pl.len().over("scope") <= few).select("scope", a="statement")
    both = small.join(small.rename({"a": "b"}), on="scope").filter(pl.col("a") < pl.col("b"))
    return both.select("a", "b", cosine=0.0).cast(NEAR).sort("a", "b")


def _within(grid: Array, statement: pl.Series, limits: Dense, ctx: Context) -> pl.DataFrame:
    """The near pairs of one scope."""
    most = min(limits.nearest + 1, len(grid))
    if len(grid) <= limits.exact:
        rows, product = nearest(grid, grid, most)
    else:
        index = approximate(grid, limits.recall, whole=True)
        ctx.cache[RECALL] = min(index.recall, ctx.once(RECALL, lambda: 1.0))
        rows, product = index.nearest(grid, most)
    cosine = product / _UNIT**2
    own = np.broadcast_to(np.arange(len(grid))[:, None], rows.shape)
    keep = (rows >= 0) & (rows != own) & (cosine >= limits.cosine)
    a, b = (statement.to_numpy()[at[keep]] for at in (own, rows))
    pairs = {"a": np.minimum(a, b), "b": np.maximum(a, b), "cosine": np.minimum(cosine[keep], 1)}
    return pl.DataFrame(pairs).cast(NEAR).unique(["a", "b"])


def measured(ctx: Context) -> dict[str, Any]:
    """Return what the context's models depend on, with the least recall that was measured."""
    said = {name: dict(recipe) for name, recipe in ctx.models.recipes.items()}
    if "encoder" in said and RECALL in ctx.cache:
        said["encoder"]["recall"] = ctx.cache[RECALL]
    return said
