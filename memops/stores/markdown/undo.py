"""Markdown undo: put back what an edit took, at its place, and leave what came since.

A three-way merge by lines. When the file is as the edit left it, every place is known; otherwise
the hashes of all the lines that it left say what came since, or of those around an entry. Lines that the agent
added stay, a line that it changed is kept and called stale. Headings and labels that went with an
entry come back before it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from memops.documents.lines import BOM, bare, line_end, lines_of
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
        gone = out.data is None
        out.answers += [
            Written(u.id, "stale", "skip.file_gone")
            if gone and u.before
            else Written(u.id, "already")
            for u in items
        ]
        return
    bom = BOM if out.data.startswith(BOM) else b""
    lines = lines_of(out.data[len(bom) :])
    now = [mark(line) for line in lines]
    stands = {} if exact else _stands(file.get("lines", ""), now)
    frames = {held["line"]: held for item in items for held in (item.before or {}).get("with", ())}
    steps = [*((held["line"], held) for held in frames.values())]
    steps += [(_around(item)["line"], item) for item in items]
    steps.sort(key=lambda step: step[0], reverse=True)
    held = (_around(step) if isinstance(step, Undo) else step for _, step in steps)
    came = set(range(len(now))) - set(stands.values())
    places = [one["at"] if exact else _place(now, one, stands, came) for one in held]
    for (_, step), place in zip(steps, places, strict=True):
        old = step.before if isinstance(step, Undo) else step
        back = bool(not exact and old and old["bytes"])
        back = back and times(lines, _lines(old)) >= old["copies"]
        back = back and (not stands or _back(now, place, _lines(old), came))
        if isinstance(step, Undo):
            out.answers.append(_one(lines, step, place, back))
        elif not back:
            _insert(lines, place, _lines(step))
    out.data = _as_it_was(bom + b"".join(lines), file["before"])
    if file["made"] and not out.data:
        out.data = None


def _back(now: list[str], place: int, old: list[bytes], came: set[int]) -> bool:
    """Whether lines stand again where they belong, among those that came since; each is met once."""
    said = [one for line in old if (one := mark(line)) != BLANK]
    start, stop = place, place
    while start and start - 1 in came:
        start -= 1
    while stop < len(now) and stop in came:
        stop += 1
    here = [n for n in range(start, stop) if now[n] != BLANK]
    for n in range(len(here) - len(said) + 1):
        met = here[n : n + len(said)]
        if [now[at] for at in met] == said:
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
    ended = lines[at + len(new) - 1].endswith(b"\n")
    if old and ended != old[-1].endswith(b"\n"):
        old[-1] = bare(old[-1]) + (line_end(lines) if ended else b"")
    lines[at : at + len(new)] = old
    return Written(item.id, "applied", new_id=item.id)


def _lines(held: dict[str, Any]) -> list[bytes]:
    return lines_of(unpacked(held["bytes"]))


def _around(item: Undo) -> dict[str, Any]:
    found: dict[str, Any] = item.before or item.after
    return found


def _insert(lines: list[bytes], place: int, old: list[bytes]) -> None:
    end, place = line_end(lines), min(place, len(lines))
    if place and not lines[place - 1].endswith(b"\n"):
        lines[place - 1] += end
    if place < len(lines) and not old[-1].endswith(b"\n"):
        old = [*old[:-1], old[-1] + end]
    lines[place:place] = old


def _as_it_was(data: bytes, before: str) -> bytes:
    """An insertion ends the line before it; taken back, that line loses its end again."""
    for bared in (data, data.removesuffix(b"\n"), data.removesuffix(b"\r\n")):
        if sha(bared) == before:
            return bared
    return data


def _place(now: list[str], around: dict[str, Any], stands: dict[int, int], came: set[int]) -> int:
    """Return where an entry belongs, by the lines that stood above and below it.

    `stands` says where a line that the edit left stands now, `came` are the others. From there on
    what stood between, as far as it is back, is passed.
    """
    above, below = around["above"], around["below"]
    for off, line in around.get("upper", ()):
        if line in stands:
            after = range(stands[line] + 1, len(now))
            between = iter(above[len(above) - off + 1 :])
            return after.start + _passed(now, after, between, came, around["at"] - line - 1)
    for off, line in around.get("lower", ()):
        if line in stands:
            up = range(stands[line] - 1, -1, -1)
            left = line - around["at"] - around["new"]
            return stands[line] - _passed(now, up, iter(below[: off - 1][::-1]), came, left)
    blocks = SequenceMatcher(None, above + below, now, autojunk=False).get_matching_blocks()
    pairs = [(b.a + k, b.b + k) for b in blocks for k in range(b.size)]
    over = max(((a, n) for a, n in pairs if a < len(above)), default=None)
    under = min(((a, n) for a, n in pairs if a >= len(above)), default=None)
    if over and (not under or len(above) - over[0] <= under[0] - len(above) + 1):
        return over[1] + 1
    return under[1] if under else min(int(around["line"]) - 1, len(now))


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
    was = [
        (n, said) for n, at in enumerate(cut) if (said := left[at : at + SHORT]) != BLANK[:SHORT]
    ]
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
