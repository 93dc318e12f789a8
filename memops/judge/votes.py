"""Votes: what the answers of a decider say together of each pair, and how often it is right.

Answers that show themselves to be wrong tell the share of wrong ones among the others.
"""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl

from memops.judge import consensus
from memops.judge.consensus import groups
from memops.verdicts import A_REPLACES_B, AGAINST, B_REPLACES_A, BOTH_HOLD, SAME, TURNED, UNSURE

Array = Any
_REFUSED = 0.05  # share of the same among pairs that vetoes tell apart


def agreed(
    told: pl.DataFrame, sure: float, accuracy: float, one: pl.DataFrame, texts: pl.Series
) -> pl.DataFrame:
    """Return whether all answers together bear out what was said of each pair, and how surely.

    Columns: _agreed, and _chance, null of a pair that is called neither the same nor in conflict.

    `one` are the pairs (a, b) that rules call the same, `texts` those of all statements. An answer
    by which the one said last gives way counts for nothing. Places of one text are one statement,
    and all answers on two such are together one: what is wrong at one place is outvoted at the
    others. That the places themselves say the same, the answers on them must tell.
    """
    classes = told.select(
        pl.when(_contrary()).then(-1)
        .when(pl.col("verdict") == SAME).then(consensus.SAME)
        .when(pl.col("verdict").is_in(AGAINST)).then(consensus.CONFLICT)
        .when(pl.col("verdict") == BOTH_HOLD).then(consensus.HOLD).otherwise(-1)
    ).to_series().to_numpy()  # fmt: skip
    cast = consensus.votes(classes, told["probability"].fill_null(accuracy).to_numpy())
    for name, what in (("veto_same", consensus.SAME), ("veto_conflict", consensus.CONFLICT)):
        consensus.forbid(cast, told[name].is_not_null().to_numpy(), what)
    spelt = texts.rank("dense").to_numpy()
    left, right = (spelt[told[side].to_numpy()] for side in ("a", "b"))
    again = left == right
    told_again = consensus.again(left, cast, again, sure)
    joined_ = pl.concat([told.filter(pl.Series(again)).select("a", "b"), one])
    node = groups(joined_, len(texts))["group"].to_numpy()
    pairs = [(int(node[a]), int(node[b])) for a, b in told.select("a", "b").iter_rows()]
    rank = told["rank"].to_numpy().astype(np.float64)
    cast = consensus.likelier(cast, rank, told["open"].to_numpy())
    cast[:, :3] /= _repeated(pairs)[:, None]
    cast = consensus.borne_out(pairs, cast)
    found = consensus.agreed(pairs, cast, sure)
    ends = [(found.of[a], found.of[b]) for a, b in pairs]
    ends = [
        (b, a) if newer == "a" else (a, b) for (a, b), newer in zip(ends, _newer(told), strict=True)
    ]
    gone = consensus.replaced(
        [end for end, what in zip(ends, classes, strict=True) if what == consensus.CONFLICT],
        found.conflict,
    )
    joined = np.array([old == new for old, new in ends], bool) & (told_again | ~again)
    clash = np.array(
        [(min(end), max(end)) in found.conflict and gone.get(end[0], 0) >= sure for end in ends],
        bool,
    )
    borne = (joined & (classes == consensus.SAME)) | (clash & (classes == consensus.CONFLICT))
    one_ = consensus.chances(cast)[:, consensus.SAME]
    gone_ = np.array([gone.get(end[0], 0.0) for end in ends], float)
    chance = np.select([classes == consensus.SAME, classes == consensus.CONFLICT], [one_, gone_], np.nan)  # fmt: skip
    return pl.DataFrame({"_agreed": borne, "_chance": chance}).with_columns(
        pl.col("_chance").fill_nan(None)
    )


def _repeated(pairs: list[tuple[int, int]]) -> Array:
    """How many of the pairs are between the same two statements as each."""
    held = Counter((min(pair), max(pair)) for pair in pairs)
    return np.array([held[min(pair), max(pair)] for pair in pairs], float)


def _newer(told: pl.DataFrame) -> list[str]:
    """Which side is the newer, by what was said of it, else by time."""
    side = {A_REPLACES_B: "a", B_REPLACES_A: "b"}
    said = pl.col("verdict").replace_strict(side, default=None, return_dtype=pl.String)
    by_time = pl.when(pl.col("when_a") > pl.col("when_b")).then(pl.lit("a")).otherwise(pl.lit("b"))
    return told.select(pl.coalesce(said, by_time)).to_series().to_list()


Tally = dict[tuple[str, str], tuple[bool, bool, bool]]
"""For each pair of texts that was answered: an order that time denies; and of those that cannot be
the same, that it is one, and that it was called the same."""


def tallied(told: pl.DataFrame, texts: list[tuple[str, str]], before: Tally) -> Tally:
    """Add the answers of a round to those of the rounds before it, each pair once."""
    verdict, apart = pl.col("verdict"), pl.col("veto_same").is_not_null()
    rows = told.select(verdict != UNSURE, _0=_contrary(), _1=apart, _2=apart & (verdict == SAME))
    for pair, (answered, *marks) in zip(texts, rows.iter_rows(), strict=True):
        if answered:
            before[pair] = (marks[0], marks[1], marks[2])
    return before


def _contrary() -> pl.Expr:
    """True of an answer by which the one that was said last gave way."""
    later = (
        pl.when(pl.col("when_a") > pl.col("when_b")).then(pl.lit(A_REPLACES_B))
        .when(pl.col("when_b") > pl.col("when_a")).then(pl.lit(B_REPLACES_A))
    )  # fmt: skip
    verdict = pl.col("verdict")
    return verdict.is_in([*TURNED]) & (verdict != later).fill_null(False)


def accuracy(tally: Tally) -> float:
    """Return how often the decider is right, from answers that show themselves to be wrong.

    Of wrong answers one in four calls the newer of two statements the older, where a time says
    which is newer, and of pairs that a value, sign or number tells apart one in four calls them
    the same, beyond those that truly are and chance. The worse of the two rates counts.
    """
    contrary, apart, same = (sum(marks[n] for marks in tally.values()) for n in range(3))
    called = consensus.share(same, apart)
    chance = _REFUSED + float(np.sqrt(called * (1 - called) / (apart + 20)))
    rates = (consensus.share(contrary, len(tally)), max(called - chance, 0.0))
    return max(1 - 4 * max(rates), consensus.LEAST)
