"""clawseed's hygiene state: when it last pruned, by the file that it reads before it prunes again.

clawseed prunes old daily and conversation rows when it starts, at most every 12 hours by this
file. A fresh time in it therefore keeps clawseed's own pruning away for that long.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memops.errors import MemopsError
from memops.schema import instant
from memops.stores.clawseed import Clawseed
from memops.stores.disk import failure, read_whole, replace_whole

FILE = Path("state") / "memory_hygiene_state.json"


@dataclass(frozen=True)
class Hygiene:
    """What the file says: the last run, and the rows that it removed by category."""

    last_run_at: datetime | None
    conversation: int = 0
    daily: int = 0


def last_pruned(store: Clawseed) -> datetime | None:
    """Return when clawseed itself pruned last; None when nobody knows."""
    path = hygiene_file(store)
    said = path and read_hygiene(path)
    return said.last_run_at if said else None


def note_pruned(store: Clawseed, now: datetime) -> None:
    """Write down that rows were pruned, so that clawseed leaves them alone for a while."""
    if path := hygiene_file(store):
        said = read_hygiene(path) or Hygiene(None)
        write_hygiene(path, Hygiene(now, said.conversation, said.daily))


def hygiene_file(store: Clawseed) -> Path | None:
    """Return where the state of a workspace is kept; None for a database without a workspace."""
    folder = store.workspace
    return None if folder is None else folder / FILE


def read_hygiene(path: Path) -> Hygiene | None:
    """Return what the file says; None when it is missing, or clawseed would not understand it."""
    try:
        said = json.loads(read_whole(path)[0])
        report = said["last_report"]
        counts = [report[f"pruned_{name}_rows"] for name in ("conversation", "daily")]
        at = instant(said["last_run_at"])
    except (MemopsError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not all(isinstance(n, int) and n >= 0 for n in counts):
        return None
    return Hygiene(at, *counts)


def write_hygiene(path: Path, hygiene: Hygiene) -> None:
    """Write the file as clawseed writes it, all or nothing; its folder is made if need be."""
    known, at = read_hygiene(path), hygiene.last_run_at
    if known and known.last_run_at and at and known.last_run_at >= at:
        return
    report = {"pruned_conversation_rows": hygiene.conversation, "pruned_daily_rows": hygiene.daily}
    said = {"last_run_at": at and at.astimezone(UTC).isoformat(), "last_report": report}
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise failure(path.parent, error) from error
    replace_whole(path, json.dumps(said, indent=2).encode())
