"""Sources: where a step gets its records from, a snapshot that exists or one taken now."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memops import snapshot
from memops.errors import MemopsError
from memops.schema import instant
from memops.settings import Settings
from memops.stores import open_store, standing


def clock() -> datetime:
    """Return the time now; every other module is given it."""
    return datetime.now(UTC)


def fixed(text: str | None) -> datetime | None:
    """Return the instant at which `--now` fixes the clock; raises MemopsError for what is none."""
    if text is None:
        return None
    at = instant(text)
    if at is None:
        hint = "write 2026-06-01T02:00:00Z, with its zone"
        raise MemopsError(f"--now {text!r} is not an instant", hint)
    if not 1970 <= at.year < 9000:  # what is counted back and ahead from it must be a date, too
        raise MemopsError(f"--now {text!r} is on no clock", "give a year from 1970 to 8999")
    return at


def take_snapshot(
    name: str,
    settings: Settings,
    now: datetime | None = None,
    accept_shrink: bool = False,
    to_grade: bool = False,
) -> dict[str, Any]:
    """Take a snapshot of a live store; returns its name, path and counts."""
    store = standing(open_store(settings.store(name).address))
    name = settings.called(name)
    called = name if name in settings.stores else ""
    at, policy = now or clock(), settings.policy
    taken = snapshot.take(store, settings.state, at, policy, called, accept_shrink, to_grade)
    said = {k: taken.manifest[k] for k in ("address", "rows", "live", "counts", "notes")}
    return {"snapshot": taken.id, "path": str(taken.path), **said}


def open_or_take(
    name: str,
    settings: Settings,
    now: datetime | None = None,
    accept_shrink: bool = False,
    to_grade: bool = False,
) -> snapshot.Snapshot:
    """Return the snapshot of that name, or take one of the store of that name."""
    if name not in settings.stores and ":" not in name:
        found = snapshot.find(name, settings.state)
        if found:
            return found
        if Path(name).exists():
            raise MemopsError(f"{name}: neither a snapshot nor a store", "a store is KIND:PATH")
    taken = take_snapshot(name, settings, now, accept_shrink, to_grade)
    return snapshot.open_snapshot(Path(taken["path"]))
