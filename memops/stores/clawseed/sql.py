"""The few statements that are made to clawseed's `memories` table, whatever columns it has."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from memops.stores.sqlite import bound, columns_in, text_of

TABLE = "memories"
INDEX_CHECK = "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)"
REBUILD = "INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')"

Row = dict[str, Any]
_AT_ONCE = 500  # ids in one statement


def columns_of(connection: sqlite3.Connection) -> list[str]:
    """Return the columns of the table, in order; none if there is no such table."""
    return columns_in(connection, TABLE)


def select(columns: Sequence[str], where: str = "") -> str:
    """Return the query for whole rows, the vector as its length in bytes."""
    shown = [f"length({name})" if name == "embedding" else f'"{name}"' for name in columns]
    return f"SELECT rowid, {', '.join(shown)} FROM {TABLE} {where}"


def of_ids(connection: sqlite3.Connection, query: str, ids: Sequence[str]) -> Iterator[Any]:
    """Yield what a query without a condition gives for the rows with these ids, in any order."""
    for at in range(0, len(ids), _AT_ONCE):
        some = ids[at : at + _AT_ONCE]
        yield from connection.execute(f"{query} WHERE id IN ({','.join('?' * len(some))})", some)


def rows_of(
    connection: sqlite3.Connection, columns: Sequence[str], ids: Sequence[str]
) -> dict[str, Row]:
    """Return whole rows (rowid and every column) by id."""
    names = ", ".join(f'"{name}"' for name in columns)
    found = of_ids(connection, f"SELECT rowid, {names} FROM {TABLE}", ids)
    at = 1 + columns.index("id")
    return {text_of(row[at]): dict(zip(["rowid", *columns], row, strict=True)) for row in found}


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
