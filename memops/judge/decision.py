"""Decision: the one place where what differs in two texts becomes a verdict.

`decided` is what the rules are sure of, and the vetoes that stand above every decider; `likely`
tells how near a pair is to each of the two verdicts, which orders pairs for a person and decides nothing.
Whoever asks about two texts gets the verdict from here, a bench as well as a night.
"""

from functools import cache

import polars as pl

from memops.judge.judgement import (
    asserted,
    lasting,
    limited,
    newer,
    recounted,
    restated,
    same,
    told_apart,
    valued,
)
from memops.judge.opposing import opposes
from memops.judge.vetoes import veto_conflict, veto_same
from memops.policy import Policy
from memops.statements.readings import QUANTIFIERS

c = pl.col
DUPLICATE = c("firm_a") & c("firm_b") & c("same") & c("opposes").is_null()
"""Of judged pairs: both are asserted, say the same, and exclude each other in nothing."""


def conflict(policy: Policy) -> pl.Expr:
    """Return whether judged pairs cannot both hold: both are asserted, and alike enough or `judged`."""
    near = (c("score") >= policy.conflicts.least) | (c("opposes") == "judged")
    return c("firm_a") & c("firm_b") & c("opposes").is_not_null() & ~c("same") & near


def decided(read: pl.DataFrame) -> pl.DataFrame:
    """Return features with same, opposes (why), firm_a, firm_b, veto_same and veto_conflict (why)."""
    lazily = read.lazy().with_columns(**_made())  # what is asked in several places is found once
    return lazily.collect(engine="in-memory")


@cache
def _made() -> dict[str, pl.Expr]:
    return {
        "same": same(), "opposes": pl.when(~(restated() | valued())).then(opposes()),
        "firm_a": asserted("a") | recounted(), "firm_b": asserted("b") | recounted(),
        "veto_same": veto_same(), "veto_conflict": veto_conflict(),
    }  # fmt: skip


SURE = {"same": 0.75, "part": 0.85, "conflict": 0.8}
"""How probable a verdict is, by fitted weights, that is proposed."""
DOUBTED = 0.2
"""How probable a conflict of the rules must be by them: of those that were less so seven of eight were none."""


def weighed(read: pl.DataFrame, chance: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `decided` with likely_same, likely_part and likely_conflict, and no doubtful conflict.

    That is what weights find where rules see nothing, and where they doubt what rules see: `chance`
    has the columns of `fitted.chances`, null where they are not asked. Of a pair that is likely a
    part the fuller text says all that the other says, be it the same or more. Vetoes stand above
    weights, as do rules of what differs in the order, or in the small words, of the same words; and
    what took place, or holds within a limit that the other does not name, is replaced by no other.
    The chances stand beside as chance_same, chance_part and chance_conflict.
    """
    same, part, conflict, worded = map(pl.lit, chance.select("same", "part", "conflict", "worded"))
    held, open_ = same + part, c("opposes").is_null()
    may = open_ & ~_reordered() & ~_told_of() & (worded < _ALIKE) & c("veto_same").is_null()
    one = may & (c("sign_differs") == 0) & (same >= SURE["same"]) & (same > conflict)
    inside = may & _within() & ~one & (held >= SURE["part"]) & (held > conflict)
    clash = (
        open_
        & lasting()
        & ~limited()
        & c("veto_conflict").is_null()
        & (conflict >= SURE["conflict"])
        & (conflict > held)
    )
    return read.with_columns(
        chance_same=same,
        chance_part=part,
        chance_conflict=conflict,
        opposes=pl.when(~(conflict < DOUBTED).fill_null(False)).then("opposes"),
        likely_same=one.fill_null(False),
        likely_part=inside.fill_null(False),
        likely_conflict=clash.fill_null(False),
    )


_ALIKE = 0.85
"""Share of the words of two texts that both hold, from which rules know more: their order tells."""


def _within() -> pl.Expr:
    """True when the fuller text holds most words of the other, and both deny, limit and tell times alike."""
    signs = pl.sum_horizontal("sign_differs", *(f"{name}_one" for name in QUANTIFIERS))
    timed = (c("past") != 1) & ((c("change_a") > 0) == (c("change_b") > 0))
    return (c("contained") >= _HELD) & (signs == 0) & timed


_HELD = 0.75
"""Least share of the content words of a text that a fuller one holds, of which it may be a part."""


def _told_of() -> pl.Expr:
    """True when one holds all words of the other, begins otherwise and says much more.

    Who says so, or when it is so, may stand before.
    """
    return (c("contained") == 1) & (c("begin") == 0) & (c("length") < _HELD)


def in_question() -> pl.Expr:
    """Return of which rows of `decided` weights may make something else.

    They are of one script, asserted and not the same by the rules, and in conflict by them or hold
    enough of each other's words: of pairs that were found likely in the stores hardly one held fewer.
    """
    open_ = c("firm_a") & c("firm_b") & ~c("same") & (c("scripts_differ") == 0)
    return open_ & (c("opposes").is_not_null() | (c("contained") >= _SHARED))


_SHARED = 0.4
"""Least share of the content words of the shorter text that the other holds, of pairs that are weighed."""


def _reordered() -> pl.Expr:
    """True when both hold the same words, or one holds the other's and one of them denies or limits.

    Their order, and how signs stand, then make the difference, of which weights know little.
    """
    signs = [c(f"{name}_{side}") for name in ("negations", "only") for side in "ab"]
    signed = pl.sum_horizontal(*signs, *(c(f"{name}_one") for name in QUANTIFIERS)) > 0
    return (c("same_words") > 0) | ((c("contained") == 1) & ((c("length") == 1) | signed))


def likely(read: pl.DataFrame) -> pl.DataFrame:
    """Return duplicate_score and conflict_score of rows of `decided`, and the side that is newer.

    More than a half where the rules see it so, and the more, the more rare words the two share; of
    the others less where something tells them apart (of duplicates) or nothing does (of conflicts).
    A hand's weights: fitted ones ordered strangers' pairs no better (docs/judge.md).
    """
    vetoed, apart = c("veto_same").is_not_null(), told_apart() | c("opposes").is_not_null()
    one = pl.when(c("same") | c("likely_same")).then(0.5 + c("weighted") / 2)
    against = c("opposes").is_not_null() | c("likely_conflict")
    clash = pl.when("same").then(0.0).when(against).then(0.5 + c("overlap") / 2)
    return read.select(
        duplicate_score=one.otherwise(c("weighted") * (1 - 0.5 * vetoed - 0.2 * apart)).round(6),
        conflict_score=clash.otherwise(c("overlap") * (0.1 + 0.4 * apart)).round(6),
        newer=newer(),
    )
