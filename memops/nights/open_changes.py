"""Open changes: what a night leaves for a person to decide on, and whether they were asked before.

    stores/<id>/asked.json   digests of what the last night left to a person; no text

The next night's plan proposes anew what still holds; a person is asked again only for what is new.
"""

import contextlib
from pathlib import Path
from typing import Any

from memops import files, snapshot
from memops.apply import beyond, selection
from memops.errors import MemopsError
from memops.refusals import refusals
from memops.settings import Settings
from memops.state import planfile
from memops.state.sources import clock

_FILE = "asked.json"


def left_open(plan: str, taken: str, settings: Settings) -> dict[str, Any]:
    """Return what of a plan waits for a person: `open` by rule, `waiting` in all, `new` to them."""
    state = settings.state
    made, source = planfile.load(plan, state), snapshot.open_snapshot(Path(taken))
    rest = made.changes[[seq - 1 for seq in selection.left(made, state)]]
    keys = refusals(rest, source.records()).rows()
    digests = {files.digest("\x1f".join(key))[:32] for key in keys}
    path = snapshot.store_folder(state, source.manifest["store"]) / _FILE
    known: set[str] = set()
    with contextlib.suppress(MemopsError):  # one that is lost or damaged: they are asked again
        known = set(files.read_json(path)["asked"]) if path.is_file() else known
    files.write_json(path, {"asked": sorted(digests)})
    by_rule = dict(rest["rule"].value_counts(sort=False).sort("rule").iter_rows())
    said = {"open": by_rule, "waiting": rest.height, "new": len(digests - known)}
    return said | {"beyond": beyond(made, state, clock())}
