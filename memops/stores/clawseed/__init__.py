"""clawseed: memories in `WORKSPACE/memory/brain.db`, an SQLite database with a search index.

What the table keeps of a record: key, text, scope (namespace), importance, times, and the key of
the record that supersedes it. Kind and tier follow from the category, which a change leaves alone,
because clawseed prunes by it. Everything else is the overlay's.
"""

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from memops.errors import Corrupt, StoreNotFound
from memops.plan import PUTS
from memops.schema import CHANGES, DEFAULTS, RECORDS, conform
from memops.stores import Keep, Undo, Work, Written
from memops.stores.base import RowStore
from memops.stores.clawseed.purge import forget
from memops.stores.clawseed.rows import (
    category_for,
    frame,
    kind_of,
    own_key,
    role_of,
    source_of,
    subject_of,
    tier_of,
)
from memops.stores.clawseed.snapshot import FILE
from memops.stores.clawseed.sql import TABLE, columns_of, id_of, of_ids, select
from memops.stores.clawseed.write import JUDGED, Session
from memops.stores.disk import sweep
from memops.stores.sqlite import copied, found, reader, restored, text_of, transaction

_NEEDED = ("id", "key", "content", "category", "created_at", "updated_at")
_HINT = (
    "give the workspace that holds memory/brain.db; clawseed started without a workspace "
    "keeps it in the folder that it was started in"
)
_COLUMN = {"scope": "namespace", "importance": "importance", "superseded_by": "superseded_by"}


class Clawseed(RowStore):
    """A clawseed workspace, or the database itself."""

    kind: ClassVar[str] = "clawseed"
    paths: ClassVar[tuple[str, ...]] = ("WORKSPACE",)
    holds: ClassVar[frozenset[str]] = frozenset(
        {"id", "key", "text", "created_at", "updated_at", "scope", "importance", "superseded_by"}
    )

    def __init__(self, path: str) -> None:
        self.address = f"{self.kind}:{path}"
        self._given = Path(path).expanduser().absolute()
        self._session: Session | None = None

    @property
    def path(self) -> Path:
        """The database file; raises StoreNotFound or Corrupt when there is none."""
        return found(self._place(), _HINT)

    @property
    def workspace(self) -> Path | None:
        """The folder that also holds state and snapshot; None for a database by itself."""
        place = self._place()
        return place.parent.parent if place.parent.name == "memory" else None

    def place(self) -> Path:
        """Return where the database is, or would be."""
        return self._place().resolve()

    def identity(self) -> dict[str, str]:
        """Return kind, path and the schema of the table."""
        with self._reading() as connection:
            about = connection.execute(f"PRAGMA table_info({TABLE})").fetchall()
        columns = repr([(bytes(name), bytes(kind)) for _, name, kind, *_ in about])
        schema = hashlib.sha256(columns.encode()).hexdigest()[:16]
        return {"kind": self.kind, "path": str(self.place()), "schema": schema}

    def copy(self, into: Path) -> dict[str, Any]:
        """Copy the database within one read transaction and check the copy."""
        with self._reading() as connection:
            return self._copied(connection, into)

    def _copied(self, connection: sqlite3.Connection, into: Path) -> dict[str, Any]:
        columns = columns_of(connection)
        copied(connection, self._place(), into / "brain.db", TABLE)
        return {
            "consistency": "transaction",
            "rows": self.load(into).height,
            "columns": columns,
            "sqlite": sqlite3.sqlite_version,
        }

    def load(self, raw: Path, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the records of such a copy."""
        path = found(raw / "brain.db", "take the snapshot again")
        with reader(path, private=True) as connection:
            return _records(connection, str(path), ids)

    def read(self, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the live records, as one transaction sees them."""
        with self._reading() as connection, transaction(connection):
            return _records(connection, str(self._place()), ids)

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what `read` would return if these records were written."""
        with self._reading() as connection:
            columns = columns_of(connection)
            query, ids = f"SELECT id, category FROM {TABLE}", records["id"].unique().to_list()
            rows = [
                (text_of(id_), "" if category is None else text_of(category))
                for id_, category in of_ids(connection, query, ids)
            ]
        schema = {"id": pl.String, "_category": pl.String}
        known = pl.DataFrame(rows, schema=schema, orient="row").unique("id")
        return _projected(records.join(known, on="id", how="left"), columns)

    def batches(self, changes: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Split a squashed plan, new records first, into what is judged at once."""
        if changes.is_empty():
            return
        # A new record that another new one replaces at once comes after it.
        puts = changes.filter(PUTS).sort(pl.col("superseded_by").is_not_null(), maintain_order=True)
        rest = pl.concat([puts, changes.filter(~PUTS)]).select(CHANGES.names())
        self._session = session = Session(self.path)
        try:
            while rest.height:
                yield rest.head(JUDGED)
                rest = rest.slice(JUDGED)
        finally:
            self._session = None
            session.close()

    def write(self, work: Work) -> list[Written]:
        """Carry out one batch in transactions that each fit under one short lock."""
        with self._writing() as session:
            return session.write(work)

    def revert(self, undo: list[Undo]) -> list[Written]:
        """Take changes back in one transaction."""
        with self._writing() as session:
            return session.revert(undo)

    def settle(self) -> None:
        """Remove the draft of a restore that was cut off; SQLite itself settles the rest."""
        sweep(self._place())

    def restore(self, raw: Path, keep: Keep) -> dict[str, int]:
        """Make the database what the copy is; raises Locked while anyone has it open."""
        place = self._place()
        if not place.parent.is_dir():
            raise StoreNotFound(f"{place.parent} does not exist", "make the folder first")

        def held(live: sqlite3.Connection | None) -> None:
            if live is None:
                keep(None)
            else:
                live.text_factory = bytes
                keep(partial(self._copied, live))

        self.settle()
        restored(place, found(raw / "brain.db", "the snapshot holds no copy"), held)
        return {}

    def purge(self, ids: Collection[str], texts: Collection[str] = ()) -> None:
        """Forget records for good, which needs the database to itself; raises Locked."""
        view = self.workspace / FILE if self.workspace else None
        forget(self.path, ids, view, texts)

    def forget(self, raw: Path, ids: Collection[str]) -> None:
        """Delete the rows of a copy and rebuild it, so that no free page holds them."""
        forget(found(raw / "brain.db", "take the snapshot again"), ids)

    def locator(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the key, which is unique in the store."""
        return {"key": record["key"]}

    def _place(self) -> Path:
        if self._given.suffix == ".db" and not self._given.is_dir():
            return self._given
        return self._given / "memory" / "brain.db"

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        path = self.path
        if not os.access(path, os.R_OK):
            raise StoreNotFound(f"{path} cannot be read", "run as the user that owns the store")
        with reader(path) as connection:
            _refuse_foreign(columns_of(connection), path)
            yield connection

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Session]:
        if self._session is not None:
            yield self._session
        else:
            with contextlib.closing(Session(self.path)) as session:
                yield session


def _records(
    connection: sqlite3.Connection, where: str, ids: Collection[str] | None
) -> pl.DataFrame:
    columns = columns_of(connection)
    _refuse_foreign(columns, Path(where))
    if ids is not None:
        some = [*of_ids(connection, select(columns), sorted(ids))]
        return frame(some, columns, partial(id_of, connection), where)
    rows = connection.execute(select(columns, "ORDER BY rowid")).fetchall()
    id_at, key_at = (1 + columns.index(name) for name in ("id", "key"))
    known = {row[key_at]: row[id_at] for row in rows if row[id_at] is not None}
    return frame(rows, columns, known.get, where)


def _projected(records: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """What a read would give for these records; `_category` is that of rows already there."""

    def each(column: str | pl.Expr, of: Callable[[Any], str | None]) -> pl.Expr:
        told = pl.col(column) if isinstance(column, str) else column
        return told.map_elements(of, return_dtype=pl.String, skip_nulls=False)

    category = each(pl.struct("kind", "tier"), lambda row: category_for(row["kind"], row["tier"]))
    keyed = records.with_columns(
        _category=pl.coalesce("_category", category), key=pl.coalesce("key", each("id", own_key))
    )
    held = [n for n in Clawseed.holds if _COLUMN.get(n, "id") in columns]
    given = {name: pl.col(name) for name in (*held, "origin", "extra")} | {
        "kind": each("_category", kind_of), "tier": each("_category", tier_of),
        "role": each("_category", role_of), "source": each("key", source_of),
        "subject": each("key", subject_of),
    }  # fmt: skip
    out = keyed.select(**{name: given.get(name, _default(name)) for name in RECORDS})
    return conform(out.with_columns(pl.col("importance").clip(0, 1)))


def _default(name: str) -> pl.Expr:
    return pl.lit(DEFAULTS.get(name), RECORDS[name])


def _refuse_foreign(columns: list[str], path: Path) -> None:
    missing = [name for name in _NEEDED if name not in columns]
    if missing:
        what = f"no column {missing[0]!r} in table" if columns else "no table"
        raise Corrupt(f"{path} has {what} {TABLE!r}, so it is no clawseed store", _HINT)
