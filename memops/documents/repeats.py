"""Repeats: what a file holds again, heading and all, as an append done twice leaves."""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from memops.documents.units import NAMED, Frame

REPEATED = ("copied", "again", "apart")
"""How a file may hold something again: much on end, on end, or farther off."""
LINES, BYTES = 3, 120
"""What a repeat holds at least, its heading among it: less is said twice on purpose."""
LONG_LINES, LONG_BYTES = 20, 1000
"""What a stretch of sections holds at least that nobody writes twice on end on purpose."""
APART_LINES, APART_BYTES = 6, 300
"""What several sections on end hold at least that stand again farther off."""
_RULE = re.compile(r"\s{0,3}([-*_])(?:\s*\1){2,}\s*$")
_MARKS = re.compile(r"[\W_]+")


def repeats(texts: Sequence[str], frames: Sequence[Frame], path: str = "") -> dict[int, int]:
    """Return of each line that is held again the one that stands for it, until no more are.

    A repeat begins with the very heading of what it repeats, stands directly behind it, says the
    same to the last letter (blank lines and a rule at its end aside), and is a section to its end.
    Where a file's title stands again, and what it was over begins what it is over now, the note was
    written once more: the fuller stands. Lines count from 0.

    >>> head, said = "## Trip 9:00", "- the ferry leaves from the old pier, tickets are in the blue folder"
    >>> texts = [head, said, "- both are paid for, says the lady at the counter", ""] * 2
    >>> repeats(texts, [Frame(0, 1, 2, head, -1), Frame(4, 5, 2, head, -1)])
    {4: 0, 5: 1, 6: 2}
    """
    left, found = [*texts], dict[int, int]()
    heads = [frame for frame in frames if frame.level < NAMED]
    title = _title(heads, path)
    while more := _beside(left, [frame for frame in heads if left[frame.start]], title):
        found |= more
        for line in more:
            left[line] = ""
    for line, stands in found.items():
        while stands in found:
            stands = found[stands]
        found[line] = stands
    return found


def copied(texts: Sequence[str], again: Mapping[int, int]) -> frozenset[int]:
    """Return the lines of repeats that are long: nobody says as much twice on end."""
    out, run, size, last = list[int](), list[int](), 0, -1
    for n, text in enumerate([*texts, "end"]):
        if not text.strip():
            continue
        if again.get(n, -1) <= last:  # no repeat, or the next copy
            out += run if len(run) >= LONG_LINES and size >= LONG_BYTES else []
            run, size = [], 0
        if (last := again.get(n, -1)) >= 0:
            run.append(n)
            size += len(text.encode("utf-8", "replace"))
    return frozenset(out)


def _title(heads: Sequence[Frame], path: str) -> str | None:
    """The heading that names the file, where none beside it is of its level or a higher one."""
    top = min((frame.level for frame in heads), default=0)
    said = {frame.text for frame in heads if frame.level == top}
    name, title = (
        _MARKS.sub("", t).casefold() for t in (PurePath(path).stem, min(said, default=""))
    )
    return min(said) if len(said) == 1 and name and name in title else None


def _beside(texts: Sequence[str], heads: Sequence[Frame], title: str | None) -> dict[int, int]:
    """The lines that go for those of a section directly beside theirs, each with that line."""
    levels = {frame.start: frame.level for frame in heads} | {len(texts): 0}
    stays = {frame.start for frame in heads if frame.stays}
    found: dict[int, int] = {}
    before: defaultdict[int, dict[str, Frame]] = defaultdict(dict)
    for frame in heads:
        for deeper in [level for level in before if level > frame.level]:
            del before[deeper]
        first = before[frame.level].get(frame.text, frame)
        again, titled = frame.start, frame.text == title
        if first is not frame and again not in found:
            lines = _repeated(texts, first.start, again, LINES - titled)
            stop = max(lines, default=again) + 1
            stop = next((n for n in range(stop, len(texts)) if not _parting(texts[n])), len(texts))
            goes = range(again, stop)
            if levels.get(stop, NAMED) > frame.level:
                lines = {
                    held: n for n, held in lines.items() if titled and first.start not in found
                }
                goes = range(first.start, again)
            if lines and stays.isdisjoint(goes):
                found |= {n: lines.get(n, first.start) for n in goes if texts[n].strip()}
        before[frame.level][frame.text] = frame
    return found


def _repeated(texts: Sequence[str], first: int, again: int, least: int) -> dict[int, int]:
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
    return lines if len(lines) >= least and size >= BYTES else {}


def apart(
    texts: Sequence[str], frames: Sequence[Frame], found: Mapping[int, int]
) -> dict[int, int]:
    """Return of each line of a stretch that stands again anywhere below the one that it repeats.

    A stretch is whole sections on end, each with the very heading of the one it repeats, under the
    very headings, which stand on end as well. Where what they are under stands again, too, with other
    sections, it is another version of it, which keeps them. `found` are lines that go already.
    """
    texts = ["" if n in found else text for n, text in enumerate(texts)]
    heads = [frame for frame in frames if frame.level < NAMED and texts[frame.start]]
    starts = [head.start for head in heads]
    said = [_lines(texts, *ends) for ends in itertools.pairwise([*starts, len(texts)])]
    first: dict[tuple[object, ...], int] = {}
    of = [
        first.setdefault((_over(frames, head), *(texts[n] for n in lines)), nth)
        for nth, (head, lines) in enumerate(zip(heads, said, strict=True))
    ]
    at = {head.start: nth for nth, head in enumerate(heads)}
    over = [at.get(frames[h.parent].start, -1) if h.parent >= 0 else -1 for h in heads]
    out: dict[int, int] = {}
    for begin, end in _stretches(of):
        whole = [
            nth for nth in range(begin, end)
            if not heads[nth].stays and (_below(heads, nth) <= end)
        ]  # fmt: skip
        whole = [n for n in whole if _same_over(heads, over, n, of[n], (begin, end))]
        lines = {n: held for nth in whole for n, held in zip(said[nth], said[of[nth]], strict=True)}
        size = sum(len(texts[n].encode("utf-8", "replace")) for n in lines)
        several = end - begin > 1  # one alone may be meant again: a checklist, a refrain
        least = (APART_LINES, APART_BYTES) if several else (LONG_LINES, LONG_BYTES)
        if len(lines) >= least[0] and size >= least[1]:
            out |= lines
    return out


def _lines(texts: Sequence[str], start: int, stop: int) -> list[int]:
    """The lines of a section that are not blank, without a rule at its end."""
    lines = [n for n in range(start, stop) if texts[n].strip()]
    while lines and _parting(texts[lines[-1]]):
        lines.pop()
    return lines


def _over(frames: Sequence[Frame], head: Frame) -> tuple[str, ...]:
    """The headings over one."""
    return (
        () if head.parent < 0 else (frames[head.parent].text, *_over(frames, frames[head.parent]))
    )


def _same_over(
    heads: Sequence[Frame], over: Sequence[int], nth: int, held: int, stretch: tuple[int, int]
) -> bool:
    """Whether all that a section is under stands again with it: all of its sections are in the stretch.

    Of the last the heading does: what is written after it is taken for its text. `over` names the
    section that each is under, -1 for none.
    """
    up = over[nth]
    if up < 0 or up == over[held]:
        return True
    (begin, end), last = stretch, _below(heads, up) - 1
    twin = held + last - nth
    whole = begin <= up and (last < end or (last == end and heads[last].text == heads[twin].text))
    return whole and _same_over(heads, over, up, held + up - nth, stretch)


def _below(heads: Sequence[Frame], nth: int) -> int:
    """The first heading after one that is none of those under it."""
    after = range(nth + 1, len(heads))
    return next((n for n in after if heads[n].level <= heads[nth].level), len(heads))


def _stretches(of: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Sections on end that repeat others on end, all of them before the first: from, to."""
    begin = 0
    for nth in range(1, len(of) + 1):
        follows = nth < len(of) and of[nth] == of[nth - 1] + 1 and of[nth] < begin
        if not follows or of[nth - 1] == nth - 1:
            if of[begin] < begin:
                yield begin, nth
            begin = nth


def _parting(text: str) -> bool:
    """Whether a line is blank or a rule."""
    return not text.strip() or _RULE.match(text) is not None
