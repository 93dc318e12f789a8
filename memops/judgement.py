"""Judgement: when two statements are about one thing, say the same of it, or cannot both hold.

Expressions over the columns of `memops.readings.differences`. A person can follow each: the
columns count words of the two texts. Written for stores, where a wrong merge destroys a fact:
what is not sure is left alone.
"""

import polars as pl

from memops.readings import CLAIMS

c = pl.col


def about_one_thing() -> pl.Expr:
    """True when owner and circumstances agree and no attribute stands against another."""
    owner = (c("owner_a") == 0) & (c("owner_b") == 0)
    where = (c("circumstances_a") == 0) & (c("circumstances_b") == 0)
    roles = (c("roles_a") == 0) & (c("roles_b") == 0)
    apart = pl.min_horizontal("about_a", "about_b")
    return owner & where & roles & (apart == 0) & (c("numbered_differ") == 0)


def apart() -> pl.Expr:
    """True when the two are of different persons, circumstances or numbered things."""
    owner = (c("owner_a") > 0) & (c("owner_b") > 0)
    where = (c("circumstances_a") > 0) & (c("circumstances_b") > 0)
    return owner | where | (c("numbered_differ") > 0)


def modified() -> pl.Expr:
    """True when each has a modifier of its own, or another relation stands in one place.

    Work email and home email; who knows Rust, and who uses it. Needs whole readings.
    """
    related = (c("relations_one") == 1) & (c("relations_both") == 0) & (c("contained") >= 1)
    related &= c("size_max") == c("size_min")
    return (c("qualifiers_both") > 0) | (related & (c("swapped") >= 1))


def contrasted() -> pl.Expr:
    """True when the subjects share a head, each has a word of its own, and so has what is said.

    "The sensor at berth 3 ..." and "the sensor at berth 7 ..." speak of two sensors, unless one
    of them says that something changed.
    """
    own = (c("head_a") >= 1) & (c("head_b") >= 1)
    said = (c("tail_a") >= 1) & (c("tail_b") >= 1)
    still = c("shift_strong_a") + c("shift_strong_b") == 0
    parted = (c("begin") == 0) & (c("subject_a") >= 1) & (c("subject_b") >= 1)
    strangers = parted & (still | (c("subject_same") >= 1))
    return own & said & (((c("head_shared") >= 1) & still) | strangers)


def twins() -> pl.Expr:
    """True when the same is said of two things that a value tells apart: notes of two days."""
    subjects = (c("head_a") >= 1) & (c("head_b") >= 1) & (c("solid_a") + c("solid_b") == 0)
    said = (c("both_content") > c("head_shared")) & (c("begin") >= 1) & (c("end") >= 1)
    return subjects & said & ~_turned() & (c("equates_a") > 0) & (c("equates_b") > 0)


def narrowed() -> pl.Expr:
    """True when one speaks of a narrower subject: the login interface and the interface."""
    return pl.any_horizontal(
        (c(f"attributes_{side}") >= 1) & (c(f"subject_{side}") >= 1) for side in "ab"
    )


def asserted(side: str) -> pl.Expr:
    """True when the statement of that side says how things are: no history, wish, quote or task."""
    return pl.all_horizontal(c(f"{mark}_{side}") == 0 for mark in CLAIMS)


def same() -> pl.Expr:
    """True when both say the same: one thing, every value and name in both, the same sign."""
    values = (c("current_a") == 0) & (c("current_b") == 0)
    sign = c("odd") == 0
    scope = (c("all_one") + c("none_one") + c("some_one") + c("only_one")) == 0
    near = (
        (c("attributes_same") >= 1)
        & (c("attributes_a") + c("attributes_b") <= 1)
        & (c("weighted") >= 0.5)
    )
    telling = (
        (c("current_same") >= 1) & (c("anchors_same") >= 1) & (c("attributes_a") <= 1) & (c("attributes_b") <= 1)
        & (c("weighted") >= 0.3)
    )  # fmt: skip
    unturned = (c("was_a") == 0) & (c("was_b") == 0)
    kept = (c("begin") + c("end") >= 1) | (c("subject_same") >= 1) | (c("owner_same") < 2)
    near = about_one_thing() & (c("opposed") == 0) & (c("alone") == 0) & (near | telling)
    return values & sign & scope & unturned & kept & (near | _word_for_word())


def _word_for_word() -> pl.Expr:
    """True when the two, laid side by side, differ in nothing but how they are put together."""
    whole = (c("gap_a") == 0) & (c("gap_b") == 0) & (c("begin") >= 2)
    owner = (c("owner_a") == 0) & (c("owner_b") == 0)
    return whole & owner & (c("numbered_differ") == 0) & (c("change_a") == c("change_b"))


def opposes() -> pl.Expr:
    """Return why the two cannot both hold, or null.

    value: another value of one attribute; replaced: one says that it replaces the other's value;
    changed: a change of the same subject; opposite: words that exclude each other; denied: one
    denies the other; excluded: states that exclude each other. Different people who do different
    things in one role do not conflict.
    """
    one = about_one_thing()
    placed = (c("circumstances_same") >= 1) & (c("shapes_same") >= 1)
    anchored = c("anchors_same") >= 1
    typed = (
        (c("values_differ") - c("counters_differ") > 0)
        & (c("held_a") >= 1)
        & (c("held_b") >= 1)
        & (c("odd") == 0)
    )
    related = (c("related_a") > 0) & (c("related_b") > 0) & (c("odd") == 0)
    crossed = (
        (c("subject_same") == 0) & (c("subject_a") >= 1) & (c("subject_b") >= 1)
        & (c("complement_same") <= c("roles_same")) & (c("roles_same") >= 1)
        & (c("complement_a") >= 1) & (c("complement_b") >= 1)
    )  # fmt: skip
    filled = (
        (c("roles_same") >= 1) & (c("complement_same") > c("roles_same")) & (c("odd") == 0)
        & (c("complement_a") + c("complement_b") == 0) & (c("subject_same") == 0)
        & c("open_a").is_between(1, 2) & c("open_b").is_between(1, 2)
        & c("subject_a").is_between(1, 2) & c("subject_b").is_between(1, 2)
    )  # fmt: skip
    known = (c("subject_same") >= 1) | (c("anchors_same") >= 2) | (c("roles_same") >= 1)
    spelt = (c("scripts_apart") == 0) | (c("shift_strong_a") + c("shift_strong_b") > 0)
    named = (
        known
        & ~crossed
        & related
        & spelt
        & c("open_a").is_between(1, 3)
        & c("open_b").is_between(1, 3)
    )
    like = c("values_differ") + c("current_same") + c("kinds_apart") == 0
    turned = pl.any_horizontal(
        (c(f"was_{side}") >= 1) & (c(f"named_{side}") + c(f"becomes_{side}") >= 1) for side in "ab"
    )
    replaced = one & turned & (anchored | (c("attributes_a") + c("attributes_b") <= 2))
    subject = (c("subject_same") >= 1) & (c("subject_a") == 0) & (c("subject_b") == 0)
    whole = (c("complement_same") == 0) & (c("complement_a") >= 1) & (c("complement_b") >= 1)
    owner = (c("owner_a") == 0) & (c("owner_b") == 0)
    where = (c("circumstances_a") == 0) & (c("circumstances_b") == 0)
    strangers = (c("subject_same") == 0) & (c("subject_a") >= 1) & (c("subject_b") >= 1)
    roles = (c("roles_a") == 0) & (c("roles_b") == 0)
    counted = c("numbered_differ") == 0
    changed = (
        counted
        & owner
        & where
        & roles
        & subject
        & whole
        & (c("kinds_apart") == 0)
        & (c("shift_strong_a") != c("shift_strong_b"))
        & ((c("values_differ") == 0) | (pl.min_horizontal("solid_a", "solid_b") == 0))
        & (c("attributes_a") + c("attributes_b") == 0)
    )
    placed_alike = owner & where & roles & counted
    equated = (
        owner & subject & (c("complement_a") >= 1) & (c("complement_b") >= 1) & (c("odd") == 0)
        & (c("copular_a") > 0) & (c("copular_b") > 0) & (c("numbered_differ") == 0)
        & (c("scripts_apart") == 0)
    )  # fmt: skip
    denied = counted & (c("odd") == 1) & (c("values_differ") == 0) & owner & where & _denial()
    preferred = (
        owner & where & counted & (c("choices_same") >= 1) & (c("odd") == 0)
        & (c("subject_a") == 0) & (c("subject_b") == 0)
        & (c("complement_a") == 1) & (c("complement_b") == 1)
    )  # fmt: skip
    return (
        pl.when(replaced).then(pl.lit("replaced"))
        .when(one & (anchored | placed) & typed & ~crossed & ~contrasted() & ~twins() & ~narrowed()).then(pl.lit("value"))
        .when(one & anchored & named & like & ~contrasted() & ~narrowed()).then(pl.lit("value"))
        .when(one & filled).then(pl.lit("value"))
        .when(preferred).then(pl.lit("value"))
        .when(equated & ~contrasted()).then(pl.lit("value"))
        .when(one & anchored & (c("opposed") >= 1) & (c("agreed") == 0) & ~contrasted()).then(pl.lit("opposite"))
        .when(owner & counted & ~strangers & (c("alone") >= 1) & (c("odd") == 0)).then(pl.lit("excluded"))
        .when(denied).then(pl.lit("denied"))
        .when(changed | (placed_alike & _realigned())).then(pl.lit("changed"))
        .when(placed_alike & _ended()).then(pl.lit("denied"))
        .when(where & counted & _handed()).then(pl.lit("replaced"))
    )  # fmt: skip


def _turned() -> pl.Expr:
    """True when one of the two says that something changed, and the other does not."""
    return (c("change_a") > 0) != (c("change_b") > 0)


def _realigned() -> pl.Expr:
    """True when one says that something changed, and they differ in one place after the subject.

    In that place stand two values of one kind and nothing else, or two names or things that the
    words before and after leave no doubt about.
    """
    gaps = c("gap_a").is_between(1, 2) & c("gap_b").is_between(1, 2) & (c("begin") >= 1)
    solid = c("solid_a") + c("solid_b")
    typed = (c("values_differ") == 1) & (solid <= 1)
    typed |= (solid == 0) & (c("gap_a") == 1) & (c("gap_b") == 1) & (c("begin") >= 2)
    known = (c("values_one") == 0) | ((c("open_a") == 1) & (c("open_b") == 1))
    named = (c("values_differ") == 0) & known & (c("begin") + c("end") >= 2)
    named &= pl.min_horizontal("head_a", "head_b") == 0
    return _turned() & (c("odd") == 0) & gaps & (typed | named)


def _ended() -> pl.Expr:
    """True when one says that what the other says is no longer so, and denies nothing else."""
    return _turned() & (c("odd") == 1) & (c("values_differ") == 0) & pl.any_horizontal(
        ((c(f"solid_{own}") == 0) & (c(f"refused_{other}") >= 1) | (c(f"refused_{other}") >= 2))
        & (c(f"refused_else_{other}") == 0) & (c(f"refused_{own}") == 0)
        for own, other in ("ab", "ba")
    )  # fmt: skip


def _handed() -> pl.Expr:
    """True when one names whom it takes something over from, and the other says that they had it."""
    left = pl.any_horizontal(
        (c(f"left_{side}") >= 1) & ((c("complement_same") >= 2) | (c(f"becomes_{side}") >= 1))
        for side in "ab"
    )
    known = (c("complement_same") >= 2) | ((c("begin") >= 1) & (c("subject_same") >= 1))
    return _turned() & (c("odd") == 0) & left & known


def newer() -> pl.Expr:
    """Return which side says that it is the later: by what it replaces, then by words of change."""
    one, two = (
        c(f"shift_strong_{side}").clip(0, 1) + 2 * c(f"was_{side}").clip(0, 1) for side in "ab"
    )
    return pl.when(two > one).then(pl.lit("b")).when(one > two).then(pl.lit("a"))


def _denial() -> pl.Expr:
    """Everything that the denying side says of content is in the other, widened to kinds."""
    return (
        ((c("negations_b") % 2 == 1) & (c("wide_b") == 0))
        | ((c("negations_a") % 2 == 1) & (c("wide_a") == 0))
    ) & (pl.min_horizontal("size_min", "both_content") >= 1)  # fmt: skip
