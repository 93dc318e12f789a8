"""Posterior: how probable it is, by all answers of a fallible model, that two statements are the same, or in conflict.

    P(class) is proportional to  base rate  x  likelihood of the answers  x  agreement of third statements

The base rate is that of pairs of one rank, estimated from the answers by expectation and
maximisation (Dawid and Skene 1979). An answer is right with the accuracy of the model, and else any
of the other four verdicts; answers on places of one text count as one. Statements that surely say
the same are then one statement, all answers between two such are multiplied, and the posterior is
taken once more.
"""

from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl

from memops.ordered import connected
from memops.verdicts import A_REPLACES_B, AGAINST, B_REPLACES_A, BOTH_HOLD, SAME, TURNED, UNSURE

Array = Any
CLASSES = ("same", "conflict", "both_hold")
_SAME, _CONFLICT, _HOLD = range(3)
LEAST = 0.2
"""The accuracy of one who draws lots: one verdict in five."""
PRIOR = np.array([0.04, 0.06, 0.90])
"""Of candidate pairs that rules leave open one in twenty-five is the same, one in sixteen in conflict."""
_RANKS = (1, 2, 4)  # last ranks of the bands; farther pairs are one more
_BANDS = np.array(
    [*[PRIOR] * (len(_RANKS) + 1), [0.5, 0.1, 0.4], [0.9, 0.05, 0.05], [0.05, 0.9, 0.05]]
)
"""Base rates before any answer: by rank, of one text at two places, of what rules call the same or a conflict."""
_RULED = len(_RANKS) + 2  # the band of what rules call the same; the next is of conflicts
_WORTH, _STEPS = (
    20.0,
    20,
)  # pairs that a base rate counts for before any answer; steps of estimation
_NEVER = -50.0
_FEW = 1e-4
_REFUSED = 0.05  # share of the same among pairs that vetoes tell apart

Tally = dict[tuple[str, str], tuple[bool, bool, bool]]
"""For each pair of texts that was answered: an order that time denies; and of those that cannot be
the same, that it is one, and that it was called the same."""


def tallied(told: pl.DataFrame, texts: list[tuple[str, str]], before: Tally) -> Tally:
    """Add the answers of a round to those of the rounds before it, each pair once."""
    verdict, apart = pl.col("verdict"), pl.col("veto_same").is_not_null()
    rows = told.select(verdict != UNSURE, _0=contrary(), _1=apart, _2=apart & (verdict == SAME))
    for pair, (answered, *marks) in zip(texts, rows.iter_rows(), strict=True):
        if answered:
            before[pair] = (marks[0], marks[1], marks[2])
    return before


def accuracy(tally: Tally) -> float:
    """Return how often the model is right, from answers that show themselves to be wrong.

    Of wrong answers one in four calls the newer of two statements the older, where a time says
    which is newer, and of pairs that a value, sign or number tells apart one in four calls them
    the same, beyond those that truly are and chance. The worse of the two rates counts.
    """
    contraries, apart, same = (sum(marks[n] for marks in tally.values()) for n in range(3))
    called = _share(same, apart)
    chance = _REFUSED + float(np.sqrt(called * (1 - called) / (apart + _WORTH)))
    rates = (_share(contraries, len(tally)), max(called - chance, 0.0))
    return max(1 - 4 * max(rates), LEAST)


def contrary() -> pl.Expr:
    """Return whether an answer calls the statement that was said last the one that gives way."""
    later = (
        pl.when(pl.col("when_a") > pl.col("when_b")).then(pl.lit(A_REPLACES_B))
        .when(pl.col("when_b") > pl.col("when_a")).then(pl.lit(B_REPLACES_A))
    )  # fmt: skip
    verdict = pl.col("verdict")
    return verdict.is_in([*TURNED]) & (verdict != later).fill_null(False)


def answered() -> pl.Expr:
    """Return which of CLASSES an answer names, null where it tells nothing."""
    verdict = pl.col("verdict")
    return (
        pl.when(verdict == SAME).then(pl.lit("same"))
        .when(verdict.is_in(AGAINST) & ~contrary()).then(pl.lit("conflict"))
        .when(verdict == BOTH_HOLD).then(pl.lit("both_hold"))
    )  # fmt: skip


def posterior(told: pl.DataFrame, texts: pl.Series, right: float, sure: float) -> pl.DataFrame:
    """Return how probable each of CLASSES is of the pairs that a model was asked about.

    `right` is its accuracy, unless an answer says how probable it is itself; `texts` are those of
    all statements. What a veto forbids has no probability.
    """
    votes = _votes(told.select(answered()).to_series(), told["probability"].fill_null(right))
    for name, what in (("veto_same", _SAME), ("veto_conflict", _CONFLICT)):
        votes[told[name].is_not_null().to_numpy(), what] = _NEVER
    text = texts.rank("dense").to_numpy().astype(np.int64)
    a, b, at = _distinct(*(text[told[side].to_numpy()] for side in ("a", "b")))
    votes = _added(votes, at) / np.bincount(at)[:, None]
    base = np.log(_base_rates(votes, _banded(told, a, b, at)))
    chance = _between(a, b, votes, base)
    joined = chance[:, _SAME] >= sure
    same = connected(a[joined], b[joined], int(text.max(initial=0)) + 1)
    apart = same[a] != same[b]
    chance[apart] = _between(same[a[apart]], same[b[apart]], votes[apart], base[apart])
    return pl.DataFrame(chance[at], CLASSES)


def _share(wrong: int, asked: int, expected: float = 0.025) -> float:
    """The share of wrong answers: the mean of a beta distribution that begins with a few right ones."""
    return (wrong + expected * _WORTH) / (asked + _WORTH)


def _votes(classes: pl.Series, right: pl.Series) -> Array:
    """Log likelihoods of answers, shape (pairs, 3): a wrong one is any of the other four verdicts."""
    sure = np.clip(right.to_numpy(), LEAST, 0.999)[:, None]
    named = np.stack([(classes == name).fill_null(False).to_numpy() for name in CLASSES], axis=1)
    votes = np.where(named, np.log(sure), np.log((1 - sure) / 4))
    return np.where(named.any(axis=1, keepdims=True), votes, 0.0)


def _distinct(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Each two that are paired, once, whichever comes first; and the place of each pair among them."""
    both = np.stack([np.minimum(a, b), np.maximum(a, b)], axis=1)
    found, at = np.unique(both, axis=0, return_inverse=True)
    return found[:, 0], found[:, 1], at.reshape(-1)


def _added(values: Array, at: Array) -> Array:
    return np.stack([np.bincount(at, column) for column in values.T], axis=1)


def _banded(told: pl.DataFrame, a: Array, b: Array, at: Array) -> Array:
    """The place among _BANDS of each two texts."""
    nearest = np.full(len(a), np.iinfo(np.int64).max)
    np.minimum.at(nearest, at, told["rank"].to_numpy().astype(np.int64))
    band = np.searchsorted(_RANKS, nearest)
    band[a == b] = len(_RANKS) + 1
    ruled = told.select("same", opposed=pl.col("opposes").is_not_null())
    for n, name in enumerate(ruled.columns):
        band[at[(~told["open"] & ruled[name]).to_numpy()]] = _RULED + n
    return band


def _base_rates(votes: Array, band: Array) -> Array:
    """The share of each class among the pairs of each one's band, shape (pairs, 3); rules keep theirs."""
    rates = _BANDS.copy()
    size = np.bincount(band, minlength=len(rates))[:, None]
    for _ in range(_STEPS):
        found = _normal(votes + np.log(rates[band]))
        counts = np.stack([np.bincount(band, column, len(rates)) for column in found.T], axis=1)
        rates[:_RULED] = ((counts + _WORTH * _BANDS) / (size + _WORTH))[:_RULED]
    return rates[band]


def _between(a: Array, b: Array, votes: Array, base: Array) -> Array:
    """The posterior of pairs of statements, by all votes on each two."""
    one, two, at = _distinct(a, b)
    shown = _added(votes, at) + _added(base, at) / np.bincount(at)[:, None]
    return _normal(shown + _by_thirds(one, two, _normal(shown)))[at]


def _by_thirds(a: Array, b: Array, chance: Array) -> Array:
    """What third statements add to the logarithm of each class of each two.

    What a third says the same as either of two, or is in conflict with, it must be so with the
    other: same and same make same, same and conflict make conflict, of two conflicts either comes,
    and of two that both hold nothing. With p and q the probabilities of the third with each of
    the two, over the base rates r:

        same      r_s p_s q_s + r_c p_c q_c + p_h q_h
        conflict  r_s (p_s q_c + p_c q_s) + r_c p_c q_c + p_h q_h
        both hold r_s (p_s q_h + p_h q_s) + r_c (p_c q_h + p_h q_c) + p_h q_h
    """
    pairs = [*zip(a.tolist(), b.tolist(), strict=True)]
    near: dict[int, dict[int, int]] = defaultdict(dict)
    for n, (one, two) in enumerate(pairs):
        if one != two:
            near[one][two] = near[two][one] = n
    odds, (r, c, _), added = np.clip(chance, _FEW, 1) / PRIOR, PRIOR, np.zeros_like(chance)
    for n, (one, two) in enumerate(pairs):
        thirds = sorted(near[one].keys() & near[two].keys()) if one != two else []
        ps, pc, ph = odds[[near[one][third] for third in thirds]].T
        qs, qc, qh = odds[[near[two][third] for third in thirds]].T
        same = r * ps * qs + c * pc * qc
        conflict = r * (ps * qc + pc * qs) + c * pc * qc
        hold = r * (ps * qh + ph * qs) + c * (pc * qh + ph * qc)
        added[n] = np.log(np.stack([same, conflict, hold]) + ph * qh).sum(axis=1)
    return added


def _normal(logs: Array) -> Array:
    """Probabilities of logarithms, each row adding up to one."""
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    return (odds / odds.sum(axis=1, keepdims=True)).round(9)
