"""OpenClaw's state database, made for tests: provenance rows as OpenClaw 2026.9 keeps them."""

import contextlib
import hashlib
import json
import sqlite3

TABLE = """CREATE TABLE IF NOT EXISTS plugin_state_entries (plugin_id TEXT NOT NULL,
  namespace TEXT NOT NULL, entry_key TEXT NOT NULL, value_json TEXT NOT NULL,
  created_at INTEGER NOT NULL, expires_at INTEGER,
  PRIMARY KEY (plugin_id, namespace, entry_key)) STRICT"""


def keep(workspace, files):
    """Make the state database beside a workspace with a row for each file: (origin, hash).

    Without a hash the row has that of the file as it is.
    """
    path = workspace.parent / "state" / "openclaw.sqlite"
    path.parent.mkdir(exist_ok=True)
    (workspace.parent / "openclaw.json").write_text("{}")
    own = _digest(str(workspace.resolve()))
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(TABLE)
        for name, (origin, given) in files.items():
            place = workspace / name
            now = hashlib.sha256(place.read_bytes() if place.exists() else b"").hexdigest()
            value = {
                "version": 1, "workspaceKey": own, "relativePath": name, "fileHash": given or now,
                "originClass": origin, "observedAt": 1_780_000_000_000, "sessionKey": "main",
                "reservationId": "r-1",
            }  # fmt: skip
            db.execute(
                "INSERT INTO plugin_state_entries VALUES (?, ?, ?, ?, 1, NULL)",
                ("core:memory-artifact-provenance", "workspace-files",
                 f"{own}:{_digest(name)}", json.dumps(value)),
            )  # fmt: skip
    return path


def _digest(text):
    return hashlib.sha256(text.encode()).hexdigest()
