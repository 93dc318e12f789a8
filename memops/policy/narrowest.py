"""Narrowest entries: which entry of a policy table by kind, category and scope counts for a record.

An entry is named by a kind (`fact`) or by the category that the agent gave (`category:daily`),
and may be for one scope (`work/fact`, `work/category:daily`).
"""

from collections.abc import Iterable

import polars as pl

from memops.schema import CATEGORY


def narrowest(names: Iterable[str], category: pl.Expr = CATEGORY) -> pl.Expr:
    """Return the name of a record's narrowest entry, null for none.

    One for its scope counts before one for all, then one for its category before one for its kind.
    `category` tells the category where the rows are no records.
    """
    known = [*names]
    bare = [pl.col("kind")]
    if any("category:" in name for name in known):
        bare.insert(0, pl.format("category:{}", category))
    scoped = [pl.format("{}/{}", "scope", name) for name in bare if any("/" in n for n in known)]
    listed = [*scoped, *bare]
    return pl.coalesce(pl.when(name.is_in(known)).then(name) for name in listed)
