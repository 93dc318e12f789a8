"""SQLite beside a live agent: connections that never disturb it, and exact copies.

A live file is only ever touched through SQLite: opening and closing it by any other means in this
process would drop the locks of our own connections. Readers are `mode=ro` and take everything in
one transaction; writers begin IMMEDIATE, never checkpoint, never vacuum.
"""

import contextlib
import fcntl
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from memops.errors import Corrupt, Locked, MemopsError, NoSpace, StoreNotFound
from memops.failpoints import failpoint
from memops.files import STEP, sync
from memops.stores.disk import failure, put_aside, replace_whole
from memops.stores.sqlite.values import Text, text_of

WAIT = 4.0
"""Seconds to wait for another writer; an agent that waits for us gives up after five."""

_KINDS: dict[int, tuple[type[MemopsError], str]] = {
    5: (Locked, "try again when the other process is done"),  # BUSY
    6: (Locked, "try again when the other process is done"),  # LOCKED
    3: (StoreNotFound, "run as the user that owns the store"),  # PERM
    23: (StoreNotFound, "run as the user that owns the store"),  # AUTH
    14: (StoreNotFound, "check that its folder may be read, and written for the -shm file"),
    8: (NoSpace, "make file and folder writable; if its program crashed, start that once"),
    7: (NoSpace, "free some memory"),  # NOMEM
    10: (NoSpace, "look at the device, then run the command again"),  # IOERR
    13: (NoSpace, "make room, then run the command again"),  # FULL
}
_LOOK = "SELECT count(*) FROM sqlite_master"
_LOCK_BYTES = (0x40000000, 512)  # pending, reserved and shared lock bytes of the file format


@contextlib.contextmanager
def errors(path: Path) -> Iterator[None]:
    """Turn SQLite's failures into errors that name the file; what is left over means damage."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        kind, hint = _KINDS.get(code, (Corrupt, "restore a snapshot"))
        raise kind(f"{path}: {error}", hint) from error
    except UnicodeDecodeError as error:  # the name of a column, or a statement of the schema
        raise Corrupt(f"{path}: {error}", "restore a snapshot") from error
    except OSError as error:
        raise failure(path, error) from error


def found(path: Path, hint: str) -> Path:
    """Return the path of a database file that is there; raises StoreNotFound or Corrupt.

    Looks at the file's status only and opens nothing.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise StoreNotFound(f"{path}: {error.strerror}", hint) from error
    if not stat.S_ISREG(status.st_mode):
        raise StoreNotFound(f"{path} is no regular file", hint)
    if status.st_size == 0:
        raise Corrupt(f"{path} is empty, so it is no database", "restore a snapshot")
    return path


@contextlib.contextmanager
def reader(path: Path, private: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a connection that cannot write; `private` promises that nobody else has the file."""
    with errors(path), contextlib.closing(_reading(path, private)) as connection:
        yield connection


@contextlib.contextmanager
def changing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection for one transaction, which is committed, or rolled back as a whole."""
    with (
        errors(path),
        contextlib.closing(writer(path)) as connection,
        transaction(connection, "IMMEDIATE"),
    ):
        yield connection


def _reading(path: Path, private: bool) -> sqlite3.Connection:
    sealed = "&immutable=1" if private else ""
    if not private:
        _rolled_back(path)
    connection = _opened(path, f"mode=ro{sealed}")
    connection.execute("PRAGMA query_only = 1")
    connection.text_factory = bytes
    return connection


def writer(path: Path) -> sqlite3.Connection:
    """Return a connection that may write, and never makes a file or checkpoints on commit."""
    connection = _opened(path, "mode=rw")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA synchronous = FULL")
    connection.text_factory = Text
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, mode: str = "DEFERRED") -> Iterator[None]:
    """Commit what is done inside, or roll all of it back."""
    connection.execute(f"BEGIN {mode}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def copied(source: sqlite3.Connection, path: Path, into: Path, table: str) -> int:
    """Copy a live database into a new file; return the number of rows of a table.

    The copy is made inside a read transaction that is open already, so a writer cannot make it
    start again; then it is checked. It goes to disk bit by bit, so that no commit of the writer
    has to wait for much of it. Raises Corrupt when it does not hold together.
    """
    with (
        errors(path),
        contextlib.closing(sqlite3.connect(into, isolation_level=None)) as target,
        into.open("rb", buffering=0) as file,
        transaction(source),
    ):
        rows = source.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
        pages = STEP // source.execute("PRAGMA page_size").fetchone()[0]
        source.backup(target, pages=pages, progress=lambda *_: os.fdatasync(file.fileno()))
    with reader(into, private=True) as copy:
        said = [row[0].decode("utf-8", "replace") for row in copy.execute("PRAGMA quick_check(3)")]
        if said != ["ok"]:
            raise Corrupt(f"{path} is damaged: {'; '.join(said)}", "restore a snapshot")
        if (there := copy.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]) != rows:
            raise Corrupt(f"{path}: {rows} rows were read and {there} copied", "try again")
    return int(rows)


def restored(path: Path, copy: Path, keep: Callable[[sqlite3.Connection | None], object]) -> None:
    """Make a database what a copy is, in one transaction; raises Locked while anyone has it open.

    `keep` is given the connection that holds it alone, from before until it is overwritten. A
    database too damaged to be kept is put aside with its journal and replaced.
    """
    if path.exists() and path.stat().st_size:
        try:
            _overwritten(path, copy, keep)
            return
        except Corrupt:
            with errors(path):
                _put_aside(path)
    keep(None)
    with errors(path):
        replace_whole(path, copy.read_bytes())


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold a database alone, its journal folded in; raises Locked while anyone has it open.

    The lock that the empty transaction takes is held until the connection is closed.
    """
    _refuse_if_held(path)
    with contextlib.closing(_opened(path, "mode=rw")) as live:
        live.execute("PRAGMA locking_mode = EXCLUSIVE")
        was = live.execute("PRAGMA journal_mode").fetchone()[0]
        live.execute("PRAGMA journal_mode = DELETE")
        live.execute("PRAGMA synchronous = FULL")
        live.execute("BEGIN EXCLUSIVE")
        live.execute("COMMIT")
        try:
            yield live
        finally:
            if was == "wal":
                with contextlib.suppress(sqlite3.Error):  # its program sets it when it starts
                    live.execute("PRAGMA journal_mode = WAL")


def names_in(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all tables, indexes and triggers of a database."""
    return {text_of(name) for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def columns_in(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of a table, in order; none if there is no such table."""
    return [text_of(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]


def _opened(path: Path, options: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.resolve()))}?{options}"
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=WAIT, check_same_thread=False
    )


def _rolled_back(path: Path) -> None:
    """Roll a hot journal back, as SQLite does for whoever may write, and may not for a reader."""
    if not path.with_name(f"{path.name}-journal").exists():
        return
    try:
        with contextlib.closing(_opened(path, "mode=ro")) as probe:
            probe.execute(_LOOK)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK:
            with contextlib.closing(_opened(path, "mode=rw")) as able:
                able.execute(_LOOK)


def _refuse_if_held(path: Path) -> None:
    """Every connection that has read a database holds a lock on these bytes.

    No connection of ours is open here, so closing the file drops no lock of our own.
    """
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCK_BYTES[1], _LOCK_BYTES[0])
    except (BlockingIOError, PermissionError) as error:
        raise Locked(f"{path} is open in another process", "stop the agent first") from error
    finally:
        os.close(handle)


def _overwritten(path: Path, copy: Path, keep: Callable[[sqlite3.Connection], object]) -> None:
    """Replace every page inside one transaction."""
    with errors(path), exclusive(path) as live:
        keep(live)
        failpoint("sqlite-held")
        with contextlib.closing(_reading(copy, private=True)) as source:
            source.backup(live)
        failpoint("sqlite-restored")
        # The pages name the copy's mode by now; without this SQLite would leave the journal, which
        # holds what was there, beside a database that needs none.
        live.execute("PRAGMA journal_mode = DELETE")
        if _is_wal(copy):
            live.execute("PRAGMA journal_mode = WAL")
    with errors(path):
        sync(path.parent)


def _is_wal(path: Path) -> bool:
    """Whether a copy, which nobody has open, is of a database with a write-ahead log."""
    with path.open("rb") as file:
        return file.read(20)[18:20] == b"\2\2"


def _put_aside(path: Path) -> None:
    """Give a damaged database a second name, and take its journals away to that name."""
    aside = put_aside(path)
    for suffix in ("-wal", "-shm", "-journal"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.replace(aside.with_name(aside.name + suffix))
