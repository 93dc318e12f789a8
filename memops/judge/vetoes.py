"""Vetoes: differences for which nobody's word merges two statements, or replaces one by the other.

They stand above every decider. Each names a difference in what the texts state, not in how they
are worded: a value of one kind, a numbered thing, exchanged roles, a sign, an opposite.
"""

import polars as pl

c = pl.col


def veto_same() -> pl.Expr:
    """Return why two statements are never merged, or null."""
    flipped = (c("odd") > 0) & (c("opposed") > 0)  # who denies one of two opposites says the other
    return (
        pl.when(c("values_differ") > 0).then(pl.lit("value"))
        .when(c("numbered_differ") > 0).then(pl.lit("numbered"))
        .when(c("exchanged") > 0).then(pl.lit("roles"))
        .when((c("odd") > 0) & ~flipped).then(pl.lit("sign"))
        .when((c("opposed") + c("alone") > 0) & ~flipped).then(pl.lit("opposite"))
    )  # fmt: skip


def veto_conflict() -> pl.Expr:
    """Return why neither of two statements replaces the other, or null."""
    return pl.when(c("numbered_differ") > 0).then(pl.lit("numbered"))
