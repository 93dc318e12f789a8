"""Matching: whether each word of one statement stands in the other, and which are opposites."""

import itertools
from collections.abc import Iterator, Sequence

from memops.values.clauses import Word, Words


def flips(a: Sequence[Word], b: Sequence[Word], known: Words) -> int | None:
    """Return how many words of one statement have their opposite in the other.

    None where a word of either has no match, or matches stand in another order: who does it to
    whom may then be another.
    """
    one, two = list(_pieces(a, known)), list(_pieces(b, known))
    if not one or len(one) != len(two):
        return None
    turned = 0
    for left, right in zip(one, two, strict=True):
        sense = _one(left, right, known)
        if not sense:
            return None
        turned += sense < 0
    return turned


def _pieces(words: Sequence[Word], known: Words) -> Iterator[Word]:
    """Words; of a run without spaces, words that have an opposite and else single signs."""
    for word in words:
        if word.said.isascii() or word.said in known.opposed:
            yield word
        else:
            yield from (word._replace(said=sign, stem=sign) for sign in word.said)


def _one(a: Word, b: Word, known: Words) -> int:
    """1 where two words are of one, -1 where they are opposites, else 0."""
    if a.stem == b.stem or akin(a.stem, b.stem):
        return 1
    if _bare(a.said) in (b.said, b.stem) or _bare(b.said) in (a.said, a.stem):
        return -1
    left, right = ({*known.opposed.get(w.said, ()), *known.opposed.get(w.stem, ())} for w in (a, b))
    return -1 if {(name, 1 - side) for name, side in left} & right else 0


def akin(one: str, two: str) -> bool:
    """Return whether two stems are of one word: merge and merging, allergic and allergies."""
    if not (one.isascii() and two.isascii()):
        return False
    short, long = sorted((one, two), key=len)
    pairs = enumerate(zip(short, long, strict=False))
    size = next((n for n, (x, y) in pairs if x != y), len(short))
    return size >= _AKIN and size >= len(short) - 1 and len(long) - size <= _ENDING


_AKIN, _ENDING = 4, 4
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis")
_STEM = 3


def _bare(said: str) -> str:
    """A word without the prefix that denies it."""
    for prefix in _PREFIXES:
        if said.startswith(prefix) and len(said) >= len(prefix) + _STEM:
            return said[len(prefix) :]
    return "-"


def exchanged(a: Sequence[Sequence[Word]], b: Sequence[Sequence[Word]], known: Words) -> bool:
    """Return whether two texts are alike but for two things that have changed places."""
    one, two = _sequence(a), _sequence(b)
    if sorted(one) != sorted(two) or one == two:
        return False
    start = next(i for i, (x, y) in enumerate(zip(one, two, strict=True)) if x != y)
    end = next(i for i, (x, y) in enumerate(zip(one[::-1], two[::-1], strict=True)) if x != y)
    left, right = one[start : len(one) - end], two[start : len(two) - end]
    return any(
        right == [*left[-last:], *left[first:-last], *left[:first]]
        and any(word not in known.joints for word in left[first:-last])
        for first, last in itertools.product(range(1, len(left)), repeat=2)
        if first + last < len(left)
    )


_LONGEST = 24


def _sequence(clauses: Sequence[Sequence[Word]]) -> list[str]:
    """The words of a text, and the single signs of what no list knows in a run without spaces."""
    out: list[str] = []
    for word in itertools.chain.from_iterable(clauses):
        if word.ops == () and len(word.said) == 1 and word.said.isascii():
            continue  # a, an, 's
        whole = word.said.isascii() or word.ops is not None
        out += [word.stem] if whole else word.said
    return out[:_LONGEST]
