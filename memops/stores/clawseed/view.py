"""A MEMORY_SNAPSHOT.md that loses nothing: clawseed reads it as its own, memops reads all of it.

clawseed drops every line that begins with `*Created:`, so memops writes a second one of them after
each entry, with what the first cannot say: namespace, importance, session, and the exact text
where clawseed would not read it back as it is. A line of a text that looks like the file's own
furniture gets a backslash, which Markdown does not show.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops.files import json_object
from memops.schema import CATEGORY, LIVE, instant
from memops.stores.clawseed.snapshot import FILE, exported, parsed
from memops.stores.disk import replace_whole

TITLE = "# ClawSeed Memory Snapshot"

_FURNITURE = re.compile(r"^(\s*)(---\s*|\*Created:.*|### `.*`\s*)$", re.M)
_ENTRY = re.compile(r"^(?=### `)", re.M)
_TIMES = re.compile(r"^\*Created: (?P<created_at>.*?) \| Updated: (?P<updated_at>.*?)\*\r?$", re.M)
_REST = re.compile(r"^\*Created: by memops from (?P<said>\{.*\})\*\r?$", re.M)
_KEPT = {"namespace": "scope", "importance": "importance", "session_id": None}


def view(records: pl.DataFrame, now: datetime) -> str | None:
    """Return the file for a store's live records of category core, None if there are none."""
    core = records.filter(LIVE, CATEGORY == "core")
    rows = [_row(record) for record in core.sort("id").to_dicts()]
    return exported(rows, now.astimezone().strftime("%Y-%m-%d %H:%M:%S"))


def write_view(workspace: Path, text: str) -> Path:
    """Put the file into a workspace, all or nothing; returns its path."""
    path = workspace / FILE
    replace_whole(path, text.encode())
    return path


def entries(text: str) -> Iterator[dict[str, Any]]:
    """Yield what a snapshot file holds, as values of our columns; of clawseed's own file less."""
    for part in _ENTRY.split(text.replace("\r\n", "\n"))[1:]:
        for key, content in parsed(part)[:1]:
            found = _TIMES.search(part)
            times = {n: at for n, at in (found.groupdict() if found else {}).items() if instant(at)}
            yield {"key": key, "text": content, "tier": "core"} | times | _said(part)


def is_view(text: str) -> bool:
    """Tell whether a text is such a file."""
    return text.lstrip("\ufeff").startswith(TITLE)


def _row(record: dict[str, Any]) -> dict[str, str]:
    """A record as the row that clawseed would export, the rest hidden in its closing line."""
    native: dict[str, Any] = json.loads(record["extra"])
    key, text = record["key"] or "", record["text"]
    shown = _FURNITURE.sub(r"\1\\\2", text)
    heading = " ".join(key.split()) or record["id"]
    rest = {
        ours or name: native[name] for name, ours in _KEPT.items() if native.get(name) is not None
    }
    rest |= {"id": record["id"]}
    if shown.strip() != text or "\r" in text or not text.strip():
        rest["text"] = text
    if heading != key:
        rest["key"] = key
    said = json.dumps(rest, ensure_ascii=True, sort_keys=True)
    return {
        "key": heading,
        "content": shown if shown.strip() else "(empty)",
        "category": "core",
        "created_at": str(native["created_at"]),
        "updated_at": f"{native['updated_at']}*\n\n*Created: by memops from {said}",
    }


def _said(part: str) -> dict[str, Any]:
    found = _REST.search(part)
    return json_object(found["said"]) if found else {}
