"""Roles: who does what to whom, said from one side or the other.

Converse relations (lend and borrow, teacher and pupil, older and younger) stand in pairs in the
language packs; what stands first for one stands second for the other, and in the passive.
"""

from collections.abc import Sequence
from typing import Any

from memops.values.clauses import Word, Words, clauses
from memops.values.value import DIFFERENT, EQUAL, INCOMPARABLE, Comparison


def exchanged(a: str, b: str, known: Words) -> Comparison:
    """Return "different" where two texts are alike but for two things that have changed places."""
    one, two = (_sequence(text, known) for text in (a, b))
    if sorted(one) != sorted(two) or one == two:
        return INCOMPARABLE
    start = next(i for i, (x, y) in enumerate(zip(one, two, strict=True)) if x != y)
    end = next(i for i, (x, y) in enumerate(zip(one[::-1], two[::-1], strict=True)) if x != y)
    left, right = one[start : len(one) - end], two[start : len(two) - end]
    for first in range(1, len(left)):
        for last in range(1, len(left) - first):
            x, middle, y = left[:first], left[first:-last], left[-last:]
            if right == [*y, *middle, *x] and any(m not in known.joints for m in middle):
                return DIFFERENT
    return INCOMPARABLE


_LONGEST = 24
_SHORT = 1


def _sequence(text: str, known: Words) -> list[str]:
    """The words of a text, and the single signs of what no list knows in a run without spaces."""
    out: list[str] = []
    for clause in clauses(text, known):
        for word in clause:
            if word.ops == () and len(word.said) <= _SHORT and word.said.isascii():
                continue  # a, an, 's
            if word.said.isascii() or word.ops is not None:
                out.append(word.stem)
            else:
                out += word.said
    return out[:_LONGEST]


def related(one: Any, two: Any, match: Any, known: Words) -> Comparison:
    """Compare who does it to whom in two statements, said from one side or the other.

    They name one relation by words of one side or of its converse, or one of them says who does it
    behind ("by Sue").
    """
    a, b = one.words, two.words
    said = _relations(a, known), _relations(b, known)
    shared = [name for name in said[0] if name in said[1]]
    begins = _names(a[0], known) if a else {}
    shared.sort(key=lambda name: (said[0][name] == said[1][name], name in begins))
    name = shared[0] if shared else None
    turned = 0 if name is None else (said[0][name] + said[1][name]) % 2
    if name is None and bool(one.agent) == bool(two.agent):
        return INCOMPARABLE
    pairs = [
        (i, j)
        for i, j in match.pairs
        if _single(a[i], a) and _single(b[j], b)
        if name is None or (name not in _names(a[i], known) and name not in _names(b[j], known))
    ]
    if not pairs or (name is None and (len(pairs) < _TWO or not _acts(one, two, match))):
        return INCOMPARABLE
    turned = (turned + bool(one.agent) + bool(two.agent)) % 2
    subject_a, subject_b = min(pairs), min(pairs, key=lambda pair: pair[1])
    if subject_a == subject_b:
        return DIFFERENT if turned else EQUAL if len(pairs) > 1 else INCOMPARABLE
    return EQUAL if turned else DIFFERENT


_TWO = 2


def _single(word: Word, words: Sequence[Word]) -> bool:
    """Whether a word stands once: of service A and service B, only the letters tell."""
    return sum(other.stem == word.stem for other in words) == 1


def _acts(one: Any, two: Any, match: Any) -> bool:
    """Whether who is told behind in one statement stands in the other."""
    agent = one.agent or two.agent
    place = 0 if one.agent else 1
    words = (one, two)[place].words
    return any(words[pair[place]].stem == agent for pair in match.pairs)


def _names(word: Word, known: Words) -> dict[str, int]:
    return dict(known.converse.get(word.said, ()))


def _relations(words: Sequence[Word], known: Words) -> dict[str, int]:
    out: dict[str, int] = {}
    for word in words:
        for name, side in known.converse.get(word.said, ()):
            out[name] = side
    return out
