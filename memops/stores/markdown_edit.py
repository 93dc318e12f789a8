"""Markdown edits: what a batch of changes makes of one file's bytes, and the undo for it.

Pure: bytes in, bytes out. A change is made to an entry whose exact bytes stand in the file, as
often as they stood when the plan was made; whatever else stands there is not touched.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memops.schema import TOMBSTONE
from memops.stores import Undo, Written
from memops.stores.markdown_lines import BOM, Entry, Grammar, bare, entries, line_end, lines_of
from memops.stores.markdown_records import (
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
    """Lines `start` to `stop` (from 0) that become `lines`, for the change with this id."""

    id: str
    start: int
    stop: int
    lines: tuple[bytes, ...]
    entry: Entry | None
    new: Entry | None


@dataclass(frozen=True)
class FileState:
    """One file: its lines without the byte order mark, its entries, whether it exists."""

    path: str
    data: bytes
    bom: bytes
    lines: list[bytes]
    found: list[tuple[str, Entry]]
    absent: bool = False

    @classmethod
    def read(cls, path: str, data: bytes | None, grammar: Grammar) -> "FileState":
        """Return what a file's bytes hold; None stands for a file that is not there."""
        whole = data or b""
        bom = BOM if whole.startswith(BOM) else b""
        found = identified(entries(whole, path, grammar))
        return cls(path, whole, bom, lines_of(whole[len(bom) :]), found, data is None)


def edited(
    state: FileState,
    wishes: Sequence[Wish],
    refused: Mapping[str, str],
    grammar: Grammar,
    planned: Planned,
    kept: frozenset[str] = frozenset(),
) -> Edit:
    """Return the file with the wishes carried out, an answer for each, and the undo.

    `kept` names those that an interrupted run may have carried out already.
    """
    answers = [Written(w.id, "refused", refused[w.id]) for w in wishes if w.id in refused]
    pieces: list[_Piece] = []
    known = dict(state.found)
    copies = Counter(entry.digest for _, entry in state.found)
    leaving = {w.id for w in wishes if w.removes and w.id not in refused}
    for wish in (w for w in wishes if w.id not in refused):
        made = _piece(state, wish, known, copies, leaving, grammar, planned)
        if isinstance(made, Written):
            done = made.state == "stale" and wish.id in kept
            answers.append(Written(wish.id, "already") if done else made)
        else:
            pieces.append(made)
            if made.entry is None and made.new is not None:
                copies[made.new.digest] += 1
    data = _put_together(state, pieces)
    there = identified(entries(data, state.path, grammar)) if pieces else state.found
    if not _reads_well(state, pieces, there):
        why = "skip.lines_around"
        return Edit(state.data, [], answers + [Written(p.id, "refused", why) for p in pieces])
    made_ids = _new_ids(pieces, there)
    answers += [Written(p.id, "applied", new_id=made_ids.get(p.id)) for p in pieces]
    return Edit(data, _undo(state, pieces, data), answers)


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
    leaving: set[str],
    grammar: Grammar,
    planned: Planned,
) -> _Piece | Written:
    if wish.before is None and wish.after is None:
        return Written(wish.id, "stale", "skip.unplanned")
    if ID.match(wish.id) is None:
        return _insertion(state, wish, copies, grammar, planned)
    entry = known.get(wish.id)
    before = native(wish.before or {})
    wanted = rebuilt(wish.after, grammar, planned) if wish.after and not wish.removes else None
    rewrites = wanted is not None and wish.before is not None and wish.after is not None and (
        wish.after["text"] != wish.before["text"]
    )  # fmt: skip
    if entry is None:
        if rewrites and wanted is not None and copies.get(wanted.digest):
            return Written(wish.id, "already", new_id=f"{state.path}:{wanted.digest}:0")
        return Written(wish.id, "stale", "skip.line_moved")
    if copies[entry.digest] < before.get("copies", 1):
        return Written(wish.id, "stale", "skip.line_left")
    if wish.removes:
        return _removal(state, wish, entry, leaving)
    text_gone = wish.after is not None and not (wish.after["text"] or "").strip()
    if not (rewrites or text_gone) or (wanted and wanted.raw == entry.raw):
        return Written(wish.id, "applied", "skip.beside")
    if entry.fields.get("_readonly"):
        return Written(wish.id, "refused", "skip.read_only")
    lines = _with_ends(wanted.raw, state, entry) if wanted else ()
    start = entry.line - 1 if wanted else entry.first - 1
    return _Piece(wish.id, start, entry.line - 1 + entry.height, lines, entry, wanted)


def _removal(state: FileState, wish: Wish, entry: Entry, leaving: set[str]) -> _Piece | Written:
    if entry.fields.get("_readonly"):
        return Written(wish.id, "applied", "skip.hidden_beside")
    link = wish.after.get("superseded_by") if wish.after else None
    if link == TOMBSTONE and marked_superseded(entry.place.above):
        return Written(wish.id, "already", "skip.called_superseded")
    beneath = [key for key, other in state.found if _beneath(entry, other)]
    if any(key not in leaving for key in beneath):
        return Written(wish.id, "refused", "skip.points_beneath")
    return _Piece(wish.id, entry.first - 1, entry.line - 1 + entry.height, (), entry, None)


def _beneath(entry: Entry, other: Entry) -> bool:
    indent = len(entry.prefix) - len(entry.prefix.lstrip())
    deeper = len(other.prefix) - len(other.prefix.lstrip())
    return other.line == entry.line + entry.height and deeper > indent


def _insertion(
    state: FileState, wish: Wish, copies: Mapping[str, int], grammar: Grammar, planned: Planned
) -> _Piece | Written:
    if wish.after is None or wish.removes:
        return Written(wish.id, "applied", "skip.nothing_to_write")
    entry = rebuilt(wish.after, grammar, planned)
    if entry is None:
        return Written(wish.id, "refused", "skip.no_text")
    if copies.get(entry.digest):
        return Written(wish.id, "already", new_id=f"{state.path}:{entry.digest}:0")
    last = max((e.line - 1 + e.height for _, e in state.found), default=len(state.lines))
    end = line_end(state.lines)
    return _Piece(wish.id, last, last, tuple(lines_of(entry.raw + end)), None, entry)


def _with_ends(raw: bytes, state: FileState, entry: Entry) -> tuple[bytes, ...]:
    """The lines of an entry's new bytes, the last one ended as the old one was."""
    old = state.lines[entry.line - 2 + entry.height]
    return tuple(lines_of(raw + old[len(bare(old)) :]))


def _put_together(state: FileState, pieces: Sequence[_Piece]) -> bytes:
    lines = list(state.lines)
    order = sorted(enumerate(pieces), key=lambda item: (item[1].start, item[1].stop, item[0]))
    for _, piece in reversed(order):
        if piece.entry is None and piece.start and not lines[piece.start - 1].endswith(b"\n"):
            lines[piece.start - 1] += line_end(lines)
        lines[piece.start : piece.stop] = piece.lines
    return state.bom + b"".join(lines)


def _reads_well(
    state: FileState, pieces: Sequence[_Piece], there: Sequence[tuple[str, Entry]]
) -> bool:
    """Tell whether the new bytes hold the entries that they should, and no others."""
    gone = Counter(p.entry.raw for p in pieces if p.entry)
    come = Counter(p.new.raw for p in pieces if p.new)
    should = Counter(entry.raw for _, entry in state.found) - gone + come
    return Counter(entry.raw for _, entry in there) == should


def _new_ids(pieces: Sequence[_Piece], there: Sequence[tuple[str, Entry]]) -> dict[str, str]:
    """The ids of entries that were inserted or rewritten, as they read now."""
    keys = {entry.line: key for key, entry in there}
    at = _positions(pieces)
    made = {p.id: keys.get(at[p.id] + 1) for p in pieces if p.new}
    return {id_: key for id_, key in made.items() if key}


def _positions(pieces: Sequence[_Piece]) -> dict[str, int]:
    """Where each piece's lines begin in the new file, from 0."""
    moved, out = 0, {}
    for piece in sorted(pieces, key=lambda p: (p.start, p.stop)):
        out[piece.id] = piece.start + moved
        moved += len(piece.lines) - (piece.stop - piece.start)
    return out


def _undo(state: FileState, pieces: Sequence[_Piece], data: bytes) -> list[Undo]:
    """One undo a piece: its bytes, its line, and the hashes of the lines around it."""
    file = {"before": sha(state.data), "after": sha(data), "made": state.absent}
    at = _positions(pieces)
    marks = [mark(line) for line in state.lines]
    out = []
    for piece in pieces:
        old = b"".join(state.lines[piece.start : piece.stop])
        around = {
            "line": piece.start + 1,
            "at": at[piece.id],
            "file": file,
            "above": marks[max(0, piece.start - WINDOW) : piece.start],
            "below": marks[piece.stop : piece.stop + WINDOW],
        }
        copies = len(all_of(state.lines, lines_of(old))) if piece.entry else 0
        had = {"bytes": packed(old), "copies": copies} if piece.entry else {}
        new = {"bytes": packed(b"".join(piece.lines))} if piece.lines else {}
        out.append(
            Undo(
                piece.id,
                state.path,
                {**had, **around} if had else None,
                {**new, **around} if new else None,
            )
        )
    return out
