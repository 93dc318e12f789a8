"""Opposing: why two statements cannot both hold, cause by cause.

Expressions over the columns of `statements.readings.differences`, as in `judgement`.
"""

import polars as pl

from memops.judge.judgement import (
    about_one_thing,
    contrasted,
    each,
    narrowed,
    neither,
    turned,
    twins,
)

c = pl.col
_COUNTED = c("numbered_differ") == 0
_EVEN = c("odd") == 0  # both affirm, or both deny


def opposes() -> pl.Expr:
    """Return why the two cannot both hold, or null.

    value: another value of one attribute; replaced: one says that it replaces the other's value;
    changed: a change of the same subject; opposite: words that exclude each other; denied: one
    denies the other; excluded: states that exclude each other. Different people who do different
    things in one role do not conflict.
    """
    one = about_one_thing()
    anchored = c("anchors_same") >= 1
    told = one & ~contrasted() & ~narrowed()
    alike = neither("owner", "circumstances", "roles") & _COUNTED
    return (
        pl.when(one & _replaced()).then(pl.lit("replaced"))
        .when(neither("owner", "circumstances") & _COUNTED & _outdated()).then(pl.lit("replaced"))
        .when(told & ~twins() & ~_crossed() & _typed()).then(pl.lit("value"))
        .when(told & anchored & ~_crossed() & _named()).then(pl.lit("value"))
        .when((one & _filled()) | _preferred() | (_equated() & ~contrasted())).then(pl.lit("value"))
        .when(one & anchored & _opposite() & ~contrasted()).then(pl.lit("opposite"))
        .when(_excluded()).then(pl.lit("excluded"))
        .when(_denied()).then(pl.lit("denied"))
        .when(alike & (_changed() | _realigned())).then(pl.lit("changed"))
        .when(neither("circumstances") & _COUNTED & _enclosed() & _realigned()).then(pl.lit("changed"))
        .when(neither("owner", "roles") & _COUNTED & _swung()).then(pl.lit("opposite"))
        .when(alike & _ended()).then(pl.lit("denied"))
        .when(neither("circumstances") & _COUNTED & _handed()).then(pl.lit("replaced"))
    )  # fmt: skip


def _replaced() -> pl.Expr:
    """One says that it replaces a value that the other gives."""
    said = pl.any_horizontal(
        (c(f"was_{side}") >= 1) & (c(f"named_{side}") + c(f"becomes_{side}") >= 1) for side in "ab"
    )
    few = c("attributes_a") + c("attributes_b") <= 2
    return said & ((c("anchors_same") >= 1) | few)


def _outdated() -> pl.Expr:
    """One replaces the very thing that the other is about, which names nothing else of its own."""
    return pl.any_horizontal(
        (c(f"was_{new}") >= 1)
        & (c(f"current_{old}") == c(f"was_{new}"))
        & (c(f"becomes_{new}") >= 1)
        & (c(f"open_{old}") == 0)
        for old, new in ("ab", "ba")
    )


def _typed() -> pl.Expr:
    """Each holds a value of one kind, and they differ."""
    placed = (c("circumstances_same") >= 1) & (c("shapes_same") >= 1)
    differ = c("values_differ") - c("counters_differ") > 0
    return ((c("anchors_same") >= 1) | placed) & differ & each("held") & _EVEN


def _crossed() -> pl.Expr:
    """Two people do two things in one role."""
    strangers = (c("subject_same") == 0) & each("subject", "complement")
    return strangers & (c("roles_same") >= 1) & (c("complement_same") <= c("roles_same"))


def _named() -> pl.Expr:
    """Each relates what both speak of to a name or word of its own, in one script or by a change."""
    known = (c("subject_same") >= 1) | (c("anchors_same") >= 2) | (c("roles_same") >= 1)
    related = (c("related_a") > 0) & (c("related_b") > 0) & _EVEN
    spelt = (c("scripts_apart") == 0) | ~neither("shift_strong")
    own = c("open_a").is_between(1, 3) & c("open_b").is_between(1, 3)
    return (
        known
        & related
        & spelt
        & own
        & (c("values_differ") + c("current_same") + c("kinds_apart") == 0)
    )


def _filled() -> pl.Expr:
    """Two people fill one role for the same."""
    one = (c("roles_same") >= 1) & (c("complement_same") > c("roles_same")) & _EVEN
    people = pl.all_horizontal(
        c(f"{name}_{side}").is_between(1, 2) for name in ("open", "subject") for side in "ab"
    )
    return one & neither("complement") & (c("subject_same") == 0) & people


def _preferred() -> pl.Expr:
    """Somebody prefers two things of one kind, each to all others."""
    one = (c("complement_a") == 1) & (c("complement_b") == 1) & neither("subject")
    return neither("owner", "circumstances") & _COUNTED & (c("choices_same") >= 1) & _EVEN & one


def _equated() -> pl.Expr:
    """One subject is said to be two things."""
    subject = (c("subject_same") >= 1) & neither("owner", "subject")
    equated = (c("copular_a") > 0) & (c("copular_b") > 0) & (c("scripts_apart") == 0)
    return subject & equated & each("complement") & _EVEN & _COUNTED


def _opposite() -> pl.Expr:
    return (c("opposed") >= 1) & _EVEN


def _excluded() -> pl.Expr:
    """States that exclude each other whatever else is said, of one subject."""
    strangers = (c("subject_same") == 0) & each("subject")
    return neither("owner") & _COUNTED & ~strangers & (c("alone") >= 1) & _EVEN


def _denied() -> pl.Expr:
    """All that the denying side says of content is in the other, widened to kinds.

    One word alone says of nothing what is denied: "No errors" is no word on an error count.
    """
    whole = pl.any_horizontal(
        (c(f"negations_{side}") % 2 == 1) & (c(f"wide_{side}") == 0) for side in "ab"
    ) & (pl.min_horizontal("size_min", "both_content") >= 2)
    whole &= c("opposed") == 0  # who denies that it is open says that it is closed
    return neither("owner", "circumstances") & _COUNTED & ~_EVEN & (c("values_differ") == 0) & whole


def _changed() -> pl.Expr:
    """One subject, of which one says that something changed, and nothing said of it is shared."""
    subject = (c("subject_same") >= 1) & neither("subject", "attributes")
    whole = (c("complement_same") == 0) & each("complement")
    kinds = (c("kinds_apart") == 0) & (c("shift_strong_a") != c("shift_strong_b"))
    slot = (c("values_differ") == 0) | (pl.min_horizontal("solid_a", "solid_b") == 0)
    return subject & whole & kinds & slot


def _realigned() -> pl.Expr:
    """One says that something changed, and they differ in one place after the subject.

    In that place stand two values of one kind and nothing else, or two names or things that the
    words before and after leave no doubt about.
    """
    gaps = c("gap_a").is_between(1, 2) & c("gap_b").is_between(1, 2)
    single = (c("gap_a") == 1) & (c("gap_b") == 1) & (c("begin") >= 2)
    typed = (c("values_differ") == 1) & (c("solid_a") + c("solid_b") <= 1)
    known = (c("values_one") == 0) | ((c("open_a") == 1) & (c("open_b") == 1))
    named = (c("values_differ") == 0) & known & (c("begin") + c("end") >= 2)
    named &= (pl.min_horizontal("head_a", "head_b") == 0) | (c("begin") >= 3)
    begun = c("begin") >= 1
    told = (typed & (begun | (c("end") >= 3))) | (begun & ((single & neither("solid")) | named))
    return turned() & _EVEN & gaps & told


def _swung() -> pl.Expr:
    """One says that something changed, and where the two part stand words that exclude each other."""
    parted = c("gap_a").is_between(0, 1) & c("gap_b").is_between(0, 1) & (c("begin") >= 2)
    return turned() & _EVEN & (c("opposed") >= 1) & (c("values_differ") == 0) & parted


def _enclosed() -> pl.Expr:
    """The place in which they differ, where a person may stand, has the same words on both sides."""
    return (c("begin") >= 1) & (c("end") >= 1) & (c("gap_a") == 1) & (c("gap_b") == 1)


def _ended() -> pl.Expr:
    """One says that what the other says is no longer so, and denies nothing else."""
    told = pl.any_horizontal(
        ((c(f"solid_{own}") == 0) & (c(f"refused_{other}") >= 1) | (c(f"refused_{other}") >= 2))
        & (c(f"refused_else_{other}") == 0) & (c(f"refused_{own}") == 0)
        for own, other in ("ab", "ba")
    )  # fmt: skip
    return turned() & (c("odd") == 1) & (c("values_differ") == 0) & told


def _handed() -> pl.Expr:
    """One names whom it takes something over from, and the other says that they had it."""
    left = pl.any_horizontal(
        (c(f"left_{side}") >= 1) & ((c("complement_same") >= 2) | (c(f"becomes_{side}") >= 1))
        for side in "ab"
    )
    known = (c("complement_same") >= 2) | ((c("begin") >= 1) & (c("subject_same") >= 1))
    return turned() & _EVEN & left & known
