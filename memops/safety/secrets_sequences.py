"""Sequences: keys that are pressed, or numbers to which a dial is turned, one after another.

"C then 2 4 then Y", "left 12, right 40, left 6", "二、五、八": numbers, single letters and signs of a
clause with few words between. Where such a sequence begins and ends a person may see otherwise, so
each is given with and without the words beside it.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

HAN = "\u2e80-\u9fff\uf900-\ufaff"
_NUMERALS = "零〇一二三四五六七八九"
_KEY = (
    rf"(?<![\w.])\d{{1,5}}(?![\w%])|(?<!\w)[A-Z]\d?(?!\w)|(?<=[{HAN}])\d{{1,4}}|[#*＃＊]"
    rf"|[{_NUMERALS}](?![十百千万个天年月岁])"
)
_CLAUSE = re.compile(rf"[\w\s{HAN},，、;/–+\-#*＃＊]+")  # what nothing in it ends for certain
_ANY, _TWO = (
    re.compile(f"(?:{one}).*?(?:{one})", re.DOTALL) for one in (f"[0-9#*＃＊{_NUMERALS}]", _KEY)
)
_PARTS = re.compile(
    rf"(?P<key>{_KEY})"
    rf"|(?P<word>[^\W\d_{HAN}]+(?:-[^\W\d_{HAN}]+)*|[{HAN}])"
    r"|(?P<join>[,，、;/–+-]|\s)|(?P<stop>.)",
    re.DOTALL,
)
_BETWEEN, _BEFORE = 3, 6


class _Part(NamedTuple):
    """A key or a word: where it stands, and whether a comma stands before it."""

    key: bool
    start: int
    end: int
    apart: bool


def sequences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of what may be such a sequence."""
    for clause in _CLAUSE.finditer(text) if _ANY.search(text) else ():
        if _TWO.search(text, *clause.span()):
            yield from _in_clause(text, *clause.span())


def _in_clause(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    clause: list[_Part] = []
    apart = False
    for match in _PARTS.finditer(text, begin):
        if match.start() >= end:
            break
        if match.lastgroup == "join":
            apart = apart or not match[0].isspace()
        elif match.lastgroup == "stop":
            yield from _spans(clause)
            clause, apart = [], False
        else:
            clause.append(_Part(match.lastgroup == "key", *match.span(), apart))
            apart = False
    yield from _spans(clause)


def _spans(clause: Sequence[_Part]) -> Iterator[tuple[int, int]]:
    keys = [n for n, part in enumerate(clause) if part.key]
    for group in _near(keys):
        first, last = group[0], group[-1]
        begins = {first, max(first - 1, 0)} | ({0} if first <= _BEFORE else set())
        beside = last + 1 < len(clause) and not clause[last + 1].apart
        ends = {last, last + beside}
        yield from ((clause[a].start, clause[b].end) for a in begins for b in ends)


def _near(keys: list[int]) -> Iterator[list[int]]:
    """Two and more keys with few words between one and the next."""
    breaks = [n for n in range(1, len(keys)) if keys[n] - keys[n - 1] > _BETWEEN + 1]
    for a, b in itertools.pairwise([0, *breaks, len(keys)]):
        if b - a > 1:
            yield keys[a:b]
