"""Repeats: sections that a file holds twice on end, heading and all, as an append done twice leaves."""

import re
from collections.abc import Sequence

from memops.documents.units import NAMED, Frame

LINES, BYTES = 3, 120
"""What a repeat holds at least, its heading among it: less is said twice on purpose."""
_RULE = re.compile(r"\s{0,3}([-*_])(?:\s*\1){2,}\s*$")


def repeats(texts: Sequence[str], frames: Sequence[Frame]) -> dict[int, tuple[int, int]]:
    """Return of each line of a repeated section the line it repeats, and where the repeat begins.

    A repeat begins with the very heading of what it repeats, stands directly behind it, says the
    same to the last letter (blank lines and a rule at its end aside), and is a section to its end.
    Of a third one the first is repeated. Lines count from 0.

    >>> head, said = "## Trip 9:00", "- the ferry leaves from the old pier, tickets are in the blue folder"
    >>> texts = [head, said, "- both are paid for, says the lady at the counter", ""] * 2
    >>> repeats(texts, [Frame(0, 1, 2, head, -1), Frame(4, 5, 2, head, -1)])
    {4: (0, 4), 5: (1, 4), 6: (2, 4)}
    """
    heads = [frame for frame in frames if frame.level < NAMED]
    found: dict[int, tuple[int, int]] = {}
    before: dict[str, int] = {}
    for at, frame in enumerate(heads):
        before = {said: n for said, n in before.items() if heads[n].level <= frame.level}
        first = before.get(frame.text)
        if first is not None and frame.start not in found:
            begins, stop = heads[first].start, _stop(heads, at, len(texts))
            held = _said(texts, begins, frame.start)
            copy = _said(texts, frame.start, stop)[: len(held)]
            ends = copy[-1] + 1 if copy else stop
            if _same(texts, held, copy) and _over(texts, ends, stop, heads, frame):
                pairs = zip(copy, held, strict=True)
                found |= {n: (found.get(m, (m, 0))[0], frame.start) for n, m in pairs}
        before[frame.text] = at
    return found


def _stop(heads: Sequence[Frame], at: int, end: int) -> int:
    """Where the sections end that may belong to a repeat: at a heading over its own."""
    over = (later.start for later in heads[at + 1 :] if later.level < heads[at].level)
    return next(over, end)


def _said(texts: Sequence[str], start: int, stop: int) -> list[int]:
    """The lines that say something, without blank ones and rules at the end."""
    lines = [n for n in range(start, stop) if texts[n].strip()]
    while lines and _RULE.match(texts[lines[-1]]):
        lines.pop()
    return lines


def _same(texts: Sequence[str], held: Sequence[int], copy: Sequence[int]) -> bool:
    said = [texts[n].rstrip() for n in held]
    long = len(said) >= LINES and len("\n".join(said).encode("utf-8", "replace")) >= BYTES
    return long and said == [texts[n].rstrip() for n in copy]


def _over(texts: Sequence[str], ends: int, stop: int, heads: Sequence[Frame], own: Frame) -> bool:
    """Whether the last section of a repeat is over where the repeat is."""
    rest = _said(texts, ends, stop)
    return not rest or any(one.start == rest[0] and one.level <= own.level for one in heads)
