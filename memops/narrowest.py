"""Narrowest entries: which entry of a policy table by kind, category and scope counts for a record.

An entry is named by a kind (`fact`) or by the category that the agent gave (`category:daily`),
and may be for one scope (`work/fact`, `work/category:daily`).
"""

from collections.abc import Iterable

import polars as pl


def narrowest(names: Iterable[str], categories: bool = True) -> pl.Expr:
    """Return the name of a record's narrowest entry, null for none.

    One for its scope counts before one for all, then one for its category before one for its kind.
    Without `categories` only what is named by kind counts.
    """
    known = [*names]
    own = pl.col("extra").str.json_path_match("$.category") if categories else None
    bare = [pl.col("kind")]
    if own is not None and any("category:" in name for name in known):
        bare.insert(0, pl.format("category:{}", own))
    scoped = [pl.format("{}/{}", "scope", name) for name in bare if any("/" in n for n in known)]
    listed = [*scoped, *bare]
    return pl.coalesce(pl.when(name.is_in(known)).then(name) for name in listed)
