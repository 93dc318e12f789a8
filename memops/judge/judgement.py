"""Judgement: when two statements are about one thing, say the same of it, or cannot both hold.

Expressions over the columns of `statements.readings.differences`. A person can follow each: the
columns count words of the two texts. Written for stores, where a wrong merge destroys a fact:
what is not sure is left alone.
"""

import polars as pl

from memops.statements.readings import CLAIMS

c = pl.col


def neither(*names: str) -> pl.Expr:
    """True when the features count nothing on either side."""
    return pl.all_horizontal(c(f"{name}_{side}") == 0 for name in names for side in "ab")


def each(*names: str) -> pl.Expr:
    """True when the features count something on both sides."""
    return pl.all_horizontal(c(f"{name}_{side}") >= 1 for name in names for side in "ab")


def turned() -> pl.Expr:
    """True when one of the two says that something changed, and the other does not."""
    return (c("change_a") > 0) != (c("change_b") > 0)


def about_one_thing() -> pl.Expr:
    """True when owner and circumstances agree and no attribute stands against another."""
    attributes = pl.min_horizontal("about_a", "about_b") == 0
    return neither("owner", "circumstances", "roles") & attributes & (c("numbered_differ") == 0)


def contrasted() -> pl.Expr:
    """True when the subjects share a head, each has a word of its own, and so has what is said.

    "The sensor at berth 3 ..." and "the sensor at berth 7 ..." speak of two sensors, unless one
    of them says that something changed.
    """
    still = neither("shift_strong")
    strangers = (c("begin") == 0) & each("subject") & (still | (c("subject_same") >= 1))
    return each("head", "tail") & (((c("head_shared") >= 1) & still) | strangers)


def twins() -> pl.Expr:
    """True when the same is said of two things that a value tells apart: notes of two days."""
    said = (c("both_content") > c("head_shared")) & (c("begin") >= 1) & (c("end") >= 1)
    return each("head", "equates") & neither("solid") & said & ~turned()


def narrowed() -> pl.Expr:
    """True when one speaks of a narrower subject: the login interface and the interface."""
    return pl.any_horizontal(
        (c(f"attributes_{side}") >= 1) & (c(f"subject_{side}") >= 1) for side in "ab"
    )


def asserted(side: str) -> pl.Expr:
    """True when the statement of that side says how things are: no history, wish, quote or task."""
    return pl.all_horizontal(c(f"{mark}_{side}") == 0 for mark in CLAIMS)


def same() -> pl.Expr:
    """True when both say the same: one thing, every value and name in both, the same sign.

    A word of what is over, or of what must be, stands in both; not each has known words of its own.
    """
    near = (
        (c("attributes_same") >= 1)
        & (c("attributes_a") + c("attributes_b") <= 1)
        & (c("weighted") >= 0.5)
    )
    telling = (
        (c("current_same") >= 1) & (c("anchors_same") >= 1) & (c("attributes_a") <= 1) & (c("attributes_b") <= 1)
        & (c("weighted") >= 0.3)
    )  # fmt: skip
    kept = (c("begin") + c("end") >= 1) | (c("subject_same") >= 1) | (c("owner_same") < 2)
    near = about_one_thing() & (c("alone") == 0) & (near | telling)
    spared = (c("may_one") > 0) & (c("negations_a") % 2 == 1)  # need not, and must not
    apart = other_words() | ~neither("endings") | (c("opposed") + c("must_one") > 0) | spared
    return unaltered() & kept & ~apart & (near | _word_for_word())


def other_words() -> pl.Expr:
    """True when each says a thing of its own in words whose meaning is known: raised, and renamed."""
    return pl.any_horizontal(
        (c(f"telling_{one}") >= 1) & (c(f"known_{other}") >= 1) for one, other in ("ab", "ba")
    )


def unaltered() -> pl.Expr:
    """True when no value, name, sign or quantifier stands in one alone, nor what is replaced.

    Nor have two names, values or things changed places: who reports to whom; nor is another word
    of relation between the same words, or the same words under others: under it, and in it.
    """
    values = neither("current")
    unturned = (c("was_a") == 0) & (c("was_b") == 0)
    alike = (c("contained") == 1) & (c("length") == 1)
    tied = (c("retied") <= 0) & ~(alike & (c("reruled") > 0))
    return values & (c("odd") == 0) & ~_quantified() & unturned & (c("exchanged") == 0) & tied


def _quantified() -> pl.Expr:
    """True when a quantifier stands in one alone: all of them, and some."""
    return (c("all_one") + c("none_one") + c("some_one") + c("only_one")) > 0


def told_apart() -> pl.Expr:
    """True when something in the two could be a conflict. What is merely alike is none.

    A value, a sign, a quantifier, an opposite, what is replaced, a word of change, or names,
    values or things that have changed places.
    """
    stands = (
        "values_differ", "kinds_apart", "odd", "all_one", "none_one", "some_one", "only_one",
        "opposed", "alone", "was_a", "was_b", "exchanged", "shift_strong_one",
    )  # fmt: skip
    return pl.any_horizontal(c(name) > 0 for name in stands)


def _word_for_word() -> pl.Expr:
    """True when the two, laid side by side, differ in nothing but how they are put together."""
    whole = (c("gap_a") == 0) & (c("gap_b") == 0) & (c("begin") >= 2)
    owner = (c("owner_a") == 0) & (c("owner_b") == 0)
    return whole & owner & (c("numbered_differ") == 0) & (c("change_a") == c("change_b"))


def newer() -> pl.Expr:
    """Return which side says that it is the later: by what it replaces, then by words of change."""
    one, two = (
        c(f"shift_strong_{side}").clip(0, 1) + 2 * c(f"was_{side}").clip(0, 1) for side in "ab"
    )
    return pl.when(two > one).then(pl.lit("b")).when(one > two).then(pl.lit("a"))
