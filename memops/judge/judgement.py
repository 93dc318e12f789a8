"""Judgement: when two statements are about one thing, say the same of it, or cannot both hold.

Expressions over the columns of `statements.readings.differences`. A person can follow each: the
columns count words of the two texts. Written for stores, where a wrong merge destroys a fact:
what is not sure is left alone.
"""

import polars as pl

from memops.statements.readings import CLAIMS, QUANTIFIERS

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
    return neither("owner", "circumstances") & attributes & (c("numbered_differ") == 0)


def twins() -> pl.Expr:
    """True when the same is said of two things that a value tells apart: notes of two days."""
    told = each("subject") | (c("end") >= 1)
    return each("head") & neither("tail") & (c("head_shared") >= 1) & ~turned() & told


def more(side: str) -> pl.Expr:
    """Return how many words that tell something stand in that side alone: not "set", not "time"."""
    return c(f"wide_{side}") - (c(f"known_{side}") - c(f"telling_{side}"))


def of_one_slot() -> pl.Expr:
    """True when around the value in which they differ both say the same.

    Any word more is a difference: the return flight, at night, on Mondays. So are another word of
    relation and a second value, the day of what was counted then, unless one says that it changed;
    then the older may say one word more of its value: lives in, where the other moved to.
    """
    more_a, more_b = (more(side) - c("values_differ") for side in "ab")
    level = (more_a <= 0) & (more_b <= 0)
    alone = (c("values_differ") <= 1) & (c("relation_differs") <= 0)
    instead = pl.any_horizontal(
        (c(f"change_{new}") > 0) & (said <= 0) & (before <= 1) & ~_qualified(old)
        for new, old, said, before in (("a", "b", more_a, more_b), ("b", "a", more_b, more_a))
    )
    return (level & alone) | (turned() & (level | instead))


def _qualified(side: str) -> pl.Expr:
    """True when that side narrows the subject (the login interface), says another kind of value, or ends with more."""
    narrowed = (c(f"attributes_{side}") >= 1) & (c(f"subject_{side}") >= 1)
    return narrowed | (c(f"kinds_{side}") >= 1) | (c(f"ended_{side}") >= 1)


def limited() -> pl.Expr:
    """True when one alone says only, another kind of value or ends with more, or a word of relation differs.

    At weddings only; on Fridays; for the garage; to Chur, and from Chur: both may well hold.
    """
    one = (((c(f"{name}_a") > 0) != (c(f"{name}_b") > 0)) for name in ("kinds", "ended"))
    return pl.any_horizontal(*one, c("relation_differs") > 0, c("only_one") > 0)


def lasting() -> pl.Expr:
    """True when neither tells of the past, or one says that something changed.

    What took place is not what takes place, nor what did at another time: both hold.
    """
    return (c("past") == 0) | turned()


def asserted(side: str) -> pl.Expr:
    """True when the statement of that side says how things are: no history, wish, quote or task."""
    return pl.all_horizontal(c(f"{mark}_{side}") == 0 for mark in CLAIMS)


def recounted() -> pl.Expr:
    """True when both tell in the same words how things were or may be, and neither is a task.

    Who used to do it does it no longer.
    """
    told = ("hypothetical", "quoted", "past_strong")
    supposed, quoted, past = ((c(f"{name}_a") > 0) == (c(f"{name}_b") > 0) for name in told)
    limited = restated() & each("only")  # only if one has a pass, not without a pass
    alike = (supposed | limited) & quoted & (past | restated())
    others = [name for name in CLAIMS if name not in told]
    return alike & neither(*others) & (_word_for_word() | restated()) & same()


def same() -> pl.Expr:
    """True when both say the same: one thing, every value and name in both, the same sign."""
    attributes = (c("attributes_same") >= 1) & (c("attributes_a") + c("attributes_b") == 0)
    translated = (c("scripts_differ") > 0) & (c("contained") >= _TRANSLATED)
    near = about_one_thing() & attributes & (_alike() | translated)
    return ~_at_another_time() & (
        restated()
        | valued()
        | (
            unaltered()
            & ~_of_another()
            & ~other_words()
            & (c("opposites") == 0)
            & _nothing_more()
            & (near | _word_for_word())
        )
    )


def _at_another_time() -> pl.Expr:
    """True when the same words in the same order of one script tell in one alone that something is over."""
    ordered = (c("gap_a") == 0) & (c("gap_b") == 0) & (c("scripts_differ") == 0)
    return ordered & (c("pasts_differ") > 0) & _tensed()


def _tensed() -> pl.Expr:
    """True when a word of each tells a time, as none does of "born in May" and "a fall of 2 %"."""
    return (c("tensed_a") > 0) & (c("tensed_b") > 0)


_TRANSLATED = 0.7
"""Share of the words of a text whose like the other language has, as not all are known."""


def restated() -> pl.Expr:
    """True when both say the same words under the same sign, whatever words make the sign."""
    apart = ("swapped", "counts_differ", "relation_differs", "persons_differ")
    told = ("values_differ", "numbered_differ", "exact_differ", "held_differ")
    held = pl.all_horizontal(c(name) <= 0 for name in (*apart, *told))
    ruled = (c("governed_differs") <= 0) | ~_alike()  # whom he gave it, who gave it to him
    whose = neither("owner") | (c("persons_alone") == 0)
    return (c("restated") >= 1) & held & ruled & whose


_MOVED = (
    "sign_differs", "swapped", "counts_differ", "exact_differ", "held_differ", "denied_differs", "who_differs",
    "persons_differ", "amounts_differ",
)  # fmt: skip
"""What stands in one alone or in the place of another: is denied, is had, does what to whom."""
_FORMED = ("small_differs", "endings_differ")
"""A small word in one alone, and another ending of the same word."""


def valued() -> pl.Expr:
    """True when both say the same values of the same things, in whatever order and by whatever plain verb.

    Beside words for persons the order tells who does what to whom. What took place at a time is not
    what does, nor what may.
    """
    free = [f"{name}_one" for name in (*QUANTIFIERS, "change")]
    apart = (
        "numbered_differ",
        "opposites",
        "measured_differ",
        "order_differ",
        "acted_differs",
        "scopes_differ",
        *free,
    )
    held = pl.all_horizontal(c(name) <= 0 for name in (*_MOVED, *apart))
    told = (c("values_same") >= 1) & (c("gist_same") >= 1) & neither("values", "gist", "ties")
    lone = (c("values_same") > 1) & (c("gist_same") < _PAIR)
    named = lone & (c("governed_differs") > 0)  # the 9:00 call moved to Monday
    supposed = (c("hypothetical_a") > 0) & (c("small_differs") > 0)  # if, even if
    timely = ~((c("past") == 1) & _tensed()) & ~supposed
    return told & held & timely & _denying_alike() & ~named & ~_of_another()


def _nothing_more() -> pl.Expr:
    """True when no word of content or of change stands in one alone: at night; failed."""
    changed = (c("change_one") > 0) & ~neither("known")
    said = pl.max_horizontal(more("a"), more("b")) > 0
    return ~said & ~changed


def _denying_alike() -> pl.Expr:
    """True when both deny something, or neither: not twice in one, and nowhere in the other."""
    denied = ("negations", "refused")
    return pl.all_horizontal((c(f"{name}_a") > 0) == (c(f"{name}_b") > 0) for name in denied)


def _of_another() -> pl.Expr:
    """True when the same words stand under one sign that limits others, or at another time."""
    return (c("same_words") > 0) & (c("restated") == 0)


def other_words() -> pl.Expr:
    """True when each says a thing of its own in words whose meaning is known: raised, and renamed."""
    return pl.any_horizontal(
        (c(f"telling_{one}") >= 1) & (c(f"known_{other}") >= 1) for one, other in ("ab", "ba")
    )


def unaltered() -> pl.Expr:
    """True when no value, name, sign or quantifier stands in one alone.

    Nor have two names, values or things changed places: who reports to whom; nor does, of the same
    words, one stand under another word of relation: under the pot, and in the pot.
    """
    counted = pl.sum_horizontal(f"{name}_one" for name in QUANTIFIERS) == 0
    tied = (c("relation_differs") <= 0) & (c("governed_differs") <= 0)
    held = neither("current") & pl.all_horizontal(c(name) == 0 for name in (*_MOVED, *_FORMED))
    # The dog chased, it was chased by; it is chased by, who chased it.
    acted = (c("acted_differs") > 0) & ((c("first_same") >= 1) | (c("past") == 1))
    gap = pl.max_horizontal("gap_a", "gap_b")
    moved = (pl.min_horizontal("gap_a", "gap_b") > 1) & (c("elsewhere") == 0)
    moved &= (c("scripts_differ") == 0) | (gap > _PAIR)
    moved &= (c("acted_differs") == 0) | (gap > _PAIR + 1)  # it is used by us, we use it
    moved &= (c("values_same") != 1) | (c("both_content") > _PAIR)  # a red car, the car is red
    moved |= c("beyond_differs") > 0
    moved |= c("scopes_differ") > 0  # some guests and all hosts; he did not say, she did not pay
    return held & counted & _denying_alike() & (tied | ~_alike()) & ~acted & ~moved


_PAIR = 2
"""Words of content that stand in the order of their language: one is said of the other."""


def _alike() -> pl.Expr:
    """True when both hold the same content, in whatever order."""
    return (c("contained") == 1) & (c("length") == 1)


def told_apart() -> pl.Expr:
    """True when something in the two could be a conflict. What is merely alike is none.

    A value, a sign, a quantifier, an opposite, a word of change, or names, values or things that
    have changed places.
    """
    ones = [f"{name}_one" for name in ("all", "none", "some", "only")]
    stands = ("values_differ", "sign_differs", *ones, "opposites", "swapped", "change_one")
    return pl.any_horizontal(c(name) > 0 for name in stands)


def _word_for_word() -> pl.Expr:
    """True when the two, laid side by side, differ in nothing but how they are put together.

    One may begin where the other ends. One word and such as say nothing of a subject are a
    statement where it is a value.
    """
    some = (c("begin") >= 2) | (_alike() & (c("kinds_same") >= 1))
    level = (c("gap_a") == 0) & (c("gap_b") == 0)
    whole = (level & some) | ((c("elsewhere") >= 1) & _alike())
    return whole & neither("owner") & (c("numbered_differ") == 0) & (c("change_a") == c("change_b"))


def newer() -> pl.Expr:
    """Return which side alone says that something changed."""
    by_words = pl.when(c("change_a") > 0).then(pl.lit("a")).otherwise(pl.lit("b"))
    return pl.when(turned()).then(by_words)
