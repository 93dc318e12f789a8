"""What undo keeps of changes to clawseed's table, and taking them back by it, exactly.

Of a row that was made or deleted all of it is kept, of an edit the columns that it altered. (Runs
of format 1 kept whole rows of both, by which they are taken back just so.)
"""

import sqlite3
from typing import Any

from memops.stores import Undo, Written
from memops.stores.clawseed.sql import TABLE, Row, insert, update
from memops.stores.sqlite import as_json, bound, from_json

VECTOR = ("embedding", "embedding_content_hash")
"""Filled by clawseed at any time, so no sign that a row changed."""


def kept(id_: str, before: Row | None, after: Row | None) -> Undo:
    """Return the undo of a change from one whole row to another; None is absence."""
    if before and after:
        pairs = ((name, value, after.get(name)) for name, value in before.items())
        altered = [n for n, was, now in pairs if was is not now and not _exact(was, now)]
        before, after = ({name: row[name] for name in altered} for row in (before, after))
    return Undo(id_, TABLE, _as_json(before), _as_json(after))


def reverted(connection: sqlite3.Connection, entry: Undo, live: Row | None) -> Written:
    """Take one change back where the live row still is what the change made of it.

    Of an edit, only the columns that it altered are looked at and restored; what the agent did to
    the others since stays. A deleted row gets its rowid back if that is free.
    """
    before, after = _native(entry.before), _native(entry.after)
    there = live and {name: value for name, value in live.items() if name != "rowid"}
    if before is None:
        if there is None:
            return Written(entry.id, "already")
        if after is None or not _agree(there, after):
            return Written(entry.id, "stale", "skip.changed_after", entry.id)
        connection.execute(f"DELETE FROM {TABLE} WHERE id = ?", [entry.id])
        return Written(entry.id, "applied")
    if after is None:
        return _put_back(connection, entry.id, before, there)
    changed = [n for n in before if n != "rowid" and not _exact(before[n], after.get(n))]
    if there is None:
        return Written(entry.id, "stale", "skip.deleted_after")
    if all(_exact(there[name], before[name]) for name in changed):
        return Written(entry.id, "already", "", entry.id)
    if not _agree(there, {name: after[name] for name in changed}):
        return Written(entry.id, "stale", "skip.changed_after", entry.id)
    update(connection, entry.id, {name: before[name] for name in changed})
    return Written(entry.id, "applied", "", entry.id)


def _put_back(connection: sqlite3.Connection, id_: str, before: Row, there: Row | None) -> Written:
    if there is not None:
        same = _agree(there, {name: value for name, value in before.items() if name != "rowid"})
        why = "" if same else "skip.stored_after"
        return Written(id_, "already" if same else "stale", why, id_)
    placeholder, key = bound(before["key"])
    if connection.execute(f"SELECT 1 FROM {TABLE} WHERE key = {placeholder}", [key]).fetchone():
        return Written(id_, "stale", "skip.key_stored_after")
    taken = f"SELECT 1 FROM {TABLE} WHERE rowid = ?"
    if connection.execute(taken, [before["rowid"]]).fetchone():
        before = {name: value for name, value in before.items() if name != "rowid"}
    insert(connection, before)
    return Written(id_, "applied", "", id_)


def _agree(there: Row, wanted: Row) -> bool:
    """Whether a live row is as wanted, vectors apart."""
    return all(_exact(there.get(n), v) for n, v in wanted.items() if n not in (*VECTOR, "rowid"))


def _exact(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _as_json(row: Row | None) -> Any:
    return row and {name: as_json(value) for name, value in row.items()}


def _native(row: Any) -> Row | None:
    return row and {name: from_json(value) for name, value in row.items()}
