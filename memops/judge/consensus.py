"""Consensus: what many answers of a fallible decider come to, taken together.

A decider is right with some probability, which is measured on pairs whose answer is known. Its
answers are votes (Dawid and Skene 1979): statements that say the same form a cluster, and all
pairs between two clusters vote on whether these are one, in conflict, or both hold. One answer
alone weighs as much as the decider has been right, and as third statements bear it out; what
several answers contradict is left alone.
"""

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from memops.ordered import connected

SAME, CONFLICT, HOLD = range(3)
Votes = npt.NDArray[np.float64]
"""Log-likelihoods of same, conflict and both hold, shape (3,) or (pairs, 3)."""

PRIOR = np.log([0.04, 0.06, 0.90])
"""Of candidate pairs that rules leave open about one in twenty-five is the same, one in sixteen in conflict."""
_AGAIN = np.log([0.5, 0.1, 0.4])
"""Of one text at two places."""
_BANDS, _MOST, _STEPS, _WORTH = 10, 50, 20, 20.0
_THIRDS = 2.0  # log odds that third statements add at most: they repeat each other's mistakes
LEAST = 0.2
"""The accuracy of one who draws lots."""
_NEVER = -50.0
_OTHERS = 4  # verdicts that a wrong answer may be


class Clusters(NamedTuple):
    """`of`: the cluster of each statement; `conflict`: how surely two clusters cannot both hold."""

    of: dict[int, int]
    conflict: dict[tuple[int, int], float]


def votes(classes: npt.NDArray[np.int64], accuracy: npt.NDArray[np.float64]) -> Votes:
    """Return the votes of answers: SAME, CONFLICT, HOLD, or -1 for one that is unsure.

    `accuracy`, shape (pairs,), is the probability that each answer is right.
    """
    sure = np.clip(accuracy, LEAST, 0.999)
    cast = np.repeat(np.log((1 - sure) / _OTHERS)[:, None], 3, axis=1)
    told = np.flatnonzero(classes >= 0)
    cast[told, classes[told]] = np.log(sure[told])
    cast[classes < 0] = 0.0
    return cast


def forbid(cast: Votes, where: npt.NDArray[np.bool_], what: int) -> None:
    """Let no answer make pairs the same (or a conflict), in place."""
    cast[where, what] = _NEVER


def likelier(
    cast: Votes,
    rank: npt.NDArray[np.float64],
    open_: npt.NDArray[np.bool_],
    prior: Votes = PRIOR,
) -> Votes:
    """Return votes with what nearness adds to the prior of each pair, shape (pairs, 7).

    Of pairs of one band of `rank` (one's place among the nearest of the other), how many are the
    same and how many in conflict is told by the answers themselves, by expectation and
    maximisation: among the nearest more are than among the twentieth; what rules have settled (not
    `open_`) is a band by itself. Columns: the votes, the added log odds, and that it is one pair.
    """
    left = rank[open_]
    few = min(max(len(left) // _MOST, 1), _BANDS)
    cuts = np.quantile(left, np.linspace(0, 1, few + 1)[1:-1]) if len(left) else np.zeros(0)
    band, bands = np.where(open_, np.searchsorted(cuts, rank), few), few + 1
    shares = np.tile(np.exp(prior), (bands, 1))
    size = np.bincount(band, minlength=bands)[:, None]
    for _ in range(_STEPS):
        odds = np.exp(cast) * shares[band]
        told = odds / odds.sum(axis=1, keepdims=True)
        counts = np.stack([np.bincount(band, told[:, k], bands) for k in range(3)], axis=1)
        shares = (counts + _WORTH * np.exp(prior)) / (size + _WORTH)
    return np.hstack([cast, (np.log(shares) - prior)[band], np.ones((len(cast), 1))])


def borne_out(pairs: Sequence[tuple[int, int]], cast: Votes, prior: Votes = PRIOR) -> Votes:
    """Return the votes of `likelier` with what third statements add to each pair.

    To be about one thing (the same, or in conflict) carries over: a third that is about one thing
    with either of two is so with the other, if these two are. So an answer that a third bears out
    weighs more, and one that it contradicts less; a wrong answer mostly stands alone.
    """
    about = 1 - float(np.exp(prior[HOLD]))
    near = _near(pairs, cast)
    odds = {
        a: {b: _about_one(vote, prior) * (1 - about) / about for b, vote in of.items()}
        for a, of in near.items()
    }
    told = [sum(_borne(odds[a], odds[b], about)) if a != b else 0.0 for a, b in pairs]
    added = prior + cast[:, 3:6]
    added[:, [SAME, CONFLICT]] += np.clip(told, -_THIRDS, _THIRDS)[:, None]
    added -= np.log(np.exp(added).sum(axis=1, keepdims=True))
    return np.hstack([cast[:, :3], added - prior, cast[:, 6:]])


def chances(cast: Votes, prior: Votes = PRIOR) -> Votes:
    """Return how probable each class is of each pair, by its own votes, shape (pairs, 3)."""
    if not len(cast):
        return np.zeros((0, 3))
    return np.stack([_posterior(vote, prior) for vote in cast])


def _about_one(vote: Votes, prior: Votes) -> float:
    """The odds that two statements are about one thing."""
    apart = min(max(float(_posterior(vote, prior)[HOLD]), 1e-4), 1 - 1e-4)
    return (1 - apart) / apart


def _borne(one: Mapping[int, float], two: Mapping[int, float], about: float) -> Iterator[float]:
    """What each third that both were compared with says, as log odds."""
    for third in sorted(one.keys() & two.keys()):
        x, y = one[third], two[third]
        yield math.log((1 + about * x * y) / (1 + about * (x + y)))


def again(
    text: npt.NDArray[np.int64], cast: Votes, alike: npt.NDArray[np.bool_], sure: float
) -> npt.NDArray[np.bool_]:
    """Return which pairs of one text at two places (`alike`) say the same, by all such votes on it."""
    out = np.zeros(len(text), bool)
    for spelt in np.unique(text[alike]):
        mine = alike & (text == spelt)
        out[mine] = _posterior(cast[mine].mean(axis=0), _AGAIN)[SAME] >= sure
    return out


def share(wrong: int, asked: int, expected: float = 0.025, worth: float = 20.0) -> float:
    """Return the share of wrong answers: the mean of a beta distribution.

    It begins as if `worth` pairs had been answered, of which a share of `expected` was wrong.
    """
    return (wrong + expected * worth) / (asked + worth)


def agreed(
    pairs: Sequence[tuple[int, int]], cast: Votes, sure: float, prior: Votes = PRIOR
) -> Clusters:
    """Return the clusters that the votes on pairs of statements come to.

    Clusters are joined, the likeliest first, while by all votes between them they are rather the
    same than not; who then belongs to its cluster with a probability below `sure`, by all votes
    with the others in it, stands alone. Clusters are in conflict that are rather so than not.
    """
    if cast.shape[1] == 3:
        cast = np.hstack([cast, np.zeros((len(cast), 4))])
    near = _near(pairs, cast)
    members = _clustered({n: dict(of) for n, of in near.items()}, prior)
    kept = [part for inside in members for part in _sure(inside, near, sure, prior)]
    of = {n: inside[0] for inside in kept for n in inside}
    between: dict[int, Near] = {inside[0]: {} for inside in kept}
    for (a, b), vote in zip(pairs, cast, strict=True):
        if of[a] != of[b]:
            _add(between, of[a], of[b], vote)
    conflict = {
        (a, b): float(chance)
        for a, others in between.items()
        for b, vote in others.items()
        if a < b and (chance := _posterior(vote, prior)[CONFLICT]) >= 0.5
    }
    return Clusters(of, conflict)


def replaced(
    ends: Sequence[tuple[int, int]], conflict: Mapping[tuple[int, int], float]
) -> dict[int, float]:
    """Return how surely each cluster is replaced by the surest other, of (older, newer) `ends`.

    Doubts do not add up: of many answers on what is alike some are wrong.
    """
    gone: dict[int, float] = {}
    for old, new in ends:
        gone[old] = max(gone.get(old, 0.0), conflict.get((min(old, new), max(old, new)), 0.0))
    return gone


Near = dict[int, Votes]
"""The votes of one statement, or cluster, with each other one."""


def _near(pairs: Sequence[tuple[int, int]], cast: Votes) -> dict[int, Near]:
    near: dict[int, Near] = {n: {} for pair in pairs for n in pair}
    for (a, b), vote in zip(pairs, cast, strict=True):
        if a != b:
            _add(near, a, b, vote)
    return near


def _add(near: dict[int, Near], a: int, b: int, vote: Votes) -> None:
    held = near[a].get(b)
    near[a][b] = near[b][a] = vote if held is None else held + vote


def _clustered(between: dict[int, Near], prior: Votes) -> list[list[int]]:
    """Clusters by greedy joining; `between` is used up."""
    members = {n: [n] for n in between}
    heap = [
        (-share, a, b)
        for a, others in between.items()
        for b, vote in others.items()
        if a < b and (share := _posterior(vote, prior)[SAME]) >= 0.5
    ]
    heapq.heapify(heap)
    while heap:
        share, a, b = heapq.heappop(heap)
        if b not in between.get(a, {}) or -share != _posterior(between[a][b], prior)[SAME]:
            continue
        members[a] += members.pop(b)
        del between[a][b]
        for other, vote in between.pop(b).items():
            if other != a:
                del between[other][b]
                _add(between, a, other, vote)
        for other, vote in between[a].items():
            now = _posterior(vote, prior)[SAME]
            if now >= 0.5:
                heapq.heappush(heap, (-now, min(a, other), max(a, other)))
    return [sorted(inside) for _, inside in sorted(members.items())]


def _sure(inside: list[int], near: dict[int, Near], sure: float, prior: Votes) -> list[list[int]]:
    """The cluster without those that do not surely belong to it, who stand alone."""
    kept, alone = list(inside), list[list[int]]()
    while len(kept) > 1:
        held = {
            n: _posterior(sum((v for o, v in near[n].items() if o in kept), np.zeros(7)), prior)[
                SAME
            ]
            for n in kept
        }
        worst = min(kept, key=lambda n: (held[n], n))
        if held[worst] >= sure:
            break
        kept.remove(worst)
        alone.append([worst])
    return [kept, *alone]


def _posterior(vote: Votes, prior: Votes) -> Votes:
    shown = vote[:3] + prior
    if len(vote) > 3:
        shown = shown + vote[3:6] / max(vote[6], 1)
    odds = np.exp(shown - shown.max())
    share: Votes = (odds / odds.sum()).round(9)
    return share


def groups(same: pl.DataFrame, n: int) -> pl.DataFrame:
    """Return (statement, group): connected statements share a group."""
    label = connected(same["a"].to_numpy(), same["b"].to_numpy(), n)
    return pl.DataFrame({"statement": np.arange(n, dtype=np.uint32), "group": label})
