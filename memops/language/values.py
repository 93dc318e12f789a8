"""Values: numbers, dates, times, amounts and names of things, each in one form however written.

`found` reads one text; a value has a kind and a canonical form, so that 10:00 is 上午十点, 1,000 is
1000, +86 138-0000-1111 is 13800001111, 2500 g is 2.5 kg and May 14 is 5 月 14 日.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from memops.language.numerals import ENGLISH
from memops.language.values_readers import HINT, READERS, SPELLING, SPELT, Reader


class Value(NamedTuple):
    """A value and where it stands; `kind` is its type, `form` its canonical writing."""

    start: int
    end: int
    kind: str
    form: str


EVERY = (1 << len(READERS)) - 1
"""All readers, as bits by their order."""


def found(text: str, may: int = EVERY) -> list[Value]:
    """Return the values of a text in NFKC, in reading order; spans do not overlap.

    `may` are the readers that may fit (`memops.statements.hints`), as bits by their order.
    """
    out: list[Value] = []
    if may == EVERY and not HINT.search(text):
        return out
    taken = bytearray(len(text))
    held = set(text)
    if may & _SPELLED and SPELLING.search(text):
        held.add(SPELT)
    for pattern, read, needed in _readers(may):
        if needed and needed.isdisjoint(held):
            continue
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            forms = list(read(match))
            if forms:
                taken[start:end] = b"\1" * (end - start)
                out += [Value(start, end, kind, form) for kind, form in forms]
    return sorted(_counter(text, value) for value in out)


_SPELLED = sum(1 << n for n, (p, _, _) in enumerate(READERS) if p.pattern.endswith(ENGLISH))


@lru_cache(maxsize=10_000)
def _readers(may: int) -> tuple[Reader, ...]:
    return tuple(reader for n, reader in enumerate(READERS) if may >> n & 1)


_LOOSE = re.compile(
    r"\w+\s\w+\s(?!(?:is|are|was|to|of|at|by|than|about|over|under|per|in|on|for|from|with|and"
    r"|port|number)$)[a-z]+$|[一-鿿]{5,}(?<![是为到成于在达约第至过号])$"
)


def _counter(text: str, value: Value) -> Value:
    """A bare number in brackets, or loose at the end of a sentence, numbers the text itself."""
    if value.kind not in ("amount", "version", "ident"):
        return value
    before, after = text[: value.start].rstrip()[-60:], text[value.end :].strip(" .。")
    bracketed = before.endswith(("(", "[", "#")) and after in (")", "]", "")
    bare = value.kind == "amount" and text[value.start : value.end].isdigit()
    loose = bare and not after and _LOOSE.search(before) is not None
    return value._replace(kind="counter") if bracketed or loose else value
