"""rsclaw's transcripts: what was said, with role and time, as a source to extract from again."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import StoreNotFound
from memops.schema import empty, from_rows, instant
from memops.stores.disk import read_whole

_CHANNELS = ("heartbeat", "cron", "system")
_LATEST = 253_402_300_799
_SURROGATES = re.compile("[\ud800-\udfff]")


def transcripts(base: Path) -> tuple[pl.DataFrame, list[str]]:
    """Return the turns under `transcripts/` of rsclaw's base folder, and where a line is no turn.

    One record of kind `session` a turn: the role is its source, `origin` its file and line, and
    `extra` names the session. Files are only read; a last line that is cut off is left out.
    """
    folder = base / "transcripts"
    if not folder.is_dir():
        raise StoreNotFound(f"{folder}: no such folder", "give rsclaw's base folder")
    rows, odd = [], []
    for path in sorted(folder.glob("*.jsonl")):
        lines = read_whole(path)[0].split(b"\n")
        for nth, line in enumerate(lines, 1):
            where = f"transcripts/{path.name}#{nth}"
            turn = _turn(line, path.stem, where)
            if turn is not None:
                rows.append(turn)
            elif line.strip() and nth < len(lines):
                odd.append(where)
    return from_rows(rows, str(folder)) if rows else empty(), odd


def default_scope(agent: str, channel: str = "") -> str:
    """Return the scope that rsclaw gives what an agent hears on a channel (tools_memory.rs)."""
    return f"agent:{agent}:{channel}" if channel in _CHANNELS else f"agent:{agent}"


def _turn(line: bytes, stem: str, where: str) -> dict[str, Any] | None:
    try:
        turn = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(turn, Mapping):
        return None
    text, role = _text(turn.get("content")), turn.get("role")
    if text is None or not isinstance(role, str):
        return None
    said = instant(turn["ts"]) if isinstance(turn.get("ts"), str) else _moment(turn.get("ts"))
    session = turn.get("session")
    about = {"session": session if isinstance(session, str) else stem}
    agent, channel = turn.get("agent"), turn.get("channel")
    return {
        "id": where,
        "scope": default_scope(_plain(agent, "main"), _plain(channel, "")),
        "kind": "session",
        "role": "session",
        "text": text,
        "source": _SURROGATES.sub("\ufffd", role),
        "created_at": said,
        "origin": where,
        "extra": json.dumps(about, ensure_ascii=True, sort_keys=True),
    }


def _text(content: Any) -> str | None:
    """A turn's text: itself, or its text blocks, a line each."""
    if isinstance(content, list):
        blocks = [b.get("text") for b in content if isinstance(b, Mapping)]
        content = "\n".join(b for b in blocks if isinstance(b, str)) or None
    return _SURROGATES.sub("\ufffd", content) if isinstance(content, str) else None


def _plain(value: Any, default: str) -> str:
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) and value else default


def _moment(ts: Any) -> datetime | None:
    """Seconds, or milliseconds where seconds would lie beyond the year 5138."""
    if isinstance(ts, bool) or not isinstance(ts, int | float) or ts != ts:
        return None
    seconds = ts / 1000 if abs(ts) >= 1e11 else ts
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds <= _LATEST else None
