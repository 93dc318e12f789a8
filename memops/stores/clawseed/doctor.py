"""Examining a clawseed workspace: its schema, index, vectors, links, times and SQLite itself.

The live database is only read; what takes a write to check is checked on a private copy.
"""

import contextlib
import sqlite3
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from memops.errors import Corrupt
from memops.files import digest
from memops.stores.clawseed import Clawseed
from memops.stores.clawseed.rows import INDEX_CHECK, TABLE
from memops.stores.clawseed.state import hygiene_file, read_hygiene
from memops.stores.findings import Finding, of_modes, of_openers, of_widths
from memops.stores.sqlite import columns_in, names_in, reader
from memops.stores.sqlite.values import is_text

WAL_RESET = ((3, 7, 0), (3, 51, 3))
"""Versions from the first up to, not with, the second can damage a WAL database that two
connections write and checkpoint (sqlite.org/wal.html, "the WAL-reset bug")."""

_TRIGGERS = ("memories_ai", "memories_ad", "memories_au")
_COLUMNS = ("session_id", "namespace", "importance", "superseded_by", "embedding_content_hash")
_BIG_WAL = 64 << 20


def examined(store: Clawseed) -> Iterator[Finding]:
    """Yield what is to be said of a workspace; raises what a store that cannot be read raises."""
    path = store.path
    parts = [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]
    yield from of_openers(path)
    yield from of_modes(parts)
    with tempfile.TemporaryDirectory(prefix="memops-") as folder:
        copy = Path(folder) / "brain.db"
        try:
            store.copy(Path(folder))
        except Corrupt as error:
            yield Finding("damage", "error", 1, error.message, error.hint or "restore a snapshot")
            return
        with reader(copy, private=True) as connection:
            columns = columns_in(connection, TABLE)
            tables = names_in(connection)
            yield from _schema(columns, tables)
            yield from _vectors(connection, columns)
            yield from _rows(connection, columns)
            yield from _times(connection)
        if "memories_fts" in tables:
            yield from _index(copy)
    yield from _engine(path)
    yield from _hygiene(store)


def lacking() -> Iterator[str]:
    """Yield what this machine lacks to work with such a store."""
    options = {row[0] for row in sqlite3.connect(":memory:").execute("PRAGMA compile_options")}
    if "ENABLE_FTS5" not in options:
        yield "Python's SQLite has no FTS5: writing and purging fail"
    if wal_reset(sqlite3.sqlite_version_info):
        yield f"SQLite {sqlite3.sqlite_version} has the WAL-reset bug: write in a quiet hour"


def _hygiene(store: Clawseed) -> Iterator[Finding]:
    """When clawseed pruned last; it does so at its start, at most every twelve hours."""
    path = hygiene_file(store)
    if path is None or not path.exists():
        return
    state = read_hygiene(path)
    if state is None or state.last_run_at is None:
        says = f"{path.name} cannot be understood: clawseed prunes old rows at its next start"
        do = "remove it, or let clawseed write it anew; set hygiene_enabled = false to keep rows"
        yield Finding("hygiene", "warning", 1, says, do)
        return
    says = (
        f"clawseed pruned last at {state.last_run_at.isoformat(timespec='seconds')}: "
        f"{state.conversation} conversation and {state.daily} daily rows"
    )
    do = "nothing; it prunes again at a start twelve hours later"
    yield Finding("hygiene", "info", state.conversation + state.daily, says, do)


def stale_vectors(connection: sqlite3.Connection, columns: list[str]) -> list[int]:
    """Return the rows whose vector is no whole number of floats, or of another text."""
    if "embedding" not in columns:
        return []
    doubts = ["length(embedding) % 4"]
    if "embedding_content_hash" in columns:
        own = "memops_hash", 1, lambda raw: None if raw is None else digest(raw)[:16]
        connection.create_function(*own, deterministic=True)
        told = "embedding_content_hash IS NOT memops_hash(CAST(content AS BLOB))"
        doubts.append(f"length(embedding) AND {told}")
    query = f"SELECT rowid FROM {TABLE} WHERE embedding NOT NULL AND ({' OR '.join(doubts)})"
    return [int(row[0]) for row in connection.execute(query)]


def index_in_step(store: Clawseed) -> bool:
    """Tell whether the search index says what the table says, by a private copy."""
    with tempfile.TemporaryDirectory(prefix="memops-") as folder:
        store.copy(Path(folder))
        return not any(found.level == "error" for found in _index(Path(folder) / "brain.db"))


def wal_reset(version: tuple[int, ...]) -> bool:
    """Tell whether a version of SQLite has the WAL-reset bug."""
    return WAL_RESET[0] <= version < WAL_RESET[1]


def _engine(path: Path) -> Iterator[Finding]:
    with reader(path) as connection:
        wal = connection.execute("PRAGMA journal_mode").fetchone()[0] == b"wal"
    if wal and wal_reset(sqlite3.sqlite_version_info):
        says = (
            f"SQLite {sqlite3.sqlite_version} here, and 3.50.2 in clawseed itself, may damage a "
            "database in WAL mode that two programs write and checkpoint at the same moment"
        )
        do = "let nights run in a quiet hour, or stop the agent; memops itself never checkpoints"
        yield Finding("sqlite", "info", 1, says, do)
    journal = path.with_name(path.name + "-wal")
    if journal.exists() and (size := journal.stat().st_size) > _BIG_WAL:
        says = f"the journal has {size >> 20} MB: nothing has folded it in for long"
        yield Finding("journal", "warning", 1, says, "stop the agent and start it again")


def _schema(columns: list[str], names: set[str]) -> Iterator[Finding]:
    lacking = [name for name in _COLUMNS if name not in columns]
    if lacking and "memories_fts" not in names:
        says = (
            "a table as a restored MEMORY_SNAPSHOT.md makes it, which clawseed cannot open itself"
        )
        do = "with the agent stopped: `memops store doctor STORE --repair schema`"
        yield Finding("schema", "error", 1, says, do)
        return
    if lacking:
        says = f"an older generation, without {', '.join(lacking)}"
        yield Finding("schema", "info", 1, says, "clawseed adds the columns when it next starts")
    if "memories_fts" not in names:
        says = "no search index: the agent finds nothing by words"
        yield Finding("index", "error", 1, says, "start clawseed, which makes it")
    elif missing := [name for name in _TRIGGERS if name not in names]:
        says = f"no trigger {', '.join(missing)}: the index does not follow the table"
        yield Finding("index", "error", len(missing), says, "start clawseed, which makes them anew")


def _vectors(connection: sqlite3.Connection, columns: list[str]) -> Iterator[Finding]:
    if "embedding" not in columns:
        return
    query = f"SELECT length(embedding), count(*) FROM {TABLE} WHERE embedding NOT NULL GROUP BY 1"
    sizes = {int(size): int(n) for size, n in connection.execute(query)}
    if torn := sum(n for size, n in sizes.items() if size % 4):
        says = "vectors that are no whole number of floats"
        do = "with the agent stopped: `memops store doctor STORE --repair vectors`"
        yield Finding("vectors", "error", torn, says, do)
    yield from of_widths({s // 4: n for s, n in sizes.items() if s and s % 4 == 0})
    if stale := len(stale_vectors(connection, columns)) - torn:
        says = "vectors of another text than their row has"
        do = (
            "with the agent stopped: `memops store doctor STORE --repair vectors`, then embed again"
        )
        yield Finding("vectors", "warning", stale, says, do)


def _rows(connection: sqlite3.Connection, columns: list[str]) -> Iterator[Finding]:
    if "namespace" in columns:
        query = f"SELECT count(*) FROM {TABLE} WHERE namespace IS NULL"
        if n := connection.execute(query).fetchone()[0]:
            says = "rows without a namespace: a search within one passes them over"
            do = "with the agent stopped: `memops store doctor STORE --repair namespaces`"
            yield Finding("namespaces", "warning", n, says, do)
    texts = connection.execute(f"SELECT CAST(content AS BLOB) FROM {TABLE}")
    if n := sum(row[0] is not None and not is_text(row[0]) for row in texts):
        says = "texts that are no UTF-8; clawseed cannot read these rows"
        yield Finding("texts", "error", n, says, "delete or mend them; memops keeps their bytes")


def _times(connection: sqlite3.Connection) -> Iterator[Finding]:
    rows = connection.execute(f"SELECT created_at, updated_at FROM {TABLE}")
    times = [_time(value) for row in rows for value in row]
    if odd := times.count(None):
        do = "clawseed compares times as text: give them its own form"
        yield Finding("times", "warning", odd, "times that are no instants", do)
    known = [at for at in times if at is not None]
    if naive := sum(at.tzinfo is None for at in known):
        says = "times without an offset: which instant they mean is unknown"
        yield Finding("times", "warning", naive, says, "nothing that depends on age touches them")
    offsets = {at.utcoffset() for at in known if at.tzinfo is not None}
    if len(offsets) > 1:
        says = f"times with {len(offsets)} UTC offsets; clawseed orders them as text"
        yield Finding("times", "info", len(offsets), says, "memops orders them as instants")


def _index(copy: Path) -> Iterator[Finding]:
    with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        try:
            connection.execute(INDEX_CHECK)
        except sqlite3.OperationalError as error:
            says = f"the search index cannot be checked here: {error}"
            yield Finding("index", "warning", 1, says, "use a Python whose SQLite has FTS5")
        except sqlite3.DatabaseError:
            says = "the search index does not say what the table says: recall misses records"
            do = "with the agent stopped: `memops store doctor STORE --repair index`"
            yield Finding("index", "error", 1, says, do)


def _time(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(bytes(value).decode())
    except (TypeError, ValueError):
        return None
