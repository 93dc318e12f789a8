"""Markdown edits: what a batch of changes makes of one file's bytes, and the undo for it.

Pure: bytes in, bytes out. A change is made to an entry whose exact bytes stand in the file, as
often as they stood when the plan was made. With the last entry under a heading or label that goes
too; whatever else stands there keeps its bytes, and is read as it was.
"""

import base64
import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from memops.documents.editing import Cut, cuts, frames_gone, most
from memops.documents.lines import bare, line_end, lines_of
from memops.documents.reading import parse
from memops.documents.units import Document
from memops.schema import TOMBSTONE
from memops.stores import Undo, Written
from memops.stores.markdown.entries import Entry, Grammar, of_document
from memops.stores.markdown.records import (
    ID,
    Planned,
    identified,
    marked_superseded,
    native,
    rebuilt,
)

WINDOW = 12
"""Lines kept (as hashes) on either side of what left, by which it finds its place again."""


@dataclass(frozen=True)
class Wish:
    """One change to one file: the record before and after it; `after` None is a deletion."""

    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def removes(self) -> bool:
        """Tell whether the change takes the entry out of the file."""
        return self.after is None or self.after.get("superseded_by") is not None


@dataclass
class Edit:
    """A file as the changes would leave it."""

    data: bytes
    undo: list[Undo] = field(default_factory=list)
    answers: list[Written] = field(default_factory=list)


@dataclass(frozen=True)
class _Piece:
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
class _Change:
    """Lines `start` to `stop` (from 0) that become `lines`: of a change, or of a frame that goes."""

    start: int
    stop: int
    lines: tuple[bytes, ...] = ()
    id: str = ""
    frame: int = -1


@dataclass(frozen=True)
class FileState:
    """One file: its bytes, its document, its entries by id, whether it exists.

    `folders` are those that have to be made for it.
    """

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


def edited(
    state: FileState,
    wishes: Sequence[Wish],
    refused: Mapping[str, str],
    grammar: Grammar,
    planned: Planned,
    kept: frozenset[str] = frozenset(),
) -> Edit:
    """Return the file with the wishes carried out, an answer for each, and the undo.

    `kept` names those that an interrupted run may have carried out already. A wish after which
    what stands around it would read differently is refused, the others are carried out.
    """
    answers = [Written(w.id, "refused", refused[w.id]) for w in wishes if w.id in refused]
    pieces: list[_Piece] = []
    known = dict(state.found)
    copies = Counter(entry.digest for _, entry in state.found)
    for wish in (w for w in wishes if w.id not in refused):
        made = _piece(state, wish, known, copies, grammar, planned)
        if isinstance(made, Written):
            before = made.state == "stale" and wish.id in kept
            answers.append(Written(wish.id, "already") if before else made)
        else:
            pieces.append(made)
            if made.entry is None and made.new is not None:
                copies[made.new.digest] += 1
    done = most(pieces, lambda some: _reads_well(state, some, grammar))
    why = "skip.lines_around"
    ids = {piece.id for piece in done}
    answers += [Written(p.id, "refused", why) for p in pieces if p.id not in ids]
    changes = _changes(state, done)
    data = _put_together(state, changes)
    now, moved = _ids_after(state, done, changes, data, grammar)
    answers = [replace(a, new_id=a.new_id or now.get(a.id)) for a in answers]
    answers += [Written(p.id, "applied", new_id=now.get(p.id)) for p in done]
    told = {wish.id for wish in wishes}
    answers += [Written(key, "moved", new_id=now[key]) for key in moved if key not in told]
    return Edit(data, _undo(state, done, changes, data), answers)


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


def all_of(lines: list[bytes], part: list[bytes]) -> list[int]:
    """Return where in a file these lines stand one after another, their ends aside."""
    texts, wanted = [bare(line) for line in lines], [bare(line) for line in part]
    size = len(wanted)
    return [
        n
        for n, text in enumerate(texts)
        if text == wanted[0] and texts[n : n + size] == wanted
    ]  # fmt: skip


def _piece(
    state: FileState,
    wish: Wish,
    known: Mapping[str, Entry],
    copies: Mapping[str, int],
    grammar: Grammar,
    planned: Planned,
) -> _Piece | Written:
    if wish.before is None and wish.after is None:
        return Written(wish.id, "stale", "skip.unplanned")
    if ID.match(wish.id) is None:
        return _insertion(state, wish, copies, grammar, planned)
    entry = known.get(wish.id)
    rewrites = not wish.removes and wish.before is not None and wish.after is not None and (
        wish.after["text"] != wish.before["text"]
    )  # fmt: skip
    wanted = rebuilt(wish.after, grammar, planned) if rewrites and wish.after else None
    if entry is None:
        if wanted is not None and copies.get(wanted.digest):
            return Written(wish.id, "already", new_id=f"{state.path}:{wanted.digest}:0")
        return Written(wish.id, "stale", "skip.line_moved")
    if copies[entry.digest] < native(wish.before or {}).get("copies", 1):
        return Written(wish.id, "stale", "skip.line_left")
    if wish.removes:
        return _removal(state, wish, entry)
    if not rewrites or (wanted and wanted.raw == entry.raw):
        return Written(wish.id, "applied", "skip.beside")
    return _rewriting(state, wish, entry, wanted)


def _rewriting(
    state: FileState, wish: Wish, entry: Entry, wanted: Entry | None
) -> _Piece | Written:
    if entry.fields.get("_readonly"):
        return Written(wish.id, "refused", _why_only_read(state))
    if wanted is not None:
        return _Piece(wish.id, entry, wanted, _with_ends(wanted.raw, state, entry))
    if wish.after is not None and (wish.after["text"] or "").strip():
        return Written(wish.id, "refused", "skip.lines_around")
    return _held(state, wish, entry) or _Piece(wish.id, entry)


def _removal(state: FileState, wish: Wish, entry: Entry) -> _Piece | Written:
    if entry.fields.get("_readonly"):
        return Written(wish.id, "applied", "skip.hidden_beside")
    link = wish.after.get("superseded_by") if wish.after else None
    if link == TOMBSTONE and marked_superseded(entry.place.above):
        return Written(wish.id, "already", "skip.called_superseded")
    return _held(state, wish, entry) or _Piece(wish.id, entry)


def _held(state: FileState, wish: Wish, entry: Entry) -> Written | None:
    """The answer for an entry that the rest of its file cannot do without."""
    if not state.document.units[entry.unit].fixed:
        return None
    return Written(wish.id, "refused", "skip.holds_open")


def _why_only_read(state: FileState) -> str:
    if state.document.conflict:
        return "skip.unmerged"
    return "skip.read_only"


def _insertion(
    state: FileState, wish: Wish, copies: Mapping[str, int], grammar: Grammar, planned: Planned
) -> _Piece | Written:
    if wish.after is None or wish.removes:
        return Written(wish.id, "applied", "skip.nothing_to_write")
    entry = rebuilt(wish.after, grammar, planned)
    if entry is None:
        return Written(wish.id, "refused", "skip.no_text")
    if state.document.conflict:
        return Written(wish.id, "refused", _why_only_read(state))
    if copies.get(entry.digest):
        return Written(wish.id, "already", new_id=f"{state.path}:{entry.digest}:0")
    lines = lines_of(entry.raw + line_end(state.document.lines))
    return _Piece(wish.id, None, entry, tuple(lines))


def _with_ends(raw: bytes, state: FileState, entry: Entry) -> tuple[bytes, ...]:
    """The lines of an entry's new bytes, the last one ended as the old one was."""
    old = state.document.lines[entry.line - 2 + entry.height]
    return tuple(lines_of(raw + old[len(bare(old)) :]))


def _changes(state: FileState, pieces: Sequence[_Piece]) -> list[_Change]:
    """What the pieces make of the file's lines, in order; none lies in another."""
    going = {p.entry.unit: p.id for p in pieces if p.entry and p.removes}
    out = [_of_cut(cut, going) for cut in cuts(state.document, going.keys())]
    for piece in pieces:
        if piece.entry and not piece.removes:
            unit = state.document.units[piece.entry.unit]
            out.append(_Change(unit.line, unit.stop, piece.lines, piece.id))
    new = [piece for piece in pieces if piece.entry is None]
    last = _last(state, out) if new else 0
    out += [_Change(last, last, piece.lines, piece.id) for piece in new]
    return sorted(out, key=lambda change: (change.start, change.stop))


def _of_cut(cut: Cut, going: Mapping[int, str]) -> _Change:
    return _Change(cut.start, cut.stop, (), going.get(cut.unit, ""), cut.frame)


def _last(state: FileState, changes: Sequence[_Change]) -> int:
    """Return the line before which new entries go: behind the last that no software wrote."""
    units, lines = state.document.units, len(state.document.lines)
    own = [units[e.unit].stop for _, e in state.found if e.fields["role"] != "machine"]
    first = min((frame.start for frame in state.document.frames), default=lines)
    last = max(own, default=first if state.found else lines)
    return next((c.stop for c in changes if c.start <= last < c.stop), last)


def _put_together(state: FileState, changes: Sequence[_Change]) -> bytes:
    lines = list(state.document.lines)
    end = line_end(lines)
    for change in reversed(changes):
        new = change.start == change.stop
        if new and change.start and not lines[change.start - 1].endswith(b"\n"):
            lines[change.start - 1] += end
        lines[change.start : change.stop] = change.lines
    return state.document.bom + b"".join(lines)


def _reads_well(state: FileState, pieces: Sequence[_Piece], grammar: Grammar) -> bool:
    """Tell whether the file would hold the units and frames that it should, and no others."""
    was = state.document
    now = parse(_put_together(state, _changes(state, pieces)), state.path, grammar)
    gone = {p.entry.unit for p in pieces if p.entry}
    units = Counter(was.raw(unit) for n, unit in enumerate(was.units) if n not in gone)
    units.update(p.new.raw for p in pieces if p.new)
    lost = frames_gone(was, {p.entry.unit for p in pieces if p.entry and p.removes})
    frames = Counter(frame.text for n, frame in enumerate(was.frames) if n not in lost)
    return Counter(map(now.raw, now.units)) == units and (
        Counter(frame.text for frame in now.frames) == frames
    )


def _ids_after(
    state: FileState,
    pieces: Sequence[_Piece],
    changes: Sequence[_Change],
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


def _lines_after(entries: Iterable[Entry], changes: Sequence[_Change]) -> dict[int, int]:
    """The lines of entries that stay, by those that they had."""
    stops = [change.stop for change in changes]
    moved = [0, *accumulate(len(c.lines) - (c.stop - c.start) for c in changes)]
    return {e.line: e.line + moved[bisect_right(stops, e.line - 1)] for e in entries}


def _positions(changes: Sequence[_Change]) -> list[int]:
    """Where each change's lines begin in the new file, from 0."""
    moved, out = 0, []
    for change in changes:
        out.append(change.start + moved)
        moved += len(change.lines) - (change.stop - change.start)
    return out


def _undo(
    state: FileState, pieces: Sequence[_Piece], changes: Sequence[_Change], data: bytes
) -> list[Undo]:
    """One undo a piece: its bytes, its line, the hashes of the lines around it.

    What went because it was the last under its headings names those `with` it, so that they come
    back with whichever of their entries comes back first.
    """
    file: dict[str, Any] = {"before": sha(state.data), "after": sha(data), "made": state.absent}
    file |= {"folders": list(state.folders)} if state.folders else {}
    lines, document = state.document.lines, state.document
    marks = [mark(line) for line in lines]
    framed = dict[int, list[dict[str, Any]]]()
    own = dict[str, tuple[_Change, dict[str, Any]]]()
    for change, at in zip(changes, _positions(changes), strict=True):
        old = b"".join(lines[change.start : change.stop])
        copies = len(all_of(lines, lines_of(old))) if old else 0
        around = {
            "line": change.start + 1,
            "at": at,
            "above": marks[max(0, change.start - WINDOW) : change.start],
            "below": marks[change.stop : change.stop + WINDOW],
        }
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
        new = {n: had[n] for n in ("line", "at", "above", "below", "file")}
        after = new | {"bytes": packed(b"".join(change.lines))} if change.lines else None
        out.append(Undo(piece.id, state.path, before, after))
    return out
