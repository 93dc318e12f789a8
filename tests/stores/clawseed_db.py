"""Databases with clawseed's schema, made for tests.

The schema is that of clawseed's store after all its migrations, of the seven columns that its
first release had, and of what its hydration from MEMORY_SNAPSHOT.md leaves behind.
"""

import contextlib
import hashlib
import sqlite3
import struct
from pathlib import Path

COLUMNS = (
    "id", "key", "content", "category", "embedding", "created_at", "updated_at", "session_id",
    "namespace", "importance", "superseded_by", "embedding_content_hash",
)  # fmt: skip
BASE = """CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
  content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL)"""
FTS = """CREATE VIRTUAL TABLE memories_fts USING
  fts5(key, content, content=memories, content_rowid=rowid)"""
ADD = "INSERT INTO memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content);"
DROP = (
    "INSERT INTO memories_fts(memories_fts, rowid, key, content) "
    "VALUES ('delete', old.rowid, old.key, old.content);"
)
TRIGGERS = (
    f"CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN {ADD} END",
    f"CREATE TRIGGER memories_ad AFTER DELETE ON memories BEGIN {DROP} END",
    f"CREATE TRIGGER memories_au AFTER UPDATE ON memories BEGIN {DROP} {ADD} END",
)
CACHE = """CREATE TABLE embedding_cache (content_hash TEXT PRIMARY KEY, embedding BLOB NOT NULL,
  created_at TEXT NOT NULL, accessed_at TEXT NOT NULL)"""
ADDED = (
    "session_id TEXT",
    "namespace TEXT DEFAULT 'default'",
    "importance REAL DEFAULT 0.5",
    "superseded_by TEXT",
    "embedding_content_hash TEXT DEFAULT NULL",
)


def build(workspace: Path, rows=(), variant="current", wal=True) -> Path:
    """Make WORKSPACE/memory/brain.db with the given rows (dictionaries) and return its path."""
    path = workspace / "memory" / "brain.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        if wal:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(BASE)
        connection.execute(FTS)
        if variant == "hydrated":
            connection.execute(CACHE.replace(", accessed_at TEXT NOT NULL", ""))
        else:
            for statement in (*TRIGGERS, CACHE):
                connection.execute(statement)
        for column in ADDED if variant == "current" else ():
            connection.execute(f"ALTER TABLE memories ADD COLUMN {column}")
        connection.execute("BEGIN")
        for number, given in enumerate(rows):
            insert(connection, row(number, **given), variant)
        connection.execute("COMMIT")
    return path


def row(number: int, content="", **given) -> dict:
    """Return a whole row; what is not given is made up from the number."""
    stamp = f"2026-05-{1 + number % 28:02d}T08:00:00.{number:09d}+08:00"
    made = {
        "id": f"id{number:04d}", "key": f"key{number:04d}", "content": content, "category": "core",
        "embedding": None, "created_at": stamp, "updated_at": given.get("created_at", stamp),
        "session_id": None, "namespace": "default", "importance": 0.5, "superseded_by": None,
        "embedding_content_hash": digest(content),
    }  # fmt: skip
    return made | given


def insert(connection, made, variant="current"):
    """Insert a row the way clawseed does."""
    names = COLUMNS if variant == "current" else COLUMNS[:7]
    marks = ["CAST(? AS TEXT)" if n != "embedding" and isinstance(made[n], bytes) else "?"
             for n in names]  # fmt: skip
    connection.execute(
        f"INSERT INTO memories ({','.join(names)}) VALUES ({','.join(marks)})",
        [made[name] for name in names],
    )


def digest(content) -> str:
    data = content if isinstance(content, bytes) else content.encode()
    return hashlib.sha256(data).hexdigest()[:16]


def vector(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def dump(path: Path, how="") -> dict:
    """Return every row by id: rowid, then each value with its storage class."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro{how}", uri=True)) as connection:
        connection.text_factory = bytes
        names = [info[1].decode() for info in connection.execute("PRAGMA table_info(memories)")]
        shown = ", ".join(f'typeof("{name}"), "{name}"' for name in names)
        rows = connection.execute(f"SELECT id, rowid, {shown} FROM memories").fetchall()
    return {values[0]: tuple(values[1:]) for values in rows}


def in_step(path: Path) -> bool:
    """Whether the search index agrees with the table, and the file with itself."""
    with (
        contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as source,
        contextlib.closing(sqlite3.connect(":memory:")) as copy,
    ):
        source.backup(copy)
        try:
            copy.execute(
                "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)"
            )
        except sqlite3.DatabaseError:
            return False
        return copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def cell(path: Path, id_: str, column: str):
    """Return one native value."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        found = connection.execute(f"SELECT {column} FROM memories WHERE id = ?", [id_]).fetchone()
    return found and found[0]


def execute(path: Path, statement: str, *values) -> None:
    """Do what the agent does, on a connection of its own."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=5)) as connection:
        connection.execute(statement, values)
