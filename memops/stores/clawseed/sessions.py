"""clawseed's chats: the full text of turns of which its memories keep some fifty bytes.

`WORKSPACE/gateway/sessions.db` is filled only where session persistence is on. It is read, never
written: it is a source to extract from, not a store of memories.
"""

import re
from typing import Any

import polars as pl

from memops.errors import Corrupt
from memops.schema import from_rows, instant
from memops.stores.clawseed import Clawseed
from memops.stores.sqlite import columns_in, found, reader, transaction
from memops.stores.sqlite.values import text_of
from memops.stores.transcripts import turn

FILE = "gateway/sessions.db"

_INJECTED = re.compile(r"\s*\[memory context\].*?\[/memory context\]\s*", re.IGNORECASE | re.DOTALL)
_HINT = "clawseed writes it when gateway.session_persistence is true"


def turns(store: Clawseed) -> tuple[pl.DataFrame, list[str]]:
    """Return the turns of a workspace's chats, one record of kind `session` each; none is unreadable."""
    path = found((store.workspace or store.place().parents[1]) / FILE, _HINT)
    with reader(path) as connection, transaction(connection):
        there = columns_in(connection, "messages")
        if missing := {"id", "session_key", "role", "content", "created_at"} - {*there}:
            raise Corrupt(f"{path}: table 'messages' has no column {min(missing)!r}", _HINT)
        query = "SELECT id, session_key, role, content, created_at FROM messages ORDER BY id"
        rows = connection.execute(query).fetchall()
    turns_ = [_turn(*(text_of(value or "") for value in row)) for row in rows]
    return from_rows(turns_, str(path)), []


def _turn(id_: str, session: str, role: str, content: str, created_at: str) -> dict[str, Any]:
    said = _INJECTED.sub("", content, count=1) if _INJECTED.match(content) else content
    return turn(f"sessions/{id_}", session, role, said, instant(created_at), f"{FILE}#{id_}")
