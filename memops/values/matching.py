"""Matching: which words of two statements are one, which are opposites, and what is left."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from memops.values.clauses import Word, Words


class Match(NamedTuple):
    """Which words of two texts are one, how many of them are opposites, and what is left."""

    pairs: list[tuple[int, int]]
    flips: int
    left: list[int]
    right: list[int]
    replaced: bool


def matched(a: Sequence[Word], b: Sequence[Word], known: Words) -> Match:
    """Return which words of two statements are one."""
    pairs: list[tuple[int, int]] = []
    free = list(range(len(b)))
    flips = 0
    for least in (2, 1, -1):
        for i, word in enumerate(a):
            if any(i == x for x, _ in pairs):
                continue
            for j in free:
                sense = _one(word, b[j], known)
                if sense == least:
                    pairs.append((i, j))
                    free.remove(j)
                    flips += sense < 0
                    break
    pairs.sort()
    left = [i for i in range(len(a)) if all(i != x for x, _ in pairs)]
    in_order = all(x[1] < y[1] for x, y in itertools.pairwise(pairs))
    if any(not w.said.isascii() for w in a):
        return Match(pairs, flips, left, free, _run_replaced(a, b))
    replaced = bool(left) and len(left) == len(free) and in_order and len(pairs) >= len(left)
    replaced = replaced and [_before(i, left) for i in left] == [_before(j, free) for j in free]
    return Match(pairs, flips, left, free, replaced)


def _run_replaced(a: Sequence[Word], b: Sequence[Word]) -> bool:
    """Whether two runs without spaces are alike but for one place."""
    one, two = ("".join(w.said for w in side) for side in (a, b))
    size = min(len(one), len(two))
    begin = next((n for n in range(size) if one[n] != two[n]), size)
    end = next((n for n in range(size - begin) if one[-1 - n] != two[-1 - n]), size - begin)
    apart = len(one) - begin - end, len(two) - begin - end
    return min(apart) > 0 and begin + end >= max(apart)


def _before(place: int, listed: Sequence[int]) -> int:
    return place - listed.index(place)


def _one(a: Word, b: Word, known: Words) -> int:
    """2 where two words are one, 1 where they are of one, -1 where they are opposites, else 0."""
    if a.stem == b.stem:
        return 2
    if akin(a.stem, b.stem):
        return 1
    if not a.said.isascii() and not b.said.isascii():
        short, long = sorted((a.said, b.said), key=len)
        if short in known.opposed and long in known.opposed:
            return _opposite(a, b, known)
        return int(short in long or not _pairs(short).isdisjoint(_pairs(long)))
    if _bare(a.said) in (b.said, b.stem) or _bare(b.said) in (a.said, a.stem):
        return -1
    return _opposite(a, b, known)


def akin(one: str, two: str) -> bool:
    """Return whether two stems are of one word: merge and merging, allergic and allergies."""
    if not (one.isascii() and two.isascii()):
        return False
    short, long = sorted((one, two), key=len)
    size = next(
        (n for n, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short)
    )
    return size >= _AKIN and size >= len(short) - 1 and len(long) - size <= _ENDING


_AKIN, _ENDING = 4, 4


def _opposite(a: Word, b: Word, known: Words) -> int:
    left = {*known.opposed.get(a.said, ()), *known.opposed.get(a.stem, ())}
    right = {*known.opposed.get(b.said, ()), *known.opposed.get(b.stem, ())}
    if {(name, 1 - side) for name, side in left} & right:
        return -1
    return int(bool(left & right))


_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis")
_STEM = 3


def _bare(said: str) -> str:
    """A word without the prefix that denies it."""
    for prefix in _PREFIXES:
        if said.startswith(prefix) and len(said) >= len(prefix) + _STEM:
            return said[len(prefix) :]
    return "-"


def _pairs(run: str) -> set[str]:
    return {run[i : i + 2] for i in range(len(run) - 1)}
