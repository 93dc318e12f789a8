"""A table of another program's database: the statements made to it, and what its rows are as records.

A kind names its table and, in `fields`, the column of each record column with how the two are made
of each other (`stores.sqlite.fields`). What a program keeps otherwise, a subclass says in the
methods that it overrides.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, ClassVar

import polars as pl

from memops.errors import Corrupt
from memops.schema import DEFAULTS, RETIRED, empty, from_columns
from memops.stores.sqlite import columns_in
from memops.stores.sqlite.fields import Field
from memops.stores.sqlite.values import JSON, bound, is_text, json_of, plain, text_of

Row = dict[str, Any]
"""Native values by column, `rowid` first."""
_AT_ONCE = 500  # ids in one statement


class Table:
    """One table, as a connection sees it."""

    name: ClassVar[str]
    fields: ClassVar[Mapping[str, Field]]
    """By record column; `id` and `text` are needed."""
    shown: ClassVar[Mapping[str, Field]] = {}
    """The same of what is only read."""
    needed: ClassVar[tuple[str, ...]]
    """Columns without which the table is another program's."""
    content: ClassVar[tuple[str, ...]]
    """Columns that make a row what a plan was made from; if not named, those of the kind's fields
    that are neither counts nor `derived`."""
    identical: ClassVar[tuple[str, ...]]
    """Columns by which a row that is there already is the one that a plan adds: `content`, mostly."""
    derived: ClassVar[tuple[str, ...]] = ()
    """Columns that the program fills at any time: no sign that a row changed."""
    large: ClassVar[tuple[str, ...]] = ()
    """Columns of which only the length in bytes is read where a row is shown."""
    counts: ClassVar[tuple[str, ...]]
    """Columns that the program counts in."""
    live: ClassVar[str]
    """The condition of a row that is live, as SQL: that the column of `superseded_by` says nothing."""

    id: ClassVar[str]
    text: ClassVar[str]
    key: ClassVar[str]
    """A column, beside the id, that no two rows may have the same value in."""
    scope: ClassVar[str]
    """The column of the scope, for floors; all rows are of one scope without one."""
    category: ClassVar[str]
    """The column that tells the kind of a row."""
    link: ClassVar[str]
    """The column that tells of a row that it is not live."""
    stamped: ClassVar[tuple[str, ...]] = ()
    """Columns that tell when the text was written."""

    def __init_subclass__(cls) -> None:
        """Derive what the fields of a kind tell, unless it says so itself."""
        of = {name: field.column for name, field in cls.fields.items()}
        counts = tuple(field.column for field in cls.fields.values() if field.counts)
        apart = (of["id"], *counts, *cls.derived)
        content = tuple(column for column in of.values() if column not in apart)
        told: dict[str, Any] = {"needed": (of["id"], of["text"]), "counts": counts}
        told |= {name: of.get(name, "") for name in ("id", "text", "key", "scope")}
        told |= {"category": of.get("kind", ""), "link": of.get("superseded_by", "")}
        told |= {"content": content, "identical": vars(cls).get("content", content)}
        for name, value in told.items():
            if name not in vars(cls):
                setattr(cls, name, value)
        if "live" not in vars(cls):
            cls.live = _is_none(cls.link, cls.fields["superseded_by"].none) if cls.link else "true"

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
        if not rows:
            return empty()
        rowids, *values = zip(*rows, strict=True)
        of = dict(zip(self.columns, values, strict=True))
        origin = [f"{self.name}/{n}" for n in rowids]
        about = {"origin": origin, "extra": self._extras(of)}
        return from_columns(self.told(of, rowids) | about, self.where)

    def projected(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what `records` would give for these once they are written."""
        rows = [self._row(row) for row in records.to_dicts()]
        if not rows:
            return empty()
        of = {column: [row[column] for row in rows] for column in rows[0]}
        kept = {name: records[name].to_list() for name in ("origin", "extra")}
        return from_columns(self.told(of, range(len(rows))) | kept, self.where)

    def told(
        self, of: Mapping[str, Sequence[Any]], rowids: Sequence[int]
    ) -> dict[str, Sequence[Any]]:
        """Return the columns of records that native ones say, each value read once."""
        known = ((name, f) for name, f in {**self.fields, **self.shown}.items() if f.column in of)
        return {name: self._read(field, of[field.column], rowids) for name, field in known}

    def inserted(self, record: Mapping[str, Any], now: datetime) -> Row:
        """Return the row of a record that a plan adds."""
        return self._row({**record, "created_at": record["created_at"] or now})

    def altered(self, before: Mapping[str, Any], after: Mapping[str, Any], now: datetime) -> Row:
        """Return the columns that turn one record into another."""
        return {
            field.column: field.native(after[name])
            for name, field in self.fields.items()
            if self._has(field) and after[name] != before[name]
        }

    def added(self, new: Row, was: Mapping[str, Any], live: Row, again: bool) -> Row:
        """Return new values with what they add to a count added to what it is by now.

        Done `again`, a count that came as far has been added to.
        """
        told = {n: f.column for n, f in self.fields.items() if f.counts and f.column in new}
        there = {column: live[column] or 0 for column in told.values()}
        by = {column: new[column] - (was[name] or 0) for name, column in told.items()}
        return new | {c: n if again and n >= new[c] else n + by[c] for c, n in there.items()}

    def planned_from(self, record: Mapping[str, Any]) -> Row:
        """Return what compare-and-set expects of the row that a record was read from."""
        native = json.loads(record["extra"])
        known = {column: record[name] for column, name in self._said().items()}
        known |= native.pop("not_utf8", {})
        return {n: known.get(n, native.get(n)) for n in self.content if n in self.columns}

    def seen(self, row: Row) -> Row:
        """Return what compare-and-set looks at in a live row."""
        return {name: plain(row[name]) for name in self.content if name in row}

    def group_of(self, row: Row) -> tuple[Any, Any]:
        """Return scope and category of a row, as they stand there; no scope is the usual one."""
        scope = row.get(self.scope)
        return plain(DEFAULTS["scope"] if scope is None else scope), plain(row.get(self.category))

    def scope_of(self, scope: Any) -> str:
        """Return the scope of the rows with this in the column of scopes."""
        return str(scope) if scope == DEFAULTS["scope"] else self._default("scope", scope)

    def kind_of(self, category: Any) -> str:
        """Return the kind of the rows of a category."""
        return self._default("kind", category)

    def is_live(self, row: Row) -> bool:
        """Tell whether a row is live."""
        field = self.fields.get("superseded_by")
        return field is None or field.said(row.get(self.link)) is None

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
            some = [self.native_id(id_) for id_ in ids[at : at + _AT_ONCE]]
            marks = ",".join("?" * len(some))
            yield from self.connection.execute(f'{query} WHERE "{self.id}" IN ({marks})', some)

    def rows_of(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return whole rows (rowid and every column) by the ids that were asked for."""
        names = ", ".join(f'"{name}"' for name in self.columns)
        found = self.of_ids(f'SELECT rowid, {names} FROM "{self.name}"', ids)
        asked = {self.id_of(id_): id_ for id_ in ids}
        rows = [dict(zip(["rowid", *self.columns], row, strict=True)) for row in found]
        known = [(text_of(self.fields["id"].said(row[self.id])), row) for row in rows]
        return {asked.get(id_, id_): row for id_, row in known}

    def native_id(self, id_: str) -> Any:
        """Return what stands in the id's column of the row of a record."""
        return self.fields["id"].native(id_)

    def id_of(self, id_: str) -> str:
        """Return the id that a record has once it is written."""
        return text_of(self.fields["id"].said(self.native_id(id_)))

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
        query = f'INSERT INTO "{self.name}" ({names}) VALUES ({marks})'
        self.connection.execute(query, [value for _, value in values])

    def update(self, id_: str, new: Row) -> None:
        """Set columns of the row with an id."""
        values = [bound(value) for value in new.values()]
        sets = ", ".join(f'"{name}" = {mark}' for name, (mark, _) in zip(new, values, strict=True))
        given = [*(value for _, value in values), self.native_id(id_)]
        query = f'UPDATE "{self.name}" SET {sets} WHERE "{self.id}" = ?'
        self.connection.execute(query, given)

    def delete(self, *ids: str) -> None:
        """Delete the rows with these ids."""
        query = f'DELETE FROM "{self.name}" WHERE "{self.id}" = ?'
        self.connection.executemany(query, [(self.native_id(id_),) for id_ in ids])

    def _has(self, field: Field) -> bool:
        return field.column in self.columns

    def _row(self, record: Mapping[str, Any]) -> Row:
        return {f.column: f.native(record[n]) for n, f in self.fields.items() if self._has(f)}

    def _said(self) -> dict[str, str]:
        """The columns that a record says itself, so that `extra` keeps no copy of them."""
        return {f.column: n for n, f in self.fields.items() if n in ("text", "key")}

    def _extras(self, of: Mapping[str, Sequence[Any]]) -> list[str]:
        """What compare-and-set rests on, as JSON with its names in order: native values, but null."""
        said = [name for name in self._said() if name in of]
        native = {n: values for n, values in of.items() if n not in (*said, self.id)}
        if self.category in of:
            native.setdefault("category", of[self.category])
        shown = {f"{n}_bytes" if n in self.large else n: values for n, values in native.items()}
        parts = [
            [None if value is None else f'"{name}": {json_of(value)}' for value in shown[name]]
            for name in sorted(shown)
        ]
        lines = [f"{{{', '.join(filter(None, row))}}}" for row in zip(*parts, strict=True)]
        with suppress(TypeError, UnicodeDecodeError):  # nearly all texts are, which one look tells
            for name in said:
                b"\n".join(of[name]).decode()
            return lines
        for nth, values in enumerate(zip(*(of[name] for name in said), strict=True)):
            damaged = {n: plain(v) for n, v in zip(said, values, strict=True) if not is_text(v)}
            if damaged:
                lines[nth] = JSON(json.loads(lines[nth]) | {"not_utf8": damaged})
        return lines

    def _read(self, field: Field, values: Sequence[Any], rowids: Sequence[int]) -> list[Any]:
        with suppress(TypeError, pl.exceptions.PolarsError):  # not all of them text
            if field.read is str and field.none is None:
                return pl.Series(values, dtype=pl.Binary).cast(pl.String).to_list()
        known: dict[Any, Any] = {}
        apart = {int, float} <= {*map(type, values)}  # 1 and 1.0 are one key, and two texts
        try:
            for value in values if apart else {*values}:
                known[repr(value) if apart else value] = field.said(value)
        except Exception as error:  # what a kind's own function makes of any value at all
            at = f"{self.name}/{rowids[values.index(value)]}, column {field.column!r}"
            raise Corrupt(f"{self.where}: {at}: {error}", "mend that value") from error
        return [*map(known.__getitem__, map(repr, values) if apart else values)]

    def _default(self, name: str, native: Any) -> str:
        field = self.fields.get(name)
        value = None if field is None else field.said(native)
        return str(DEFAULTS[name] if value is None else value)


def _is_none(column: str, none: Any) -> str:
    """The condition that a column says nothing, as SQL."""
    told = "'{}'".format(none.replace("'", "''")) if isinstance(none, str) else none
    return f'"{column}" IS NULL' + ("" if none is None else f' OR "{column}" = {told}')
