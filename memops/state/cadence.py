"""Cadence: when hygiene was last done on a store, by memops or by the agent itself.

<state>/stores/<id>/hygiene.json   when memops last did it; clawseed's own file is read and refreshed, too
"""

from datetime import datetime, timedelta
from pathlib import Path

from memops import files
from memops.schema import instant
from memops.snapshot import overlay_path
from memops.stores import Store, inside, part


def last_done(store: Store, state: Path) -> datetime | None:
    """Return when hygiene was last done on a store; None when nobody knows."""
    path, known = _path(store, state), []
    if path.is_file():
        known.append(instant(str(files.read_json(path).get("last"))))
    if own := part(store.kind, "state"):
        known.append(own.last_pruned(inside(store)))
    return max((at for at in known if at), default=None)


def is_due(last: datetime | None, now: datetime, hours: float) -> bool:
    """Tell whether hygiene is due; a last time that lies ahead is not believed."""
    return last is None or now < last or now - last >= timedelta(hours=hours)


def record(store: Store, state: Path, now: datetime) -> None:
    """Write down that hygiene was done, for memops and for the agent."""
    files.write_json(_path(store, state), {"last": now.isoformat()})
    if own := part(store.kind, "state"):
        own.note_pruned(inside(store), now)


def _path(store: Store, state: Path) -> Path:
    return overlay_path(state, store.identity()).with_name("hygiene.json")
