"""Opposing: why two statements cannot both hold, cause by cause.

Expressions over the columns of `statements.readings.differences`, as in `judgement`.
"""

import polars as pl

from memops.judge.judgement import (
    about_one_thing,
    each,
    lasting,
    neither,
    of_one_slot,
    turned,
    twins,
)

c = pl.col
_EVEN = c("sign_differs") == 0  # both affirm, or both deny
_NO_VALUE = c("values_differ") == 0


def opposes() -> pl.Expr:
    """Return why the two cannot both hold, or null.

    value: another value of one attribute, or another thing that one subject is; opposite: words
    that exclude each other; excluded: states that do, whatever else is said; denied: one denies
    the other; replaced: one names what it takes the place of; changed: one says that something
    changed, and where it did they differ.
    """
    agree = about_one_thing()
    slot = _NO_VALUE | of_one_slot()
    placed = neither("circumstances") & (c("numbered_differ") == 0)
    alike = placed & neither("owner")
    return (
        pl.when(agree & lasting() & ~twins() & (_valued() | _filled())).then(pl.lit("value"))
        .when((alike | _within_name()) & lasting() & slot & _equated()).then(pl.lit("value"))
        .when(agree & _opposite()).then(pl.lit("opposite"))
        .when(neither("owner") & _excluded()).then(pl.lit("excluded"))
        .when(alike & _denied()).then(pl.lit("denied"))
        .when(placed & _replaced()).then(pl.lit("replaced"))
        .when(_kinds() & slot & ((agree & _changed()) | (alike & _realigned()))).then(pl.lit("changed"))
        .when(alike & _ended()).then(pl.lit("denied"))
    )  # fmt: skip


def _valued() -> pl.Expr:
    """Each holds a value of one kind, and they differ.

    Neither says more: entries of a series (another day, and what was counted then) both hold.
    """
    wanted = (c("must_one") > 0) & (c("measured_same") > 0)  # weighs, should weigh
    one = (c("anchors_same") >= 1) & ~_NO_VALUE & each("current") & _EVEN
    return one & of_one_slot() & ~wanted


def _filled() -> pl.Expr:
    """Of one subject each fills the one place in which they differ.

    It can be filled by one thing at a time only: everybody has one of what it tells (a home, a
    name), or one of the two tells of a change.
    """
    gap = c("gap_a").is_between(1, 2) & c("gap_b").is_between(1, 2) & (c("begin") >= 1)
    one = pl.max_horizontal("gap_a", "gap_b") == 1
    known = (c("anchors_same") >= 1) & ((c("subject_same") >= 1) | (neither("subject") & one))
    worded = pl.min_horizontal("kinds_a", "kinds_b") == 0
    return (
        _NO_VALUE
        & ((c("sole_same") >= 1) | turned())
        & known
        & each("current")
        & gap
        & worded
        & _of_one_head()
        & _EVEN
    )


def _equated() -> pl.Expr:
    """One subject is said to be two things.

    It may well be both (free on Sundays, and closed on Mondays), unless one tells of a change, or
    each gives the one attribute of something its name. Where both say that it is the same, they differ
    in something else that they say.
    """
    one = (c("subject_same") >= 1) & neither("subject") & each("complement")
    elsewhere = neither("equal") & (c("equal_same") >= 1)
    told = pl.max_horizontal("kinds_a", "kinds_b", "known_a", "known_b") > 0
    named = ((c("subject_same") >= 2) | ~told) & (_kinds() | (c("end") == 0))
    return (
        one
        & ~elsewhere
        & (named | turned())
        & _of_one_head()
        & (c("copular_a") > 0)
        & (c("copular_b") > 0)
        & _EVEN
    )


def _within_name() -> pl.Expr:
    """What would tell of a place or a time is part of the name that an attribute has: West End."""
    tied = (c("relators_differ") == 0) & (c("governed_differs") <= 0) & (c("opposites") == 0)
    one = (c("subject_same") >= 2) & (c("complement_same") == 0) & (c("numbered_differ") == 0)
    return one & tied & neither("owner")


def _of_one_head() -> pl.Expr:
    """Neither says a word more before the relation, unless something changed: the wifi at the cabin."""
    return (c("head_a") == c("head_b")) | turned()


def _opposite() -> pl.Expr:
    """Of one attribute words are said that exclude each other.

    Words that tell apart what is spoken of (the upstairs tap, a downstairs tap) exclude nothing.
    """
    one = (c("begin") >= 1) | turned()
    return (c("anchors_same") >= 1) & (c("opposites") >= 1) & one & _EVEN & _NO_VALUE


def _excluded() -> pl.Expr:
    """Of one subject states are said that exclude each other whatever else is said."""
    one = ((c("subject_same") >= 1) | ~each("subject")) & (c("numbered_differ") == 0)
    return (c("exclusive_states") >= 1) & one & _EVEN


def _denied() -> pl.Expr:
    """All that the denying side says of content is in the other, widened to kinds, which denies nothing.

    One word alone says of nothing what is denied: "No errors" is no word on an error count. Who
    denies that it is open says that it is closed.
    """
    whole = pl.any_horizontal(
        (c(f"negations_{one}") % 2 == 1) & (c(f"wide_{one}") == 0) & (c(f"negations_{other}") == 0)
        for one, other in ("ab", "ba")
    )
    told = (c("both_content") >= 2) & (c("opposites") == 0)
    return whole & told & _of_it_all() & ~_EVEN & _NO_VALUE


def _of_it_all() -> pl.Expr:
    """What one denies the other says of the same thing: not of the car stereo, nor only at Christmas.

    What took place and what was stopped are two things that happened, unless both are said to be a change.
    """
    happened = (c("past") == 2) & ~each("change")
    return (c("compounded") == 0) & (c("only_one") == 0) & ~happened


def _replaced() -> pl.Expr:
    """One names what it leaves behind, and the other says of that at most one thing more."""
    left = pl.any_horizontal(
        (c(f"change_{new}") > 0) & (c(f"left_{new}") >= 1) & (c(f"wide_{old}") <= 1)
        for old, new in ("ab", "ba")
    )
    each_its_own = each("left", "subject") | (c("left_same") >= 1)
    return _EVEN & left & ~each_its_own & (c("both_content") >= 2)


def _kinds() -> pl.Expr:
    """Both give values of a kind of their own, or neither does."""
    return (c("kinds_a") > 0) == (c("kinds_b") > 0)


def _changed() -> pl.Expr:
    """Of one subject one says that something changed, and nothing that they say of it is shared."""
    subject = (c("subject_same") >= 1) & neither("subject", "attributes") & (c("begin") >= 1)
    return turned() & _EVEN & subject & each("complement") & (c("complement_same") == 0)


def _realigned() -> pl.Expr:
    """One says that something changed, and they differ in one place of a word or two.

    That is no place of what they speak of, unless the words before it leave no doubt.
    """
    gap = (pl.min_horizontal("gap_a", "gap_b") == 1) & (pl.max_horizontal("gap_a", "gap_b") <= 2)
    told = (pl.min_horizontal("head_a", "head_b") == 0) | (c("begin") >= 3)
    return turned() & _EVEN & gap & told & (c("begin") >= 1) & (c("begin") + c("end") >= 2)


def _ended() -> pl.Expr:
    """One says that what the other says is no longer so, and denies nothing else.

    Neither names what was left: who moved from there no longer uses it.
    """
    told = pl.any_horizontal(
        (c(f"refused_{one}") >= 1) & (c(f"refused_else_{one}") == 0) & (c(f"refused_{other}") == 0)
        for one, other in ("ab", "ba")
    )
    return turned() & _of_it_all() & ~_EVEN & _NO_VALUE & told & neither("left")
