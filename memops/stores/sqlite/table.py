"""A table of another program's database: the statements made to it, and what its rows are as records.

A kind names its table and, in `fields`, the column of each record column with how the two are made
of each other. What a program keeps otherwise, a subclass says in the methods that it overrides.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

import polars as pl

from memops.errors import Corrupt
from memops.schema import DEFAULTS, RETIRED, from_rows
from memops.stores.sqlite import bound, columns_in, text_of

Row = dict[str, Any]
"""Native values by column, `rowid` first."""
_AT_ONCE = 500  # ids in one statement


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Field:
    """The column that holds a field of a record, and how each is made of the other.

    Text comes as text, any other value as it is; None is not converted.
    """

    column: str
    read: Callable[[Any], Any] = _same
    write: Callable[[Any], Any] = _same


def seconds(column: str) -> Field:
    """Return the field of a column with seconds since 1970."""
    return Field(column, lambda n: datetime.fromtimestamp(n, UTC), lambda at: int(at.timestamp()))


class Table:
    """One table, as a connection sees it."""

    name: ClassVar[str]
    fields: ClassVar[Mapping[str, Field]]
    """By record column; `id` and `text` are needed."""
    needed: ClassVar[tuple[str, ...]]
    """Columns without which the table is another program's."""
    content: ClassVar[tuple[str, ...]]
    """Columns that make a row what a plan was made from; those of the kind's fields if not named."""
    identical: ClassVar[tuple[str, ...]]
    """Columns by which a row that is there already is the one that a plan adds."""
    derived: ClassVar[tuple[str, ...]] = ()
    """Columns that the program fills at any time: no sign that a row changed."""
    large: ClassVar[tuple[str, ...]] = ()
    """Columns of which only the length in bytes is read where a row is shown."""
    key: ClassVar[str] = ""
    """A column, beside the id, that no two rows may have the same value in."""
    scope: ClassVar[str] = ""
    """The column of the scope, for floors; all rows are of one scope without one."""
    category: ClassVar[str] = ""
    """The column that tells the kind of a row."""
    link: ClassVar[str] = ""
    """The column that is not null in a row that is not live."""

    id: ClassVar[str]
    text: ClassVar[str]
    stamped: ClassVar[tuple[str, ...]] = ()
    """Columns that tell when the text was written."""

    def __init_subclass__(cls) -> None:
        """Derive what the fields of a kind tell, unless it says so itself."""
        columns = {name: field.column for name, field in cls.fields.items()}
        content = tuple(column for name, column in columns.items() if name != "id")
        told: dict[str, Any] = {"id": columns["id"], "text": columns["text"], "content": content}
        told |= {"identical": content, "needed": (columns["id"], columns["text"])}
        for name, value in told.items():
            if name not in vars(cls):
                setattr(cls, name, value)

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        self.connection, self.where = connection, where
        self.columns = columns_in(connection, self.name)

    def refuse_foreign(self, kind: str, hint: str) -> None:
        """Raise Corrupt for a table that lacks what is needed."""
        if missing := [name for name in self.needed if name not in self.columns]:
            what = f"no column {missing[0]!r} in table" if self.columns else "no table"
            said = f"{self.where} has {what} {self.name!r}, so it is no {kind} store"
            raise Corrupt(said, hint)

    def refuse_writing(self) -> None:
        """Raise what keeps the table from being written to."""

    # What rows are as records, and back.

    def records(self, rows: Sequence[Sequence[Any]], whole: bool = False) -> pl.DataFrame:
        """Return rows as `select` gives them as records; they are `whole` if all of the table is there."""
        found = [dict(zip(("rowid", *self.columns), row, strict=True)) for row in rows]
        return from_rows([self._record(row) for row in found], self.where)

    def projected(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what `records` would give for these once they are written."""
        rows = records.to_dicts()
        made = [self._record(self._row(row)) for row in rows]
        kept = [{name: row[name] for name in ("origin", "extra")} for row in rows]
        return from_rows([new | old for new, old in zip(made, kept, strict=True)], self.where)

    def inserted(self, record: Mapping[str, Any], now: datetime) -> Row:
        """Return the row of a record that a plan adds."""
        return self._row({**record, "created_at": record["created_at"] or now})

    def altered(self, before: Mapping[str, Any], after: Mapping[str, Any], now: datetime) -> Row:
        """Return the columns that turn one record into another."""
        return {
            field.column: _native(field, after[name])
            for name, field in self.fields.items()
            if self._has(field) and after[name] != before[name]
        }

    def planned_from(self, record: Mapping[str, Any]) -> Row:
        """Return what compare-and-set expects of the row that a record was read from."""
        native = json.loads(record["extra"])
        known = {column: record[name] for column, name in self._said().items()}
        known |= native.pop("not_utf8", {})
        return {n: known.get(n, native.get(n)) for n in self.content if n in self.columns}

    def seen(self, row: Row) -> Row:
        """Return what compare-and-set looks at in a live row."""
        return {name: plain(row[name]) for name in self.content if name in row}

    def group_of(self, row: Row) -> tuple[str, str]:
        """Return scope and category of a live row."""
        scope = row.get(self.scope)
        said = (DEFAULTS["scope"] if scope is None else scope, row.get(self.category, ""))
        return str(plain(said[0])), str(plain(said[1]))

    def kind_of(self, category: str) -> str:
        """Return the kind of the rows of a category."""
        return category or str(DEFAULTS["kind"])

    def refused(self, was: Mapping[str, Any], new: Row) -> str:
        """Return why new values may not be given to a row, or nothing."""
        if self.text in new and "not_utf8" in json.loads(was["extra"]):
            return "skip.not_utf8"
        return "skip.key_taken" if self.key in new and self.has(self.key, new[self.key]) else ""

    def placed(self, row: Row) -> tuple[Row, str]:
        """Return a new row as it may be added, and why it may not be, or nothing."""
        taken = self.key in row and self.has(self.key, row[self.key])
        return row, "skip.key_taken" if taken else ""

    def stands(self, link: str) -> bool:
        """Tell whether the record is there that a link names."""
        return link in RETIRED or bool(self.rows_of([link]))

    # The statements.

    def select(self, where: str = "") -> str:
        """Return the query for whole rows, of a large column its length in bytes."""
        shown = [f"length({n})" if n in self.large else f'"{n}"' for n in self.columns]
        return f'SELECT rowid, {", ".join(shown)} FROM "{self.name}" {where}'

    def of_ids(self, query: str, ids: Sequence[str]) -> Iterator[Any]:
        """Yield what a query without a condition gives for the rows with these ids, in any order."""
        for at in range(0, len(ids), _AT_ONCE):
            some = ids[at : at + _AT_ONCE]
            marks = ",".join("?" * len(some))
            yield from self.connection.execute(f'{query} WHERE "{self.id}" IN ({marks})', some)

    def rows_of(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return whole rows (rowid and every column) by id."""
        names = ", ".join(f'"{name}"' for name in self.columns)
        found = self.of_ids(f'SELECT rowid, {names} FROM "{self.name}"', ids)
        at = 1 + self.columns.index(self.id)
        return {
            text_of(row[at]): dict(zip(["rowid", *self.columns], row, strict=True)) for row in found
        }

    def read(self, ids: Collection[str] | None) -> pl.DataFrame:
        """Return the records of the table, or of them only these."""
        if ids is not None:
            return self.records([*self.of_ids(self.select(), sorted(ids))])
        rows = self.connection.execute(self.select("ORDER BY rowid")).fetchall()
        return self.records(rows, whole=True)

    def has(self, column: str, value: Any) -> bool:
        """Tell whether a row has a value in a column."""
        mark, native = bound(value)
        query = f'SELECT 1 FROM "{self.name}" WHERE {column} = {mark}'
        return self.connection.execute(query, [native]).fetchone() is not None

    def insert(self, row: Row) -> None:
        """Insert a row as the types that its values have."""
        values = [bound(value) for value in row.values()]
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join(mark for mark, _ in values)
        self.connection.execute(
            f'INSERT INTO "{self.name}" ({names}) VALUES ({marks})', [value for _, value in values]
        )

    def update(self, id_: str, new: Row) -> None:
        """Set columns of the row with an id."""
        values = [bound(value) for value in new.values()]
        sets = ", ".join(f'"{name}" = {mark}' for name, (mark, _) in zip(new, values, strict=True))
        self.connection.execute(
            f'UPDATE "{self.name}" SET {sets} WHERE "{self.id}" = ?', [*(v for _, v in values), id_]
        )

    def delete(self, *ids: str) -> None:
        """Delete the rows with these ids."""
        query = f'DELETE FROM "{self.name}" WHERE "{self.id}" = ?'
        self.connection.executemany(query, [(id_,) for id_ in ids])

    def _has(self, field: Field) -> bool:
        return field.column in self.columns

    def _row(self, record: Mapping[str, Any]) -> Row:
        return {f.column: _native(f, record[n]) for n, f in self.fields.items() if self._has(f)}

    def _said(self) -> dict[str, str]:
        """The columns that a record says itself, so that `extra` keeps no copy of them."""
        return {f.column: n for n, f in self.fields.items() if n in ("text", "key")}

    def _record(self, row: Row) -> dict[str, Any]:
        """A row as a record; `extra` keeps what compare-and-set rests on."""
        said = {n: row[n] for n in self._said() if n in row}
        damaged = {name: plain(value) for name, value in said.items() if not is_text(value)}
        native = {n: plain(v) for n, v in row.items() if n not in (*said, self.id, "rowid")}
        native |= {"not_utf8": damaged} if damaged else {}
        told = {n: _read(f, row[f.column]) for n, f in self.fields.items() if f.column in row}
        about = {"extra": json.dumps(native, ensure_ascii=False, sort_keys=True)}
        about |= {"origin": f"{self.name}/{row['rowid']}"} if "rowid" in row else {}
        return told | about


def is_text(value: Any) -> bool:
    """Tell whether a native value is text that can be read, or no text at all."""
    if not isinstance(value, bytes):
        return value is not None
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def plain(value: Any) -> Any:
    """Return a native value in a form that JSON holds and that tells it from any other."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return f"sha256:{hashlib.sha256(value).hexdigest()}"


def _read(field: Field, value: Any) -> Any:
    if isinstance(value, bytes):
        value = text_of(value)
    return None if value is None else field.read(value)


def _native(field: Field, value: Any) -> Any:
    return None if value is None else field.write(value)
