"""Vetoes: differences for which nobody's word merges two statements, or replaces one by the other.

They stand above every decider. Each names a difference in what the texts state, not in how they
are worded: a value of one kind, a numbered thing, exchanged roles, a sign, an opposite.
"""

import polars as pl

from memops.judge.judgement import same

c = pl.col
_ALIKE = 0.7
"""Share of content words that both texts hold, from which a denial or an order makes the difference."""


def veto_same() -> pl.Expr:
    """Return why two statements are never merged, or null.

    Of duplicates that strangers wrote (`evals/pairs/themes`) these refuse 24, 2, 11, 5 and 4 in a
    thousand. A sign, or things that changed places, tell apart what is else worded alike: in other
    words the same is often said by a double denial, or from the other side.
    """
    # Who denies one of two opposites says the other; so does who tells it from the other side.
    flipped = (c("opposites") > 0) & ((c("sign_differs") > 0) | (c("swapped") > 0))
    alike = c("contained") / (1 + 1 / c("length") - c("contained")) >= _ALIKE
    return (
        pl.when(c("values_differ") > 0).then(pl.lit("value"))
        .when(c("numbered_differ") > 0).then(pl.lit("numbered"))
        .when((c("swapped") > 0) & ~flipped & alike).then(pl.lit("roles"))
        .when((c("sign_differs") > 0) & ~flipped & alike & (c("restated") == 0)).then(pl.lit("sign"))
        .when((c("opposites") > 0) & ~flipped & (c("restated") == 0)).then(pl.lit("opposite"))
    )  # fmt: skip


def veto_conflict() -> pl.Expr:
    """Return why neither of two statements replaces the other, or null."""
    return (
        pl.when(c("numbered_differ") > 0).then(pl.lit("numbered"))
        .when(same()).then(pl.lit("same"))
    )  # fmt: skip
