"""OpenClaw's sessions: what was said, from JSON lines and from its databases; they are only read.

Until 2026.7 a session is a file below `agents/ID/sessions`, since 2026.9 rows of the agent's own
database, some of them zstd; an archived session is a file again.
"""

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import StoreNotFound
from memops.schema import empty, from_rows
from memops.stores.disk import read_whole
from memops.stores.openclaw import OpenClaw, home
from memops.stores.sqlite import columns_in, reader, transaction
from memops.stores.sqlite.values import text_of
from memops.stores.transcripts import moment, text_in, turn

_LARGEST = 64 << 20
_ROLES = ("user", "assistant")

_Line = tuple[str, str, bytes]
"""Where an event stands, its session, and its JSON."""


def turns(store: OpenClaw) -> tuple[pl.DataFrame, list[str]]:
    """Return the turns of a workspace's sessions, and where an event could not be read."""
    base = home(store.path) / "agents"
    if not base.is_dir():
        raise StoreNotFound(f"{base}: no such folder", "OpenClaw keeps its sessions there")
    rows: dict[str, dict[str, Any]] = {}
    odd: list[str] = []
    for where, session, data in (*_files(base), *_databases(base)):
        event = _event(data)
        if event is None:
            odd.append(where)
        elif (found := _turn(event, where, session)) is not None:
            rows.setdefault(found["id"], found)
    return from_rows(list(rows.values()), str(base)) if rows else empty(), odd


def _files(base: Path) -> Iterator[_Line]:
    for path in sorted([*base.glob("*/sessions/*.jsonl"), *base.glob("*/sessions/*.jsonl.zst")]):
        where, session = path.relative_to(base).as_posix(), path.name.split(".jsonl")[0]
        data = read_whole(path)[0]
        whole = _unpacked(data) if path.suffix == ".zst" else data
        lines = whole.split(b"\n")
        for number, line in enumerate(lines, 1):
            # A last line without an end is one that is being written.
            if line.strip() and number < len(lines):
                yield f"{where}#{number}", session, line


def _databases(base: Path) -> Iterator[_Line]:
    for path in sorted(base.glob("*/agent/openclaw-agent.sqlite")):
        where = path.relative_to(base).as_posix()
        with reader(path) as db, transaction(db):
            columns = {*columns_in(db, "transcript_events")}
            if not columns >= {"session_id", "seq", "event_json"}:
                continue
            packed = "event_zstd" if "event_zstd" in columns else "NULL"
            query = (
                f"SELECT session_id, seq, event_json, {packed} FROM transcript_events ORDER BY 1, 2"
            )
            for session, seq, plain, small in db.execute(query):
                name = text_of(session)
                yield f"{where}#{name}:{seq}", name, plain if plain else _unpacked(small or b"")


def _unpacked(data: bytes) -> bytes:
    """What zstd packed; nothing for what it did not."""
    import pyarrow as pa

    try:
        with pa.input_stream(io.BytesIO(data), compression="zstd") as stream:
            return bytes(stream.read(_LARGEST))
    except OSError:
        return b""


def _event(data: bytes) -> Mapping[str, Any] | None:
    try:
        event = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, Mapping) else None


def _turn(event: Mapping[str, Any], where: str, session: str) -> dict[str, Any] | None:
    message = event.get("message")
    if event.get("type") != "message" or not isinstance(message, Mapping):
        return None
    role, text = message.get("role"), text_in(message.get("content"), typed=True)
    if role not in _ROLES or not text or not text.strip():
        return None
    own, at = event.get("id"), moment(event.get("timestamp", message.get("timestamp")))
    id_ = f"{session}/{own}" if isinstance(own, str) and own.isprintable() else where
    return turn(id_, session, role, text, at, where)
