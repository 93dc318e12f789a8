"""Mending a clawseed database with clawseed's own statements, once its agent has let go of it."""

import sqlite3
from collections.abc import Callable, Iterator

from memops.stores.clawseed import Clawseed
from memops.stores.clawseed.doctor import index_in_step, stale_vectors
from memops.stores.clawseed.rows import REBUILD, TABLE, check_index
from memops.stores.findings import Repair
from memops.stores.sqlite import columns_in, errors, exclusive, names_in, reader, transaction

REPAIRS = ("schema", "index", "namespaces", "vectors")

_ADD = "INSERT INTO memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content);"
_DROP = (
    "INSERT INTO memories_fts(memories_fts, rowid, key, content) "
    "VALUES ('delete', old.rowid, old.key, old.content);"
)
_COLUMNS = {
    "session_id": "TEXT",
    "namespace": "TEXT DEFAULT 'default'",
    "importance": "REAL DEFAULT 0.5",
    "superseded_by": "TEXT",
    "embedding_content_hash": "TEXT DEFAULT NULL",
}
_TABLES = {
    "memories_fts": "CREATE VIRTUAL TABLE memories_fts USING "
    "fts5(key, content, content=memories, content_rowid=rowid)",
    "embedding_cache": "CREATE TABLE embedding_cache (content_hash TEXT PRIMARY KEY, "
    "embedding BLOB NOT NULL, created_at TEXT NOT NULL, accessed_at TEXT NOT NULL)",
}
_ACCESSED = "ALTER TABLE embedding_cache ADD COLUMN accessed_at TEXT NOT NULL DEFAULT ''"
_TRIGGERS = {
    "memories_ai": f"CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN {_ADD} END",
    "memories_ad": f"CREATE TRIGGER memories_ad AFTER DELETE ON memories BEGIN {_DROP} END",
    "memories_au": f"CREATE TRIGGER memories_au AFTER UPDATE ON memories BEGIN {_DROP} {_ADD} END",
}
_INDEXES = {
    "idx_memories_category": "memories(category)",
    "idx_memories_key": "memories(key)",
    "idx_memories_session": "memories(session_id)",
    "idx_memories_namespace": "memories(namespace)",
    "idx_cache_accessed": "embedding_cache(accessed_at)",
}


def repairs(store: Clawseed) -> list[Repair]:
    """Return what can be mended; nothing is changed until a repair is carried out.

    `schema` is for a table without triggers, as clawseed's own start from MEMORY_SNAPSHOT.md
    leaves it: clawseed cannot open that, and would need columns, triggers and a cache that it
    makes for a new database only. The others come after it.
    """
    path = store.path
    with reader(path) as connection:
        found = dict(_planned(store, connection))
    return [
        Repair(check, count, says, steps, None, _carrying_out(store, steps, count))
        for check, (count, says, steps) in found.items()
    ]


def _planned(
    store: Clawseed, connection: sqlite3.Connection
) -> Iterator[tuple[str, tuple[int, str, list[str]]]]:
    columns = columns_in(connection, TABLE)
    if lacking := _schema(connection, columns):
        says = "make what clawseed makes for a new database, and index every row"
        yield "schema", (len(lacking), says, [*lacking, REBUILD])
        return
    # A row cannot be changed while the index has fallen behind: its trigger fails.
    behind = [] if index_in_step(store) else [REBUILD]
    if behind:
        yield "index", (1, "build the search index anew from the table", behind)
    if "namespace" in columns:
        where = f"FROM {TABLE} WHERE namespace IS NULL"
        if n := connection.execute(f"SELECT count(*) {where}").fetchone()[0]:
            step = f"UPDATE {TABLE} SET namespace = 'default' WHERE namespace IS NULL"
            yield "namespaces", (n, "put rows without a namespace into 'default'", [*behind, step])
    if ids := stale_vectors(connection, columns):
        says = "take away vectors that are torn or of another text, so that they are made anew"
        named = ", ".join(str(rowid) for rowid in ids)
        step = f"UPDATE {TABLE} SET embedding = NULL WHERE rowid IN ({named})"
        yield "vectors", (len(ids), says, [*behind, step])


def _schema(connection: sqlite3.Connection, columns: list[str]) -> list[str]:
    """The statements that are missing; none where clawseed itself can open the database."""
    names, cache = names_in(connection), columns_in(connection, "embedding_cache")
    torn = cache and "accessed_at" not in cache
    if not torn and {*_TRIGGERS, "memories_fts"} <= names:
        return []
    added = [
        f"ALTER TABLE {TABLE} ADD COLUMN {n} {t}" for n, t in _COLUMNS.items() if n not in columns
    ]
    made = [sql for name, sql in (_TABLES | _TRIGGERS).items() if name not in names]
    over = [f"CREATE INDEX {n} ON {on}" for n, on in _INDEXES.items() if n not in names]
    return [*added, *([_ACCESSED] if torn else []), *made, *over]


def _carrying_out(store: Clawseed, steps: list[str], count: int) -> Callable[[], int]:
    def carry_out() -> int:
        with errors(store.path), exclusive(store.path) as connection:
            with transaction(connection, "EXCLUSIVE"):
                for step in steps:
                    connection.execute(step)
            check_index(connection, store.path)
        return count

    return carry_out
