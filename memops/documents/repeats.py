"""Repeats: sections that a file holds twice on end, heading and all, as an append done twice leaves."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

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
    levels = {frame.start: frame.level for frame in heads}
    found: dict[int, tuple[int, int]] = {}
    before: defaultdict[int, dict[str, Frame]] = defaultdict(dict)
    for frame in heads:
        for deeper in [level for level in before if level > frame.level]:
            del before[deeper]
        first = before[frame.level].get(frame.text)
        if first is not None and frame.start not in found:
            lines = _repeated(texts, first.start, frame.start)
            if lines and _over(texts, max(lines) + 1, levels, frame.level):
                found |= {n: (found.get(m, (m, 0))[0], frame.start) for n, m in lines.items()}
        before[frame.level][frame.text] = frame
    return found


def _repeated(texts: Sequence[str], first: int, again: int) -> dict[int, int]:
    """The lines from `again` on with those that they repeat, if they repeat all from `first` up to it."""
    copy = (n for n in range(again, len(texts)) if texts[n].strip())
    lines: dict[int, int] = {}
    for held in (n for n in range(first, again) if texts[n].strip()):
        at = next(copy, None)
        if at is None or texts[at].rstrip() != texts[held].rstrip():
            if not all(map(_parting, texts[held:again])):
                return {}
            break
        lines[at] = held
    size = sum(len(texts[n].encode("utf-8", "replace")) for n in lines)
    return lines if len(lines) >= LINES and size >= BYTES else {}


def _over(texts: Sequence[str], stop: int, levels: Mapping[int, int], level: int) -> bool:
    """Whether a section ends where the repeat does."""
    after = next((n for n in range(stop, len(texts)) if not _parting(texts[n])), None)
    return after is None or levels.get(after, NAMED) <= level


def _parting(text: str) -> bool:
    """Whether a line is blank or a rule."""
    return not text.strip() or _RULE.match(text) is not None
