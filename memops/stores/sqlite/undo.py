"""What undo keeps of changes to a table, and taking them back by it, exactly.

Of a row that was made or deleted all of it is kept, of an edit the columns that it altered.
"""

from typing import Any

from memops.stores import Undo, Written
from memops.stores.sqlite.table import Row, Table
from memops.stores.sqlite.values import as_json, from_json


def kept(table: Table, id_: str, before: Row | None, after: Row | None) -> Undo:
    """Return the undo of a change from one whole row to another; None is absence."""
    if before and after:
        pairs = ((name, value, after.get(name)) for name, value in before.items())
        altered = [n for n, was, now in pairs if was is not now and not _exact(was, now)]
        before, after = ({name: row[name] for name in altered} for row in (before, after))
    return Undo(id_, table.name, _as_json(before), _as_json(after))


def reverted(table: Table, entry: Undo, live: Row | None) -> Written:
    """Take one change back where the live row still is what the change made of it.

    Of an edit, only the columns that it altered are looked at and restored; what the agent did to
    the others since stays. What was added to a count is taken off it; one that is lower has lost it.
    A deleted row gets its rowid back if that is free.
    """
    before, after = _native(entry.before), _native(entry.after)
    there = live and {name: value for name, value in live.items() if name != "rowid"}
    if before is None:
        if there is None:
            return Written(entry.id, "already")
        if after is None or not _agree(table, there, after):
            return Written(entry.id, "stale", "skip.changed_after", table.id_of(entry.id))
        table.delete(entry.id)
        return Written(entry.id, "applied")
    if after is None:
        return _put_back(table, entry.id, before, there)
    if there is None:
        return Written(entry.id, "stale", "skip.deleted_after")
    counts = {n: (there[n] or 0) - (after[n] or 0) for n in before if n in table.counts}
    if all(_exact(there[n], was) or counts.get(n, 0) < 0 for n, was in before.items()):
        return Written(entry.id, "already", "", entry.id)
    if not _agree(table, there, after):
        return Written(entry.id, "stale", "skip.changed_after", entry.id)
    table.update(entry.id, before | {n: (before[n] or 0) + since for n, since in counts.items()})
    return Written(entry.id, "applied", "", entry.id)


def _put_back(table: Table, id_: str, before: Row, there: Row | None) -> Written:
    if there is not None:
        same = _agree(table, there, before)
        why = "" if same else "skip.stored_after"
        return Written(id_, "already" if same else "stale", why, id_)
    if table.key and table.has(table.key, before[table.key]):
        return Written(id_, "stale", "skip.key_stored_after")
    if table.has("rowid", before["rowid"]):
        before = {name: value for name, value in before.items() if name != "rowid"}
    table.insert(before)
    return Written(id_, "applied", "", id_)


def _agree(table: Table, there: Row, wanted: Row) -> bool:
    """Whether a live row is as wanted, apart from what the program fills at any time."""
    apart = (*table.derived, *table.counts, "rowid")
    return all(_exact(there.get(n), v) for n, v in wanted.items() if n not in apart)


def _exact(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _as_json(row: Row | None) -> Any:
    return row and {name: as_json(value) for name, value in row.items()}


def _native(row: Any) -> Row | None:
    return row and {name: from_json(value) for name, value in row.items()}
