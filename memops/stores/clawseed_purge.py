"""Forgetting in a clawseed workspace, so that no file of its memory holds the text any more.

Deleting is not forgetting: the text stays in free pages, in the search index's segments, in the
journal and in the snapshot that clawseed writes. Chats in `gateway/sessions.db` are not memories
and are left alone.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from memops.errors import Corrupt
from memops.stores.clawseed_rows import content_hash
from memops.stores.clawseed_snapshot import FILE, without_text
from memops.stores.clawseed_sql import TABLE
from memops.stores.disk import read_whole, replace_whole
from memops.stores.sqlite import errors, exclusive, transaction


def forget(path: Path, ids: Sequence[str]) -> None:
    """Remove rows with every trace; raises Locked while anyone has the database open."""
    with errors(path), exclusive(path) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        texts = _deleted(connection, ids)
        connection.execute("VACUUM")
        if _has(connection, "memories_fts"):
            _index_again(connection, path)
    _scrub(path.parent.parent / FILE, texts)


def _deleted(connection: sqlite3.Connection, ids: Sequence[str]) -> list[str]:
    """Delete rows and their cached vectors; return the texts."""
    marks = ", ".join("?" for _ in ids)
    with transaction(connection, "EXCLUSIVE"):
        query = f"SELECT content FROM {TABLE} WHERE id IN ({marks})"
        texts = [row[0] for row in connection.execute(query, list(ids))]
        connection.execute(f"DELETE FROM {TABLE} WHERE id IN ({marks})", list(ids))
        if _has(connection, "embedding_cache"):
            hashes = [(content_hash(text),) for text in texts]
            connection.executemany("DELETE FROM embedding_cache WHERE content_hash = ?", hashes)
        if _has(connection, "memories_fts"):
            connection.execute("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")
    return texts


def _index_again(connection: sqlite3.Connection, path: Path) -> None:
    """VACUUM may number rows anew, so the index is checked and, if need be, built again."""
    check = "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)"
    try:
        connection.execute(check)
        return
    except sqlite3.DatabaseError:
        connection.execute("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")
    try:
        connection.execute(check)
    except sqlite3.DatabaseError as error:
        raise Corrupt(f"{path}: the search index is damaged", "restore a snapshot") from error


def _has(connection: sqlite3.Connection, table: str) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE name = ?"
    return connection.execute(query, [table]).fetchone() is not None


def _scrub(path: Path, texts: Sequence[str]) -> None:
    if not path.is_file():
        return
    data, stamp = read_whole(path)
    clean = without_text(data.decode("utf-8", "surrogateescape"), [t.strip() for t in texts])
    new = clean.encode("utf-8", "surrogateescape")
    if new != data:
        replace_whole(path, new, unless_changed=stamp)
