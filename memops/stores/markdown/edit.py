"""Markdown edits: what a batch of changes makes of one file's bytes.

Pure: bytes in, bytes out. A change is made to an entry whose exact bytes stand in the file, as
often as they stood when the plan was made. With the last entry under a heading or label that goes
too; whatever else stands there keeps its bytes, and is read as it was.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memops.documents.editing import cuts, most, same
from memops.documents.lines import bare, ended, line_end, lines_of
from memops.documents.reading import parse
from memops.schema import TOMBSTONE
from memops.stores import Undo, Written
from memops.stores.markdown.changes import Change, FileState, Piece, ids_after, undo_of
from memops.stores.markdown.entries import Entry, Grammar
from memops.stores.markdown.records import ID, Planned, marked_superseded, native, rebuilt, visible


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
    pieces: list[Piece] = []
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
    now, moved = ids_after(state, done, changes, data, grammar)
    answers = [replace(a, new_id=a.new_id or now.get(a.id)) for a in answers]
    answers += [Written(p.id, "applied", new_id=now.get(p.id)) for p in done]
    told = {wish.id for wish in wishes}
    answers += [Written(key, "moved", new_id=now[key]) for key in moved if key not in told]
    return Edit(data, undo_of(state, done, changes, data), answers)


def _line(record: dict[str, Any]) -> tuple[str, ...]:
    """What a record says, with what its line has before and behind it."""
    said = native(record)
    return said.get("prefix") or "", record["text"], said.get("suffix", "")


def _piece(
    state: FileState,
    wish: Wish,
    known: Mapping[str, Entry],
    copies: Mapping[str, int],
    grammar: Grammar,
    planned: Planned,
) -> Piece | Written:
    if wish.before is None and wish.after is None:
        return Written(wish.id, "stale", "skip.unplanned")
    if ID.match(wish.id) is None:
        return _insertion(state, wish, copies, grammar, planned)
    entry = known.get(wish.id)
    rewrites = not wish.removes and wish.before is not None and wish.after is not None and (
        _line(wish.after) != _line(wish.before)
    )  # fmt: skip
    wanted = rebuilt(wish.after, grammar, planned) if rewrites and wish.after else None
    if entry is None:
        if wanted is not None and copies.get(wanted.digest):
            return Written(wish.id, "already", new_id=f"{state.path}:{wanted.digest}:0")
        return Written(wish.id, "stale", "skip.line_moved")
    more = copies[entry.digest] - native(wish.before or {}).get("copies", 1)
    if more:  # which of the copies was meant?
        return Written(wish.id, "stale", "skip.line_left" if more < 0 else "skip.line_twice")
    if wish.removes:
        return _removal(state, wish, entry)
    if not rewrites or (wanted and wanted.raw == entry.raw):
        return Written(wish.id, "applied", "skip.beside")
    return _rewriting(state, wish, entry, wanted)


def _rewriting(state: FileState, wish: Wish, entry: Entry, wanted: Entry | None) -> Piece | Written:
    if entry.fields.get("_readonly"):
        return Written(wish.id, "refused", _why_only_read(state))
    asked = _line(wish.after)[:2] if wish.after and (wish.after["text"] or "").strip() else None
    made = tuple(map(visible, (wanted.prefix, wanted.text))) if wanted else None
    said = wish.before is None or wish.before["text"] != (asked or ("", ""))[1]
    if asked and (wanted is None or (said and asked != made)):
        return Written(wish.id, "refused", "skip.lines_around")
    if wanted is not None:
        old = state.document.lines[entry.line - 2 + entry.height]  # whose end the last one has
        lines = tuple(lines_of(wanted.raw + old[len(bare(old)) :]))
        return Piece(wish.id, entry, wanted, lines)
    return _held(state, wish, entry) or Piece(wish.id, entry)


def _removal(state: FileState, wish: Wish, entry: Entry) -> Piece | Written:
    if entry.fields.get("_readonly"):
        return Written(wish.id, "applied", "skip.hidden_beside")
    link = wish.after.get("superseded_by") if wish.after else None
    if link == TOMBSTONE and marked_superseded(entry.place.above):
        return Written(wish.id, "already", "skip.called_superseded")
    return _held(state, wish, entry) or Piece(wish.id, entry)


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
) -> Piece | Written:
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
    return Piece(wish.id, None, entry, tuple(lines))


def _changes(state: FileState, pieces: Sequence[Piece]) -> list[Change]:
    """What the pieces make of the file's lines, in order; none lies in another."""
    going = {p.entry.unit: p.id for p in pieces if p.entry and p.removes}
    out = [
        Change(cut.start, cut.stop, (), going.get(cut.unit, ""), cut.frame)
        for cut in cuts(state.document, going.keys())
    ]
    for piece in pieces:
        if piece.entry and not piece.removes:
            unit = state.document.units[piece.entry.unit]
            out.append(Change(unit.line, unit.stop, piece.lines, piece.id))
    new = [piece for piece in pieces if piece.entry is None]
    last = _last(state, out) if new else 0
    out += [Change(last, last, piece.lines, piece.id) for piece in new]
    return sorted(out, key=lambda change: (change.start, change.stop))


def _last(state: FileState, changes: Sequence[Change]) -> int:
    """Return the line before which new entries go: behind the last that no software wrote."""
    units, lines = state.document.units, len(state.document.lines)
    own = [units[e.unit].stop for _, e in state.found if e.fields["role"] != "machine"]
    first = min((frame.start for frame in state.document.frames), default=lines)
    last = max(own, default=first if state.found else lines)
    return next((c.stop for c in changes if c.start <= last < c.stop), last)


def _put_together(state: FileState, changes: Sequence[Change]) -> bytes:
    lines = list(state.document.lines)
    end = line_end(lines)
    for change in reversed(changes):
        new = change.start == change.stop
        if new and change.start and not ended(lines[change.start - 1]):
            lines[change.start - 1] += end
        lines[change.start : change.stop] = change.lines
    return state.document.bom + b"".join(lines)


def _reads_well(state: FileState, pieces: Sequence[Piece], grammar: Grammar) -> bool:
    """Tell whether the file would hold the units and frames that it should, and no others."""
    now = parse(_put_together(state, _changes(state, pieces)), state.path, grammar)
    gone = {p.entry.unit for p in pieces if p.entry and p.new is None}
    instead = {p.entry.unit: p.new.raw for p in pieces if p.entry and p.new}
    new = [p.new.raw for p in pieces if p.new and p.entry is None]
    return same(now, state.document, gone, instead, new)
