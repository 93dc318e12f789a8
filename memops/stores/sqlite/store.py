"""The base of a store that is one table of another program's SQLite database."""

import contextlib
import os
import sqlite3
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from memops.errors import StoreNotFound
from memops.files import digest
from memops.plan import PUTS
from memops.schema import CHANGES
from memops.stores import Keep, Undo, Work, Written
from memops.stores.base import RowStore
from memops.stores.disk import sweep
from memops.stores.sqlite import copied, errors, exclusive, found, reader, restored, transaction
from memops.stores.sqlite.table import Table
from memops.stores.sqlite.write import Session

JUDGED = 500
"""Most changes that the guard judges at once."""


class TableStore(RowStore):
    """A table beside a live agent; a kind names it, and says what its rows are."""

    table: ClassVar[type[Table]]
    file: ClassVar[str]
    """The database's name in a copy."""
    hint: ClassVar[str] = "give the path of the database"

    def __init_subclass__(cls) -> None:
        """Derive the columns that a kind holds from those of its table."""
        if "holds" not in vars(cls):
            cls.holds = frozenset(cls.table.fields)

    def __init__(self, path: str) -> None:
        self.address = f"{self.kind}:{path}"
        self._given = Path(path).expanduser().absolute()
        self._session: Session | None = None

    @property
    def path(self) -> Path:
        """The database file; raises StoreNotFound or Corrupt when there is none."""
        return found(self._place(), self.hint)

    def place(self) -> Path:
        """Return where the database is, or would be."""
        return self._place().resolve()

    def identity(self) -> dict[str, str]:
        """Return kind, path and the schema of the table."""
        with self._reading() as table:
            about = table.connection.execute(f"PRAGMA table_info({table.name})").fetchall()
        columns = repr([(bytes(name), bytes(kind)) for _, name, kind, *_ in about])
        schema = digest(columns)[:16]
        return {"kind": self.kind, "path": str(self.place()), "schema": schema}

    def copy(self, into: Path) -> dict[str, Any]:
        """Copy the database within one read transaction and check the copy."""
        with self._reading() as table:
            return self._copied(table.connection, into)

    def load(self, raw: Path, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the records of such a copy."""
        with self._opened(self._copy_in(raw), private=True) as table:
            return table.read(ids)

    def read(self, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the live records, as one transaction sees them."""
        with self._reading() as table, transaction(table.connection):
            return table.read(ids)

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what `read` would return if these records were written."""
        with self._reading() as table:
            return table.projected(records)

    def batches(self, changes: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Split a squashed plan, new records first, into what is judged at once."""
        if changes.is_empty():
            return
        # A new record that another new one replaces at once comes after it.
        puts = changes.filter(PUTS).sort(pl.col("superseded_by").is_not_null(), maintain_order=True)
        rest = pl.concat([puts, changes.filter(~PUTS)]).select(CHANGES.names())
        self._session = session = Session(self.path, self.table)
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
        restored(place, found(raw / self.file, "the snapshot holds no copy"), held)
        return {}

    def purge(self, ids: Collection[str], texts: Collection[str] = ()) -> None:
        """Forget records for good, which needs the database to itself; raises Locked."""
        self._forgotten(self.path, ids)

    def forget(self, raw: Path, ids: Collection[str]) -> None:
        """Delete the rows of a copy and rebuild it, so that no free page holds them."""
        self._forgotten(self._copy_in(raw), ids)

    def _place(self) -> Path:
        """Where the database is, of what stands in the address."""
        return self._given

    def _copy_in(self, raw: Path) -> Path:
        return found(raw / self.file, "take the snapshot again")

    def _copied(self, connection: sqlite3.Connection, into: Path) -> dict[str, Any]:
        columns = self.table(connection, str(self._place())).columns
        copied(connection, self._place(), into / self.file, self.table.name)
        about = {"columns": columns, "sqlite": sqlite3.sqlite_version}
        return {"consistency": "transaction", "rows": self.load(into).height, **about}

    def _forgotten(self, path: Path, ids: Collection[str]) -> None:
        with errors(path), exclusive(path) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            with transaction(connection, "EXCLUSIVE"):
                self.table(connection, str(path)).delete(*ids)
            connection.execute("VACUUM")

    @contextlib.contextmanager
    def _opened(self, path: Path, private: bool = False) -> Iterator[Table]:
        with reader(path, private) as connection:
            table = self.table(connection, str(path))
            table.refuse_foreign(self.kind, self.hint)
            yield table

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Table]:
        path = self.path
        if not os.access(path, os.R_OK):
            raise StoreNotFound(f"{path} cannot be read", "run as the user that owns the store")
        with self._opened(path) as table:
            yield table

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Session]:
        if self._session is not None:
            yield self._session
        else:
            with contextlib.closing(Session(self.path, self.table)) as session:
                yield session
