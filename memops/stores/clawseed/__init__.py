"""clawseed: memories in `WORKSPACE/memory/brain.db`, an SQLite database with a search index.

What the table keeps of a record: key, text, scope (namespace), importance, times, and the key of
the record that supersedes it. Kind and tier follow from the category, which a change leaves alone,
because clawseed prunes by it. Everything else is the overlay's.
"""

import sqlite3
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

from memops.errors import Corrupt
from memops.stores import Usual
from memops.stores.clawseed.rows import REBUILD, TABLE, Memories, check_index, content_hash
from memops.stores.clawseed.view import FILE, without_text
from memops.stores.disk import read_whole, replace_whole, sweep
from memops.stores.sqlite import errors, exclusive, names_in, transaction
from memops.stores.sqlite.store import TableStore


class Clawseed(TableStore):
    """A clawseed workspace, or the database itself."""

    kind: ClassVar[str] = "clawseed"
    paths: ClassVar[tuple[str, ...]] = ("WORKSPACE",)
    usual: ClassVar[Usual] = ("CLAWSEED_WORKSPACE", ("~/.clawseed/workspace",), "")
    table = Memories
    file: ClassVar[str] = "brain.db"
    hint: ClassVar[str] = (
        "give the workspace that holds memory/brain.db; clawseed started without a workspace "
        "keeps it in the folder that it was started in"
    )

    @property
    def workspace(self) -> Path | None:
        """The folder that also holds state and snapshot; None for a database by itself."""
        place = self._place()
        return place.parent.parent if place.parent.name == "memory" else None

    def purge(self, ids: Collection[str], texts: Collection[str] = ()) -> None:
        """Forget records for good, which needs the database to itself; raises Locked."""
        forget(self.path, ids, self.workspace / FILE if self.workspace else None, texts)

    def locator(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the key, which is unique in the store."""
        return {"key": record["key"]}

    def _forgotten(self, path: Path, ids: Collection[str]) -> None:
        forget(path, ids)

    def _place(self) -> Path:
        if self._given.suffix == ".db" and not self._given.is_dir():
            return self._given
        return self._given / "memory" / "brain.db"


def forget(
    path: Path, ids: Collection[str], view: Path | None = None, texts: Collection[str] = ()
) -> None:
    """Remove rows with every trace; raises Locked while anyone has the database open.

    Their entries leave `view`, the snapshot from which clawseed would start again, before the rows
    go: a process that is killed in between is called again with all that it needs.
    """
    with errors(path), exclusive(path) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        query = f"SELECT key, content FROM {TABLE} WHERE id = ?"
        found = (connection.execute(query, [id_]).fetchone() for id_ in ids)
        rows = [row for row in found if row is not None]
        said = {*texts, *(content for _, content in rows)}
        if view is not None:
            _scrub(view, said, {key for key, _ in rows})
        _delete(connection, ids, said)
        connection.execute("VACUUM")
        if "memories_fts" in names_in(connection):
            _index_again(connection, path)


def _delete(connection: sqlite3.Connection, ids: Collection[str], texts: Collection[str]) -> None:
    """Delete rows and their cached vectors."""
    with transaction(connection, "EXCLUSIVE"):
        connection.executemany(f"DELETE FROM {TABLE} WHERE id = ?", [(id_,) for id_ in ids])
        if "embedding_cache" in names_in(connection):
            hashes = [(content_hash(text),) for text in texts]
            connection.executemany("DELETE FROM embedding_cache WHERE content_hash = ?", hashes)
        if "memories_fts" in names_in(connection):
            connection.execute(REBUILD)


def _index_again(connection: sqlite3.Connection, path: Path) -> None:
    """VACUUM may number rows anew, so the index is checked and, if need be, built again."""
    try:
        check_index(connection, path)
    except Corrupt:
        connection.execute(REBUILD)
        check_index(connection, path)


def _scrub(path: Path, texts: Collection[str], keys: Collection[str]) -> None:
    sweep(path)
    if not path.is_file():
        return
    data, stamp = read_whole(path)
    said = [text.strip() for text in texts]
    clean = without_text(data.decode("utf-8", "surrogateescape"), said, keys)
    new = clean.encode("utf-8", "surrogateescape")
    if new != data:
        replace_whole(path, new, unless_changed=stamp)
