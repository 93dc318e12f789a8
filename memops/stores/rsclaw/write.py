"""rsclaw's changes: what a batch makes of the rows of a file, and how it is taken back."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import polars as pl

from memops.plan import outcome
from memops.schema import live_counts
from memops.stores import State, Undo, Work, Written
from memops.stores.rsclaw.docs import ARCHIVES, SUPERSEDED, Doc, document, packed, unpacked

FILE = "memory.redb"

Rows = dict[tuple[str, str], bytes]
"""Values by table and key, of the tables that hold documents."""

_Place = tuple[tuple[str, str], bytes]

_CONTENT = ("text", "kind", "scope", "tier", "pinned")
_IMPORTANCE = 0.5
_OPTIONAL: dict[str, Any] = {
    "tier": "Working", "abstract_text": None, "overview_text": None, "tags": [], "pinned": False,
}  # fmt: skip


def changed(old: Rows, live: pl.DataFrame, work: Work) -> tuple[list[Written], list[Undo], Rows]:
    """Decide each change on what stands there now, and carry out what may be."""
    ids = work.changes["id"].implode()
    before = work.before.filter(pl.col("id").is_in(ids))
    wanted = {row["id"]: row for row in outcome(before, work.changes).to_dicts()}
    known = {row["id"]: row for row in before.to_dicts()}
    there = {row["id"]: row for row in live.filter(pl.col("id").is_in(ids)).to_dicts()}
    counts = live_counts(live)
    refused = work.check(live, counts)
    answers, undo, new = [], [], dict(old)
    for id_, action in work.changes.select("id", "action").iter_rows():
        now, then = there.get(id_), known.get(id_)
        if id_ in wanted and then is None:
            wanted[id_] = _added(wanted[id_], now, work.now)
        after = document(wanted[id_]) if id_ in wanted else None
        state, why = _state(now, then, after)
        if after is None and action != "delete":
            state, why = "stale", "skip.unplanned"
        if now is None and after is not None and (after.table, after.key) in old:
            state, why = "stale", "skip.unparsed"
        if state == "applied" and id_ in refused:
            state, why = "refused", refused[id_]
        if state == "applied":
            undo.append(_put(new, id_, now, after))
        answers.append(Written(id_, state, why, id_ if after else None))
    return answers, undo, new


def reverted(values: Rows, entry: Undo) -> Written:
    """Put a row back if what stands there is what we left; a vector made since does not count."""
    before, after = _place(entry.before), _place(entry.after)
    new_id = entry.id if before else None
    if _stands(values, before, after):
        return Written(entry.id, "already", "", new_id)
    if not _stands(values, after, before):
        return Written(entry.id, "stale", "skip.changed", entry.id)
    if after is not None:
        del values[after[0]]
    if before is not None:
        values[before[0]] = before[1]
    return Written(entry.id, "applied", "", new_id)


def _added(record: dict[str, Any], now: Mapping[str, Any] | None, at: datetime) -> dict[str, Any]:
    """Return a new record as rsclaw's own insert takes it: 0 is no time and no importance."""
    usual = {"created_at": at, "accessed_at": at, "importance": _IMPORTANCE}
    return record | {n: record[n] or (now or {}).get(n) or usual[n] for n in usual}


def _state(
    now: Mapping[str, Any] | None, then: Mapping[str, Any] | None, after: Doc | None
) -> tuple[State, str]:
    """Compare-and-set: on what a record says and whether it is hidden, not on how it is used."""
    if now is None:
        if after is None:
            return "already", ""
        return ("applied", "") if then is None else ("stale", "skip.gone")
    stands = document(now)
    if stands == after:
        return "already", ""
    if then is None:
        return "stale", "skip.id_taken"
    expected, hidden = document(then), _hidden(then)
    names = _CONTENT[:3] if hidden == SUPERSEDED else _CONTENT
    same = all(stands.fields[name] == expected.fields[name] for name in names)
    if same and _hidden(now) == hidden:
        return "applied", ""
    return "stale", "skip.changed"


def _hidden(record: Mapping[str, Any]) -> str | None:
    link: str | None = record["superseded_by"]
    return link if link is None or link in ARCHIVES else SUPERSEDED


def _put(values: Rows, id_: str, now: Mapping[str, Any] | None, after: Doc | None) -> Undo:
    """Take a document from where it stands and put it where it shall."""
    was = None
    before = None
    if now is not None:
        table, _, key = now["origin"].partition("#")
        was = values.pop((table, key))
        before = _native(table, key, was)
    if after is None:
        return Undo(id_, FILE, before, None)
    value = values[after.table, after.key] = _value(was, after)
    return Undo(id_, FILE, before, _native(after.table, after.key, value))


def _value(was: bytes | None, after: Doc) -> bytes:
    """A row's new bytes: the old ones if they say the same, the old vector if the text stays."""
    found = unpacked(was) if was is not None else None
    if was is None or found is None:
        return packed(after.fields)
    vector, fields = found
    if _OPTIONAL | fields == after.fields:
        return was
    names = [*fields, *(name for name in after.fields if name not in fields)]
    ordered = {name: after.fields[name] for name in names if name in after.fields}
    return packed(ordered, vector if fields["text"] == after.fields["text"] else b"")


def _native(table: str, key: str, value: bytes) -> dict[str, str]:
    return {"table": table, "key": key, "value": b64encode(value).decode()}


def _place(native: Any) -> _Place | None:
    return native and ((native["table"], native["key"]), b64decode(native["value"]))


def _stands(values: Rows, here: _Place | None, other: _Place | None) -> bool:
    """Whether one side of an undo is what stands now: its row, and nothing where the other was."""
    if other is not None and (here is None or other[0] != here[0]) and other[0] in values:
        return False
    if here is None:
        return True
    found = values.get(here[0])
    if found is None or found == here[1]:
        return found is not None
    now, then = unpacked(found), unpacked(here[1])
    return now is not None and then is not None and now[1] == then[1]
