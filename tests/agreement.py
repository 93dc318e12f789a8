"""Agreement: whether two texts say the same values, one for one or put together, as tests ask it.

A night compares sets of forms (`memops.statements.said`); this weighs values one by one, so that
a test can tell a value that was not read from one that was read as another.

A rate may be told at once or in parts (1,200 a month; monthly, 1,200), what is told twice counts
once, and a weekday says by itself that it comes every week.
"""

import re
from collections.abc import Iterable, Sequence

from memops.language.detection import spoken
from memops.language.packs import codes
from memops.language.stemming import stemmed
from memops.values.clauses import clauses
from memops.values.operators import Word, Words, words
from memops.values.reading import read
from memops.values.value import Value
from tests.comparing import DIFFERENT, EQUAL, INCOMPARABLE, Comparison, compare

_WEEK = 604800
_EVERY = re.compile(r"~?every (\d+(?:\.\d+)?) s$")


def same_values(a: str, b: str, lang: str | None = None) -> Comparison:
    """Return whether two texts say the same values, others of one kind, or cannot be told.

    What was not read may be a unit or a sign: where each text has a word of its own beside a
    value, on one side of it, the two are not comparable.
    """
    one, two = (read(text, lang=lang) for text in (a, b))
    said = agree(one, two)
    if said != EQUAL:
        return said
    known = words((lang,) if lang in codes() else spoken(a))
    left, right = _around(a, one, known), _around(b, two, known)
    own = _own(left, right), _own(right, left)
    replaced = any(own[0] & {side} and own[1] & {side} for side in (_BEFORE, _BEHIND))
    return INCOMPARABLE if replaced else EQUAL


_BEFORE, _BEHIND = "before", "behind"


def _around(text: str, values: Sequence[Value], known: Words) -> list[tuple[str, str]]:
    """The words of a text outside its values, signs of a script without spaces one by one, and on
    which side of a value each stands.
    """
    starts, ends = {v.start for v in values}, {v.end for v in values}
    out = []
    for clause in clauses(text, known, sorted((v.start, v.end) for v in values)):
        for word in clause:
            if word.ops == ():
                continue
            single = word.said.isascii()
            for n, said in enumerate([_stem(word)] if single else word.said):
                start, end = (word.start, word.end) if single else (word.start + n,) * 2
                end += not single
                behind = start in ends or (
                    text[start - 1 : start] in (" ", "-") and start - 1 in ends
                )
                before = end in starts or (text[end : end + 1] == " " and end + 1 in starts)
                out.append((said, _BEHIND if behind else _BEFORE if before else ""))
    return out


def _stem(word: Word) -> str:
    whole = word.ops is not None or " " in word.said
    return word.said if whole else stemmed(word.said, "english")


def _own(one: Sequence[tuple[str, str]], two: Sequence[tuple[str, str]]) -> set[str]:
    """Where the words of one text stand that the other one lacks."""
    rest = [said for said, _ in two]
    sides = set()
    for said, side in one:
        match = next((w for w in rest if w == said or akin(w, said)), None)
        if match is None:
            sides.add(side)
        else:
            rest.remove(match)
    return sides


def akin(one: str, two: str) -> bool:
    """Return whether two stems are of one word: merge and merging, allergic and allergies."""
    if not (one.isascii() and two.isascii()):
        return False
    short, long = sorted((one, two), key=len)
    pairs = enumerate(zip(short, long, strict=False))
    size = next((n for n, (x, y) in pairs if x != y), len(short))
    return size >= _AKIN and size >= len(short) - 1 and len(long) - size <= _ENDING


_AKIN, _ENDING = 4, 4


def agree(one: Iterable[Value], two: Iterable[Value]) -> Comparison:
    """Compare all that two texts say: equal where each value has its equal in the other text.

    They are different where a value of one has no equal and differs from all of its kind; of two
    texts without values nothing is known.
    """
    left, right = (_told(side) for side in (one, two))
    alone, rest = _matched(left, right)
    alone, rest = _once(alone, left, rest), _once(rest, right, alone)
    if not alone and not rest:
        return EQUAL if left and _in_order(left, right) else INCOMPARABLE
    apart = any(compare(x, y) == DIFFERENT for x in alone for y in rest)
    return DIFFERENT if apart else INCOMPARABLE


def _told(side: Iterable[Value]) -> list[Value]:
    """The values of a text, each once."""
    return list({(v.kind, v.form): v for v in side}.values())


def _goes(value: Value, side: Sequence[Value], other: Sequence[Value]) -> bool:
    """Whether a value goes without saying: every week, of what is on a Monday."""
    weekly = value.kind == "frequency" and _seconds(value.form) == _WEEK
    return (
        weekly
        and any(v.kind == "weekday" for v in side)
        and all(v.kind != "frequency" for v in other)
    )


def _seconds(form: str) -> float | None:
    told = _EVERY.match(form)
    return float(told[1]) if told is not None else None


def _matched(left: Sequence[Value], right: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    """What of each side has no equal on the other."""
    rest = list(right)
    alone: list[Value] = []
    for value in left:
        match = next((other for other in rest if compare(value, other) == EQUAL), None)
        if match is None:
            alone.append(value)
        else:
            rest.remove(match)
    return alone, rest


def _once(alone: Sequence[Value], side: Sequence[Value], other: Sequence[Value]) -> list[Value]:
    """What is left without values that others of the same text say already."""
    return [
        value
        for value in alone
        if not _goes(value, side, other)
        and not any(own not in alone and _again(value, own) for own in side)
    ]


def _again(value: Value, other: Value) -> bool:
    same = value.written is not None and value.written == other.written
    return compare(value, other) == EQUAL or (same and value.kind == "number")


def _in_order(left: Sequence[Value], right: Sequence[Value]) -> bool:
    """Whether values of one kind stand in one order: 3 of 5 is not 5 of 3."""
    kinds = {_told_of(value) for value in left}
    return all(
        compare(x, y) == EQUAL
        for kind in kinds
        for x, y in zip(
            *([v for v in side if _told_of(v) == kind] for side in (left, right)), strict=False
        )
    )


def _told_of(value: Value) -> str:
    """The kind of a value, or what a number names: flat 2 at 14 Mill Road has no order."""
    return value.form.partition("#")[0] if value.kind == "ident" else value.kind
