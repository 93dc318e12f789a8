"""Markdown undo: put back what an edit took, at its place, and leave what came since.

A three-way merge by lines. When the file is as the edit left it, every place is known; otherwise
the hashes of all the lines that it left say what came since, or of those around an entry. Lines that the agent
added stay, a line that it changed is kept and called stale. Headings and labels that went with an
entry come back before it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from memops.documents.lines import BOM, bare, ended, line_end, lines_of
from memops.stores import Undo, Written
from memops.stores.markdown.changes import BLANK, SHORT, all_of, mark, sha, times, unpacked

_COMPARED = 25_000_000  # pairs of lines that are compared to find where they stand


@dataclass
class Reverted:
    """A file as it stands once changes are taken back; `data` None is a file that goes."""

    data: bytes | None
    answers: list[Written]


def reverted(data: bytes | None, undo: Sequence[Undo]) -> Reverted:
    """Return the file without these changes, newest batch first."""
    out = Reverted(data, [])
    groups: dict[str, list[Undo]] = {}
    for item in undo:
        groups.setdefault(_around(item)["file"]["after"], []).append(item)
    while groups:
        now = sha(out.data or b"")
        after = now if now in groups else next(iter(groups))
        _take_back(out, groups.pop(after), exact=after == now and out.data is not None)
    return out


def folders_of(undo: Sequence[Undo]) -> set[str]:
    """Return the folders that had to be made for a file."""
    return {folder for item in undo for folder in _around(item)["file"].get("folders", ())}


def _take_back(out: Reverted, items: list[Undo], exact: bool) -> None:
    file = _around(items[0])["file"]
    if out.data is None or sha(out.data) == file["before"]:
        for item in items:
            lost = out.data is None and item.before
            why = "skip.file_gone" if lost else ""
            out.answers.append(Written(item.id, "stale" if lost else "already", why))
        return
    bom = BOM if out.data.startswith(BOM) else b""
    lines = lines_of(out.data[len(bom) :])
    frames = {held["line"]: held for item in items for held in (item.before or {}).get("with", ())}
    steps = [*((held["line"], held) for held in frames.values())]
    steps += [(_around(item)["line"], item) for item in items]
    steps.sort(key=lambda step: step[0], reverse=True)
    now = None if exact else _Now(lines, file.get("lines", ""))
    places = now.places([step for _, step in steps]) if now else None
    for nth, (_, step) in enumerate(steps):
        around = _around(step) if isinstance(step, Undo) else step
        place = places[nth] if places else around["at"]
        back = now.back(lines, place, around, now.came) if now else False
        if isinstance(step, Undo):
            out.answers.append(_one(lines, step, place, back))
        elif not back:
            _insert(lines, place, _lines(step))
    out.data = _as_it_was(bom + b"".join(lines), file["before"])
    if file["made"] and not out.data:
        out.data = None


class _Now:
    """A file that was written since an edit left it: where its lines stand, and which of them `came`."""

    def __init__(self, lines: list[bytes], left: str) -> None:
        self.lines, self.marks = list(lines), [mark(line) for line in lines]
        self.stands = _stands(left, self.marks)
        self.came = set(range(len(lines))) - set(self.stands.values())

    def places(self, steps: Sequence[Undo | dict[str, Any]]) -> list[int]:
        """Where each belongs; what comes back with its heading, behind what would stand under it else."""
        held = [_around(step) if isinstance(step, Undo) else step for step in steps]
        found = [_place(self.marks, one, self.stands, self.came) for one in held]
        if not self.stands:
            return found
        came = set(self.came)
        headed = {
            one["line"]: self._behind(place)
            for one, place, step in zip(held, found, steps, strict=True)
            if isinstance(step, dict) and not self.back(self.lines, place, one, came)
        }
        over = [[one["line"], *(f["line"] for f in one.get("with", ()))] for one in held]
        under = [max(headed.keys() & lines, default=None) for lines in over]
        return [p if at is None else headed[at] for p, at in zip(found, under, strict=True)]

    def _behind(self, place: int) -> int:
        stop = place
        while stop in self.came and not self.lines[stop].startswith(b"#"):
            stop += 1
        said = [n for n in range(place, stop) if self.marks[n] != BLANK]
        return said[-1] + 1 if said else place

    def back(self, lines: list[bytes], place: int, held: dict[str, Any], came: set[int]) -> bool:
        """Whether lines stand again where they belong, among those that `came`; each is met once."""
        if "copies" not in held or times(lines, _lines(held)) < held["copies"]:
            return False
        return not self.stands or self._met(place, _lines(held), came)

    def _met(self, place: int, old: list[bytes], came: set[int]) -> bool:
        said = [one for line in old if (one := mark(line)) != BLANK]
        start, stop = place, place
        while start - 1 in came:
            start -= 1
        while stop in came:
            stop += 1
        here = [n for n in range(start, stop) if self.marks[n] != BLANK]
        for n in range(len(here) - len(said) + 1):
            met = here[n : n + len(said)]
            if [self.marks[at] for at in met] == said:
                came -= set(met)
                return True
        return False


def _one(lines: list[bytes], item: Undo, place: int, back: bool) -> Written:
    old = _lines(item.before) if item.before else []
    new = _lines(item.after) if item.after else []
    if not new:
        if back:
            return Written(item.id, "already")
        _insert(lines, place, old)
        return Written(item.id, "applied", new_id=item.id)
    at = min(all_of(lines, new), key=lambda n: (abs(n - place), n), default=None)
    if at is None:
        back = back or not old
        return Written(item.id, "already" if back else "stale", "" if back else "skip.line_changed")
    whole = ended(lines[at + len(new) - 1])
    if old and whole != ended(old[-1]):
        old[-1] = bare(old[-1]) + (line_end(lines) if whole else b"")
    lines[at : at + len(new)] = old
    return Written(item.id, "applied", new_id=item.id)


def _lines(held: dict[str, Any]) -> list[bytes]:
    return lines_of(unpacked(held["bytes"]))


def _around(item: Undo) -> dict[str, Any]:
    found: dict[str, Any] = item.before or item.after
    return found


def _insert(lines: list[bytes], place: int, old: list[bytes]) -> None:
    end, place = line_end(lines), min(place, len(lines))
    if place and not ended(lines[place - 1]):
        lines[place - 1] += end
    if place < len(lines) and not ended(old[-1]):
        old = [*old[:-1], old[-1] + end]
    lines[place:place] = old


def _as_it_was(data: bytes, before: str) -> bytes:
    """An insertion ends the line before it; taken back, that line loses its end again."""
    bared = (data.removesuffix(end) for end in (b"", b"\n", b"\r\n", b"\r"))
    return next((one for one in bared if sha(one) == before), data)


def _place(now: list[str], around: dict[str, Any], stands: dict[int, int], came: set[int]) -> int:
    """Return where an entry belongs, by the lines that stood above and below it.

    `stands` says where a line that the edit left stands now, `came` are the others. From there on
    what stood between, as far as it is back, is passed.
    """
    above, below = around["above"], around["below"]
    for over, under in zip_longest(around.get("upper", ()), around.get("lower", ())):
        if over and over[1] in stands:
            off, line = over
            after = range(stands[line] + 1, len(now))
            between = iter(above[len(above) - off + 1 :])
            return after.start + _passed(now, after, between, came, around["at"] - line - 1)
        if under and under[1] in stands:
            off, line = under
            up = range(stands[line] - 1, -1, -1)
            left = line - around["at"] - around["new"]
            return stands[line] - _passed(now, up, iter(below[: off - 1][::-1]), came, left)
    blocks = SequenceMatcher(None, above + below, now, autojunk=False).get_matching_blocks()
    pairs = [(b.a + k, b.b + k) for b in blocks for k in range(b.size)]
    high = max(((a, n) for a, n in pairs if a < len(above)), default=None)
    low = min(((a, n) for a, n in pairs if a >= len(above)), default=None)
    if high and (not low or len(above) - high[0] <= low[0] - len(above) + 1):
        return high[1] + 1
    return low[1] if low else min(int(around["line"]) - 1, len(now))


def _passed(now: list[str], way: range, between: Iterator[str], came: set[int], empty: int) -> int:
    """How many lines on the way came back of those between, in their order; before any that says
    something, of empty lines no more than the edit left.
    """
    told, passed = False, 0
    for n, at in enumerate(way):
        if at not in came or now[at] not in between:
            break
        told |= now[at] != BLANK
        if told or n < empty:
            passed = n + 1
    return passed


def _stands(left: str, now: list[str]) -> dict[int, int]:
    """Where each line of a file as an edit left it stands now, by what all of them said."""
    cut = range(0, len(left), SHORT)
    whole = enumerate(left[at : at + SHORT] for at in cut)
    was = [(n, said) for n, said in whole if said != BLANK[:SHORT]]
    told = [(n, said[:SHORT]) for n, said in enumerate(now) if said != BLANK]
    old, new = [said for _, said in was], [said for _, said in told]
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    pairs = [(n, n) for n in range(head)]
    pairs += [(len(old) - n, len(new) - n) for n in range(1, tail + 1)]
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(middle[0]) * len(middle[1]) <= _COMPARED:
        for block in SequenceMatcher(None, *middle, autojunk=False).get_matching_blocks():
            pairs += [(head + block.a + k, head + block.b + k) for k in range(block.size)]
    return {was[a][0]: told[b][0] for a, b in pairs}


def _alike(some: list[str], others: list[str]) -> int:
    """How many of the first lines are the same."""
    both = zip(some, others, strict=False)
    return next((n for n, (a, b) in enumerate(both) if a != b), min(len(some), len(others)))
