"""rsclaw's transcripts: what was said, with role and time, as a source to extract from again."""

from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import MemopsError, StoreNotFound
from memops.files import json_object
from memops.schema import empty, from_rows
from memops.stores.disk import read_whole
from memops.stores.rsclaw.disk import inside
from memops.stores.transcripts import moment, text_in, turn, whole_text

_CHANNELS = ("heartbeat", "cron", "system")


def turns(store: Any) -> tuple[pl.DataFrame, list[str]]:
    """Return the turns under `transcripts/` of rsclaw's base folder, and where a line is no turn.

    An API keeps none.
    """
    if not isinstance(path := getattr(store, "path", None), Path):
        hint = "give the file's address, rsclaw:PATH/memory.redb"
        raise MemopsError(f"{store.address}: no transcripts are kept beside it", hint)
    beside = path.resolve().parent
    folder = (beside.parents[2] if inside(beside) else beside) / "transcripts"
    if not folder.is_dir():
        raise StoreNotFound(f"{folder}: no such folder", "give rsclaw's base folder")
    rows, odd = [], []
    for path in sorted(folder.glob("*.jsonl")):
        lines = read_whole(path)[0].split(b"\n")
        for nth, line in enumerate(lines, 1):
            where = f"transcripts/{path.name}#{nth}"
            if (found := _turn(line, path.stem, where)) is not None:
                rows.append(found)
            elif line.strip() and nth < len(lines):
                odd.append(where)
    return from_rows(rows, str(folder)) if rows else empty(), odd


def default_scope(agent: str, channel: str = "") -> str:
    """Return the scope that rsclaw gives what an agent hears on a channel (tools_memory.rs)."""
    return f"agent:{agent}:{channel}" if channel in _CHANNELS else f"agent:{agent}"


def _turn(line: bytes, stem: str, where: str) -> dict[str, Any] | None:
    said = json_object(line)
    text, role = text_in(said.get("content")), said.get("role")
    if text is None or not isinstance(role, str):
        return None
    session = said.get("session")
    session = session if isinstance(session, str) else stem
    scope = default_scope(_plain(said.get("agent"), "main"), _plain(said.get("channel"), ""))
    at = moment(said.get("ts"))
    return {"scope": scope} | turn(where, session, whole_text(role), text, at, where)


def _plain(value: Any, default: str) -> str:
    return whole_text(value) if isinstance(value, str) and value else default
