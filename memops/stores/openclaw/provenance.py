"""OpenClaw's provenance rows: which files it takes for its agent's, by a hash of their content.

Since 2026.9 a row of `state/openclaw.sqlite` keeps, for every memory file that an agent's tool
wrote, the hash of what it wrote and whether the file is the agent's or untrusted. Before its next
write the agent compares: content that another hand changed makes the file untrusted for good, and
an untrusted MEMORY.md is no longer read out. memops never writes these rows unless it is asked to.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memops.errors import MemopsError
from memops.stores import Written
from memops.stores.markdown import files
from memops.stores.sqlite import changing, reader
from memops.stores.sqlite.values import Text, as_json, bound, from_json

TABLE = "plugin_state_entries"
OWNER, NAMESPACE = "core:memory-artifact-provenance", "workspace-files"
AGENT, UNTRUSTED = "agent", "untrusted"

_WHERE = "plugin_id = ? AND namespace = ? AND entry_key = ?"


@dataclass(frozen=True)
class Provenance:
    """One row: the file, what the agent last made of it, and whose OpenClaw takes it for."""

    database: Path
    key: str
    path: str
    file_hash: str
    origin: str
    value: str
    whole: tuple[tuple[str, Any], ...]

    def edited(self, content: bytes | None) -> bool:
        """Tell whether another hand has changed the file since the agent wrote it."""
        return content is not None and content_hash(content) != self.file_hash


def content_hash(content: bytes) -> str:
    """Return the hash that OpenClaw keeps of a file: SHA-256 of its text, in UTF-8 again."""
    return hashlib.sha256(content.decode("utf-8", "replace").encode()).hexdigest()


def rows(home: Path, workspace: Path) -> list[Provenance]:
    """Return the rows of a workspace's files, by path; none where OpenClaw keeps none."""
    prefix = content_hash(str(workspace.resolve()).replace("\\", "/").encode()) + ":"
    found = []
    database = home / "state" / "openclaw.sqlite"
    for row in _entries(database):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            key, value = str(row["entry_key"]), str(row["value_json"])
            said = json.loads(value)
            if key.startswith(prefix):
                path, kept, origin = said["relativePath"], said["fileHash"], said["originClass"]
                whole = tuple(row.items())
                found.append(
                    Provenance(database, key, str(path), str(kept), str(origin), value, whole)
                )
    return sorted(found, key=lambda row: row.path)


@dataclass(frozen=True)
class Standing:
    """The rows of a workspace, what their files hold, and which are doubted or were edited since."""

    kept: list[Provenance]
    now: dict[str, bytes]
    doubted: list[Provenance]
    edited: list[Provenance]


def standing(home: Path, workspace: Path) -> Standing:
    """Return how a workspace's files stand with OpenClaw; one that cannot be read is left out."""
    kept, now = rows(home, workspace), dict[str, bytes]()
    for row in kept:
        with contextlib.suppress(MemopsError):
            now[row.path] = files.read(workspace, row.path)[0]
    doubted = [row for row in kept if row.origin == UNTRUSTED]
    edited = [row for row in kept if row.origin != UNTRUSTED and row.edited(now.get(row.path))]
    return Standing(kept, now, doubted, edited)


def vouched(row: Provenance, content: bytes) -> str:
    """Return a row's value once it is said that the file, as it is, stands as the agent's own."""
    said: dict[str, Any] = json.loads(row.value)
    said["fileHash"] = content_hash(content)
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def change(row: Provenance, value: str | None) -> bool:
    """Give a row a new value, or delete it with None; return False if it is not as it was."""
    place = [OWNER, NAMESPACE, row.key, row.value]
    with changing(row.database) as connection:
        verb = f"DELETE FROM {TABLE}" if value is None else f"UPDATE {TABLE} SET value_json = ?"
        values = place if value is None else [value, *place]
        made = connection.execute(f"{verb} WHERE {_WHERE} AND value_json = ?", values)
        return made.rowcount == 1


def put_back(database: Path, whole: Mapping[str, Any], after: str | None) -> Written:
    """Make a row what it was where it still is what `change` made of it."""
    key, before = whole["entry_key"], whole["value_json"]
    with changing(database) as connection:
        place = [OWNER, NAMESPACE, key]
        found = connection.execute(f"SELECT value_json FROM {TABLE} WHERE {_WHERE}", place)
        now = (row := found.fetchone()) and bytes(row[0]).decode()
        if now == before:
            return Written(key, "already")
        if now != after:
            return Written(key, "stale", "skip.changed_repaired")
        if now is None:
            values = [bound(from_json(value)) for value in whole.values()]
            columns, marks = ", ".join(f'"{n}"' for n in whole), ", ".join(m for m, _ in values)
            insert = f"INSERT INTO {TABLE} ({columns}) VALUES ({marks})"
            connection.execute(insert, [v for _, v in values])
        else:
            update = f"UPDATE {TABLE} SET value_json = ? WHERE {_WHERE}"
            connection.execute(update, [before, *place])
    return Written(key, "applied")


def _entries(database: Path) -> list[dict[str, Any]]:
    if not database.is_file():
        return []
    query = f"SELECT * FROM {TABLE} WHERE plugin_id = ? AND namespace = ?"
    with contextlib.suppress(MemopsError), reader(database) as connection:
        connection.text_factory = Text
        found = connection.execute(query, [OWNER, NAMESPACE])
        names = [column[0] for column in found.description]
        return [dict(zip(names, map(as_json, row), strict=True)) for row in found.fetchall()]
    return []
