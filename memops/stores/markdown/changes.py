"""Changes to the lines of one file: what goes and what comes, what entries are called then, and the undo."""

import base64
import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from memops.documents.lines import BOM, bare, lines_of
from memops.documents.reading import parse
from memops.documents.units import Document
from memops.stores import Undo
from memops.stores.markdown.entries import Entry, Grammar, of_document
from memops.stores.markdown.records import identified

WINDOW = 12
"""Lines kept (as hashes) on either side of what left, by which it finds its place again."""
_NEAREST = 4  # lines that stay, on either side
_REACH = 400  # lines from which none is kept
_KEPT = 1_000_000  # lines of the new file, for each piece, that an undo may hold
SHORT = 4
"""Characters of a line's mark that are enough beside the lines around it."""


@dataclass(frozen=True)
class FileState:
    """One file: its bytes, its document, its entries by id, whether it exists."""

    path: str
    data: bytes
    document: Document
    found: list[tuple[str, Entry]]
    absent: bool = False
    folders: tuple[str, ...] = ()

    @classmethod
    def read(
        cls, path: str, data: bytes | None, grammar: Grammar, folders: Sequence[str] = ()
    ) -> "FileState":
        """Return what a file's bytes hold; None stands for a file that is not there."""
        document = parse(data or b"", path, grammar)
        found = identified(of_document(document, grammar))
        made = tuple(folders) if data is None else ()
        return cls(path, data or b"", document, found, data is None, made)


@dataclass(frozen=True)
class Piece:
    """What one change does: `entry` gives way to `new`, whose lines these are; None is nothing."""

    id: str
    entry: Entry | None
    new: Entry | None = None
    lines: tuple[bytes, ...] = ()

    @property
    def removes(self) -> bool:
        """Tell whether the entry only goes."""
        return self.new is None


@dataclass(frozen=True)
class Change:
    """Lines `start` to `stop` (from 0) that become `lines`: of a change, or of a frame that goes."""

    start: int
    stop: int
    lines: tuple[bytes, ...] = ()
    id: str = ""
    frame: int = -1


def ids_after(
    state: FileState,
    pieces: Sequence[Piece],
    changes: Sequence[Change],
    data: bytes,
    grammar: Grammar,
) -> tuple[dict[str, str], list[str]]:
    """The ids that have changed, and which of them are of entries that only stand elsewhere now.

    Of entries with the same bytes the later ones are counted anew when one before them goes; what
    went has then an id that no entry has, or the next number that is free.
    """
    if not pieces:
        return {}, []
    keys = {
        e.line: key for key, e in identified(of_document(parse(data, state.path, grammar), grammar))
    }
    at = dict(zip((change.id for change in changes), _positions(changes), strict=True))
    now = {p.id: keys[at[p.id] + 1] for p in pieces if p.new and at[p.id] + 1 in keys}
    gone = {piece.entry.unit for piece in pieces if piece.entry}
    stays = [(key, entry) for key, entry in state.found if entry.unit not in gone]
    lines = _lines_after((entry for _, entry in stays), changes)
    moved = {key: keys[lines[entry.line]] for key, entry in stays}
    moved = {key: new for key, new in moved.items() if new != key}
    taken = set(keys.values())
    for piece in pieces:
        if piece.removes and piece.id in taken:
            stem, nth = piece.id.rpartition(":")[0], 0
            while f"{stem}:{nth}" in taken:
                nth += 1
            now[piece.id] = f"{stem}:{nth}"
        taken.add(now.get(piece.id, piece.id))
    return now | moved, [*moved]


def undo_of(
    state: FileState, pieces: Sequence[Piece], changes: Sequence[Change], data: bytes
) -> list[Undo]:
    """One undo a piece: its bytes, its line, the hashes of the lines around it.

    What went because it was the last under its headings names those `with` it, so that they come
    back with whichever of their entries comes back first.
    """
    file: dict[str, Any] = {"before": sha(state.data), "after": sha(data), "made": state.absent}
    file |= {"folders": list(state.folders)} if state.folders else {}
    lines, document = state.document.lines, state.document
    marks = [mark(line) for line in lines]
    near, made = _Landmarks(marks, changes), lines_of(data.removeprefix(BOM))
    if len(made) * len(pieces) <= _KEPT:
        file["lines"] = "".join(mark(line)[:SHORT] for line in made)
    framed = dict[int, list[dict[str, Any]]]()
    own = dict[str, tuple[Change, dict[str, Any]]]()
    for change, at in zip(changes, _positions(changes), strict=True):
        old = b"".join(lines[change.start : change.stop])
        copies = times(lines, lines_of(old)) if old else 0
        around = {"line": change.start + 1, "at": at, "new": len(change.lines)}
        around |= near.around(change.start, change.stop)
        held = around | {"bytes": packed(old), "copies": copies}
        if change.id:
            own[change.id] = change, around | {"file": file} | (held if old else {})
        else:
            framed.setdefault(change.frame, []).append(held)
    out = []
    for piece in pieces:
        change, had = own[piece.id]
        unit = document.units[piece.entry.unit] if piece.entry and piece.removes else None
        over = [h for f in document.over(unit.frame) for h in framed.get(f, ())] if unit else []
        before = had | ({"with": over} if over else {}) if piece.entry else None
        new = {name: told for name, told in had.items() if name not in ("bytes", "copies")}
        after = new | {"bytes": packed(b"".join(change.lines))} if change.lines else None
        out.append(Undo(piece.id, state.path, before, after))
    return out


class _Landmarks:
    """The lines of a file that an edit left, each with its number in the new file."""

    def __init__(self, marks: list[str], changes: Sequence[Change]) -> None:
        self.marks, self.stays = marks, list[int]()
        self.after, moved = dict[int, int](), 0
        start = 0
        for change in (*changes, None):
            stop = change.start if change else len(marks)
            for n in range(start, stop):
                self.after[n] = n + moved
            if change:
                start = change.stop
                moved += len(change.lines) - (change.stop - change.start)
        self.stays = [n for n in self.after if marks[n] != BLANK]

    def around(self, start: int, stop: int) -> dict[str, Any]:
        """The marks of the lines above and below a change, and some that stay among them.

        `upper` and `lower`: how far off each of these is (1: the next line), and its number in the
        new file; the nearest first.
        """
        here, there = bisect_left(self.stays, start), bisect_left(self.stays, stop)
        over = [n for n in self.stays[max(0, here - _NEAREST) : here] if start - n <= _REACH]
        under = [n for n in self.stays[there : there + _NEAREST] if n - stop < _REACH]
        up = max([WINDOW, *(start - n for n in over)])
        down = max([WINDOW, *(n - stop + 1 for n in under)])
        return {
            "above": self.marks[max(0, start - up) : start],
            "below": self.marks[stop : stop + down],
            "upper": [[start - n, self.after[n]] for n in reversed(over)],
            "lower": [[n - stop + 1, self.after[n]] for n in under],
        }


def packed(raw: bytes) -> Any:
    """Return bytes as a JSON value."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def unpacked(value: Any) -> bytes:
    """Return what `packed` was given."""
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else str(value).encode()


def sha(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def mark(line: bytes) -> str:
    """Return what a line is known by when its place is looked for."""
    return hashlib.sha256(bare(line)).hexdigest()[:8]


BLANK = mark(b"")
"""What a line with nothing on it is known by."""


def all_of(lines: list[bytes], part: list[bytes]) -> list[int]:
    """Return where in a file these lines stand one after another, their ends aside."""
    texts, wanted = [bare(line) for line in lines], [bare(line) for line in part]
    size = len(wanted)
    first = (n for n, text in enumerate(texts) if text == wanted[0])
    return [n for n in first if texts[n : n + size] == wanted]


def times(lines: list[bytes], part: list[bytes]) -> int:
    """Return how often a file says what these lines say, one after another; empty ones tell nothing."""
    texts, wanted = ([line for line in some if bare(line)] for some in (lines, part))
    return len(all_of(texts, wanted)) if wanted else 0


def _lines_after(entries: Iterable[Entry], changes: Sequence[Change]) -> dict[int, int]:
    """The lines of entries that stay, by those that they had."""
    stops = [change.stop for change in changes]
    moved = [0, *accumulate(len(c.lines) - (c.stop - c.start) for c in changes)]
    return {e.line: e.line + moved[bisect_right(stops, e.line - 1)] for e in entries}


def _positions(changes: Sequence[Change]) -> list[int]:
    """Where each change's lines begin in the new file, from 0."""
    moved, out = 0, []
    for change in changes:
        out.append(change.start + moved)
        moved += len(change.lines) - (change.stop - change.start)
    return out
