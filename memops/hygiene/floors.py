"""Floors: the fewest live records of a group that unattended curation leaves, and how they count.

A group of a scope is a kind, or the category that the agent gave where a floor is set for that.
A task has an end, so it fills no floor and none keeps it.
"""

from collections.abc import Iterable

import polars as pl

from memops.hygiene.tasks import is_task
from memops.policy.hygiene import Floors
from memops.schema import CATEGORY, LIVE

_FIRST = 1 << 16  # rows of a large table that are looked at before all are


def floored(floors: Floors, category: pl.Expr = CATEGORY) -> tuple[pl.Expr, pl.Expr]:
    """Return the group of its scope that a record counts in, and the floor of that group.

    A group is a kind, or the category of an entry that counts before its kind (`category:daily`).
    `category` tells the category where the rows are no records.
    """
    entry = narrowest(floors.kinds, category)
    floor = entry.replace_strict(floors.kinds, default=floors.default, return_dtype=pl.Int64)
    if any("/" in name for name in floors.kinds):
        entry = entry.str.strip_prefix(pl.format("{}/", "scope"))
    return pl.coalesce(entry, "kind"), floor


def standing(records: pl.DataFrame, floors: Floors) -> pl.DataFrame:
    """Return how many live records fill each floor (scope, kind, live, floor), sorted.

    `kind` is the group: a kind or `category:name`.
    """
    kind, floor = floored(floors)
    live = records.filter(LIVE).filter(~is_task()).with_columns(kind=kind, floor=floor)
    counts = live.group_by("scope", "kind").agg(
        live=pl.len().cast(pl.Int64), floor=pl.col("floor").first()
    )
    return counts.sort("scope", "kind")


def filling(live: pl.DataFrame, going: pl.DataFrame) -> pl.DataFrame:
    """Return how many live records fill the floor of each group (scope, held, live).

    `going` (scope, held, floor) are records that may go. Of a large group no more are counted than
    it takes to say that none of them is held.
    """
    group = ["scope", "held"]
    needed = going.group_by(group).agg(needed=pl.len() + pl.col("floor").max())
    seen = live.head(_FIRST).filter(~is_task()).group_by(group).len("live")
    short = needed.join(seen, on=group, how="left").filter(
        pl.col("live").fill_null(0) < pl.col("needed")
    )
    rest = live.slice(_FIRST).join(short, on=group, how="semi").filter(~is_task())
    both = pl.concat([seen, rest.group_by(group).len("live")])
    return both.group_by(group).agg(pl.sum("live"))


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
