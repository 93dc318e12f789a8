"""Editing: which lines of a file go when units go, so that what is left is whole.

A heading or label goes with the last unit under it, a rule with its section, and of two blank
stretches that come together one. Nothing else goes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memops.documents.lines import blank
from memops.documents.reading import parse
from memops.documents.units import Dialect, Document

Item = TypeVar("Item")
_PLAIN = Dialect()


@dataclass(frozen=True, slots=True)
class Cut:
    """Lines `start` to `stop` that go, with the `unit` whose they are, or else with a `frame`."""

    start: int
    stop: int
    unit: int = -1
    frame: int = -1


def without(
    document: Document, gone: Collection[int], path: str = "", dialect: Dialect = _PLAIN
) -> tuple[bytes, list[int]]:
    """Return a file without these units (their numbers), and those that went.

    A unit stays that is fixed, or without which what stands around it would read differently.
    """

    def holds(some: Sequence[int]) -> bool:
        after = parse(_cut(document, some), path, dialect)
        return same(after, document, some)

    asked = sorted(n for n in gone if not document.units[n].fixed)
    went = most(asked, holds)
    return _cut(document, went), went


def most(items: Sequence[Item], holds: Callable[[Sequence[Item]], bool]) -> list[Item]:
    """Return as many of the items as hold together: all, or what halves of them add."""
    taken, asked = list[Item](), [list(items)]
    while asked:
        group = asked.pop()
        if not group or holds([*taken, *group]):
            taken += group
        elif len(group) > 1:
            asked += [group[len(group) // 2 :], group[: len(group) // 2]]
    return taken


def same(
    after: Document,
    before: Document,
    gone: Collection[int],
    instead: Mapping[int, bytes] | None = None,
    new: Sequence[bytes] = (),
) -> bool:
    """Tell whether a file has the units and frames of another, byte for byte, those gone aside.

    `instead` holds the bytes of units that were rewritten, `new` those of units that came.
    """
    made, lost = instead or {}, frames_gone(before, gone)
    stays = [made.get(n) or before.raw(u) for n, u in enumerate(before.units) if n not in gone]
    over = Counter(frame.text for n, frame in enumerate(before.frames) if n not in lost)
    units = Counter(map(after.raw, after.units)) == Counter([*stays, *new])
    return units and Counter(frame.text for frame in after.frames) == over


def cuts(document: Document, gone: Collection[int]) -> list[Cut]:
    """Return what goes with these units (their numbers), in the file's order."""
    frames = frames_gone(document, gone)
    owners = {document.units[n].start: Cut(0, 0, unit=n) for n in gone}
    lines = {n for u in gone for n in range(document.units[u].start, document.units[u].stop)}
    named = _named(document)
    for nth in frames:
        frame = document.frames[nth]
        owners[frame.start] = Cut(0, 0, frame=named[nth])
        lines.update(range(frame.start, frame.stop))
    for line, nth in document.loose.items():
        if nth in frames:
            owners[line] = Cut(0, 0, frame=named[nth])
            lines.add(line)
    out = []
    for start, stop in _runs(document, sorted(lines)):
        at = sorted(owners.keys() & set(range(start, stop)))
        for first, last in zip([start, *at[1:]], [*at[1:], stop], strict=True):
            owner = owners[at[0] if first == start else first]
            out.append(Cut(first, last, owner.unit, owner.frame))
    return out


def frames_gone(document: Document, gone: Collection[int]) -> set[int]:
    """Return the frames under which no unit is left, where there was one; comments do not count."""
    had, left = set[int](), set[int]()
    for nth, unit in enumerate(document.units):
        if unit.kind != "comment":
            (had if nth in gone else left).update(document.over(unit.frame))
    out = set[int]()
    for nth, frame in enumerate(document.frames):
        empty = nth not in left and (nth in had or frame.parent in out)
        if empty and not frame.stays:
            out.add(nth)
    return out


def _cut(document: Document, gone: Collection[int]) -> bytes:
    lines = list(document.lines)
    for cut in reversed(cuts(document, gone)):
        del lines[cut.start : cut.stop]
    return document.bom + b"".join(lines)


def _named(document: Document) -> dict[int, int]:
    """The nearest frame over each, itself included, under which there is a unit."""
    held = {nth for unit in document.units for nth in document.over(unit.frame)}
    return {
        nth: next((f for f in document.over(nth) if f in held), nth)
        for nth in range(len(document.frames))
    }


def _runs(document: Document, lines: list[int]) -> list[tuple[int, int]]:
    """Stretches of these lines, with the blank ones between them and one side of those around."""
    empty = [*map(blank, document.lines)]
    size, runs = len(empty), list[tuple[int, int]]()
    for line in lines:
        if runs and all(empty[runs[-1][1] : line]):
            runs[-1] = (runs[-1][0], line + 1)
        else:
            runs.append((line, line + 1))
    out = []
    for start, stop in runs:
        after = next((n for n in range(stop, size) if not empty[n]), size)
        before = next((n for n in range(start, 0, -1) if not empty[n - 1]), 0)
        if after == size:
            start, stop = before, size
        elif before < start or start == 0:
            stop = after
        out.append((start, stop))
    return out
