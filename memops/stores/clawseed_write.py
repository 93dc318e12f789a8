"""Writing to clawseed's table: one short transaction a batch, compare-and-set, undo first.

Only plain INSERT, UPDATE and DELETE by id are used, so clawseed's triggers keep its search index
in step. The lock is held from BEGIN IMMEDIATE to COMMIT; what scans the table happens before it.
"""

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from memops.errors import Corrupt
from memops.schema import TOMBSTONE
from memops.stores import Undo, Work, Written
from memops.stores.clawseed_batch import Batch
from memops.stores.clawseed_rows import kind_of, plain
from memops.stores.clawseed_sql import TABLE, columns_of, rows_of
from memops.stores.clawseed_undo import reverted
from memops.stores.sqlite import errors, transaction, writer

LEAST, MOST = 10, 200
"""Fewest and most changes in a batch."""
LOCK = 0.08
"""Seconds that a batch should hold the lock at most."""

_TRIGGERS = {
    "memories_ai": ("afterinsertonmemories", "values(new.rowid"),
    "memories_ad": ("afterdeleteonmemories", "'delete',old.rowid"),
    "memories_au": ("afterupdateonmemories", "'delete',old.rowid", "values(new.rowid"),
}


class Session:
    """One connection for a run of batches, and how many changes fit under one short lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = MOST
        self._counts: pl.DataFrame | None = None
        with errors(path):
            self.connection = writer(path)
            self.columns = columns_of(self.connection)
            refuse_without_triggers(self.connection, str(path))

    def close(self) -> None:
        """Let go of the database."""
        self.connection.close()

    def write(self, work: Work) -> list[Written]:
        """Carry out one batch; every change gets an answer, in the batch's order."""
        batch = Batch(work, self.connection, self.columns)
        with errors(self.path), self._locked(work) as counts:
            started = time.monotonic()
            refused = work.check(batch.live_records(str(self.path)), counts)
            answers = batch.carry_out(refused)
            if undo := batch.undo(answers):
                work.keep(undo)
        self._adapt(time.monotonic() - started)
        return answers

    def revert(self, undo: Sequence[Undo]) -> list[Written]:
        """Take changes back in one transaction: insertions first, then edits, then deletions."""
        order = sorted(undo, key=lambda u: (u.before is not None, u.after is None))
        with errors(self.path), transaction(self.connection, "IMMEDIATE"):
            live = rows_of(self.connection, self.columns, [entry.id for entry in undo])
            said = {u.id: reverted(self.connection, u, live.get(u.id)) for u in order}
        return [said[entry.id] for entry in undo]

    @contextlib.contextmanager
    def _locked(self, work: Work) -> Iterator[pl.DataFrame]:
        """Begin, with live counts that are true inside where the guard's floors need them.

        The table is scanned before the lock is taken, unless other writers never pause.
        """
        losing = _may_lose(work)
        for last in (False, False, True):
            if self._counts is None or losing:
                version = self._version()
                self._counts = counted(self.connection, self.columns)
            with transaction(self.connection, "IMMEDIATE"):
                if last and losing:
                    self._counts = counted(self.connection, self.columns)
                if last or not losing or self._version() == version:
                    yield self._counts
                    return

    def _version(self) -> int:
        """Changes when another connection commits."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def _adapt(self, seconds: float) -> None:
        if seconds > LOCK:
            self.size = max(LEAST, self.size // 2)
        elif seconds < LOCK / 4:
            self.size = min(MOST, self.size * 2)


def refuse_without_triggers(connection: sqlite3.Connection, where: str) -> None:
    """Raise Corrupt unless the triggers that keep the search index in step are there."""
    there = {
        bytes(name).decode(): "".join(bytes(sql).decode("utf-8", "replace").lower().split())
        for name, sql in connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", [TABLE]
        )
    }
    for name, parts in _TRIGGERS.items():
        if not all(part in there.get(name, "") for part in parts):
            raise Corrupt(
                f"{where}: without trigger {name} its search index would fall behind",
                "stop clawseed, run `memops doctor --repair` on the store, and start clawseed once",
            )


def counted(connection: sqlite3.Connection, columns: Sequence[str]) -> pl.DataFrame:
    """Return the number of live rows by scope and kind."""
    scope = "coalesce(namespace, 'default')" if "namespace" in columns else "'default'"
    live = "WHERE superseded_by IS NULL" if "superseded_by" in columns else ""
    rows = connection.execute(
        f"SELECT {scope}, category, count(*) FROM {TABLE} {live} GROUP BY 1, 2"
    ).fetchall()
    data = [(str(plain(scope)), kind_of(str(plain(name))), n) for scope, name, n in rows]
    schema = {"scope": pl.String, "kind": pl.String, "live": pl.UInt32}
    groups = pl.DataFrame(data, schema=schema, orient="row").group_by("scope", "kind")
    return groups.agg(pl.sum("live")).sort("scope", "kind")


def _may_lose(work: Work) -> bool:
    """Whether the batch could take live records away from a scope and kind."""
    moves = pl.col("scope").is_not_null() | pl.col("kind").is_not_null()
    risky = (pl.col("action") == "delete") | (pl.col("superseded_by") == TOMBSTONE) | moves
    old = work.changes.filter(risky.fill_null(False)).select("id")
    return old.join(work.before, on="id", how="semi").height > 0
