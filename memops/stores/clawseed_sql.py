"""The few statements that are made to clawseed's `memories` table, whatever columns it has."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from memops.stores.sqlite import as_json, bound

TABLE = "memories"

Row = dict[str, Any]


def columns_of(connection: sqlite3.Connection) -> list[str]:
    """Return the columns of the table, in order; none if there is no such table."""
    return [
        bytes(row[1]).decode("utf-8", "replace")
        for row in connection.execute(f"PRAGMA table_info({TABLE})")
    ]


def select(columns: Sequence[str], where: str = "") -> str:
    """Return the query for whole rows, the vector as its length in bytes."""
    shown = [f"length({name})" if name == "embedding" else f'"{name}"' for name in columns]
    return f"SELECT rowid, {', '.join(shown)} FROM {TABLE} {where}"


def rows_of(
    connection: sqlite3.Connection, columns: Sequence[str], ids: Sequence[str]
) -> dict[str, Row]:
    """Return whole rows (rowid and every column) by id."""
    names = ", ".join(f'"{name}"' for name in columns)
    query = f"SELECT rowid, {names} FROM {TABLE} WHERE id = ?"
    found = {id_: connection.execute(query, [id_]).fetchone() for id_ in ids}
    return {
        id_: dict(zip(["rowid", *columns], row, strict=True))
        for id_, row in found.items()
        if row is not None
    }


def id_of(connection: sqlite3.Connection, key: bytes) -> Any:
    """Return the id of the row that has a key; None if there is none."""
    query = f"SELECT id FROM {TABLE} WHERE key = CAST(? AS TEXT)"
    found = connection.execute(query, [bytes(key)]).fetchone()
    return found and found[0]


def insert(connection: sqlite3.Connection, row: Row) -> None:
    """Insert a row as the types that its values have."""
    values = [bound(value) for value in row.values()]
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join(mark for mark, _ in values)
    connection.execute(
        f"INSERT INTO {TABLE} ({names}) VALUES ({marks})", [value for _, value in values]
    )


def update(connection: sqlite3.Connection, id_: str, new: Row) -> None:
    """Set columns of the row with an id."""
    values = [bound(value) for value in new.values()]
    sets = ", ".join(f'"{name}" = {mark}' for name, (mark, _) in zip(new, values, strict=True))
    connection.execute(
        f"UPDATE {TABLE} SET {sets} WHERE id = ?", [*(value for _, value in values), id_]
    )


def as_undo(row: Row | None) -> Any:
    """Return a whole row in the JSON values that undo keeps."""
    return row and {name: as_json(value) for name, value in row.items()}
