"""The archive: records that left a store for good, kept outside it, to be found and brought back.

<state>/stores/<id>/archive/<run>.jsonl   what a run deleted, a line a record, secrets masked
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

from memops import files
from memops.policy import Policy
from memops.safety.masking import masked_table
from memops.schema import conform, empty
from memops.snapshot import overlay_path
from memops.stores.formats import json_line, parsed


def keep(
    state: Path, identity: dict[str, str], run: str, gone: pl.DataFrame, policy: Policy, now: datetime
) -> None:  # fmt: skip
    """Write what a run deleted, the same file each time, and drop what was kept for too long."""
    folder = _folder(state, identity)
    since = (now - timedelta(days=policy.retention.archive_days)).timestamp()
    for path in folder.glob("*.jsonl"):
        if path.stat().st_mtime < since:
            path.unlink()
    if gone.height:
        lines = _lines(masked_table(gone, policy.secrets))
        files.write(files.folder(folder) / f"{run}.jsonl", lines)


def read(state: Path, identity: dict[str, str]) -> pl.DataFrame:
    """Return the archived records, each as it was the last time; raises Corrupt, naming the line of what is none."""
    paths = _folder(state, identity).glob("*.jsonl")
    latest_last = sorted(paths, key=lambda p: (p.stat().st_mtime_ns, p.name))
    found = [parsed(path.read_bytes(), str(path)) for path in latest_last]
    if not found:
        return empty()
    return conform(pl.concat(found, how="diagonal").unique("id", keep="last"), "the archive")


def forget(state: Path, identity: dict[str, str], ids: Collection[str]) -> None:
    """Remove records from the archive for good."""
    for path in sorted(_folder(state, identity).glob("*.jsonl")):
        rows = parsed(path.read_bytes(), str(path))
        kept = rows.filter(~pl.col("id").is_in(list(ids)))
        if kept.is_empty():
            path.unlink()
        elif kept.height < rows.height:
            files.write(path, _lines(conform(kept, str(path))))


def _lines(records: pl.DataFrame) -> bytes:
    return "".join(f"{json_line(row)}\n" for row in records.to_dicts()).encode()


def _folder(state: Path, identity: dict[str, str]) -> Path:
    return overlay_path(state, identity).with_name("archive")
