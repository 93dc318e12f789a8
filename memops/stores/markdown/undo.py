"""Markdown undo: put back what an edit took, at its place, and leave what came since.

A three-way merge by lines. When the file is as the edit left it, every place is known; otherwise
the hashes of the lines that stood around an entry say where it belongs. Lines that the agent
added stay, a line that it changed is kept and called stale. Headings and labels that went with an
entry come back before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from memops.documents.lines import BOM, bare, line_end, lines_of
from memops.stores import Undo, Written
from memops.stores.markdown.changes import all_of, mark, sha, unpacked


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
    frames = {held["line"]: held for item in items for held in (item.before or {}).get("with", ())}
    steps = [*((held["line"], held) for held in frames.values())]
    steps += [(_around(item)["line"], item) for item in items]
    for _, step in sorted(steps, key=lambda step: step[0], reverse=True):
        if isinstance(step, Undo):
            out.answers.append(_one(lines, step, exact))
        elif exact or len(all_of(lines, _lines(step))) < step["copies"]:
            _insert(lines, step["at"] if exact else _place(lines, step), _lines(step))
    out.data = _as_it_was(bom + b"".join(lines), file["before"])
    if file["made"] and not out.data:
        out.data = None


def _one(lines: list[bytes], item: Undo, exact: bool) -> Written:
    around = _around(item)
    place = around["at"] if exact else _place(lines, around)
    old = _lines(item.before) if item.before else []
    new = _lines(item.after) if item.after else []
    if not new:
        if not exact and len(all_of(lines, old)) >= item.before["copies"]:
            return Written(item.id, "already")
        _insert(lines, place, old)
        return Written(item.id, "applied", new_id=item.id)
    at = min(all_of(lines, new), key=lambda n: (abs(n - place), n), default=None)
    if at is None:
        back = not old or len(all_of(lines, old)) >= item.before["copies"]
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
    end = line_end(lines)
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


def _place(lines: list[bytes], around: dict[str, Any]) -> int:
    """Return where an entry belongs, by the lines that stood above and below it."""
    above, below = around["above"], around["below"]
    now = [mark(line) for line in lines]
    blocks = SequenceMatcher(None, above + below, now, autojunk=False).get_matching_blocks()
    pairs = [(b.a + k, b.b + k) for b in blocks for k in range(b.size)]
    up = max(((a, n) for a, n in pairs if a < len(above)), default=None)
    down = min(((a, n) for a, n in pairs if a >= len(above)), default=None)
    if up and (not down or len(above) - up[0] <= down[0] - len(above) + 1):
        return up[1] + 1
    return down[1] if down else min(int(around["line"]) - 1, len(lines))
