"""Waiting: the newest plan of each store, and how much of it nobody has carried out yet.

Told from headers and line numbers alone, without reading a change: a monitor asks of every store.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memops import files
from memops.state.runs import runs_of

_SEQ = re.compile(rb'^\{"seq": (\d+)', re.MULTILINE)


@dataclass(frozen=True)
class Waiting:
    """A store's newest plan, and how many of its changes neither a run nor a reviewer had."""

    plan: str
    changes: int


def waiting(state: Path, place: Callable[[str], str]) -> dict[str, Waiting]:
    """Return what waits of each store, by its place, which is told of an address.

    What a person asked for by name is no proposal, and waits for nobody.
    """
    made = [(path.stat().st_mtime_ns, path) for path in (state / "plans").glob("*/plan.json")]
    found: dict[str, Waiting] = {}
    for _, path in sorted(made, reverse=True):
        header = files.read_json(path)
        where = place(str(header.get("address")))
        if where not in found and header.get("authority") != "person":
            found[where] = Waiting(path.parent.name, len(_left(path.parent, state)))
    return found


def _left(folder: Path, state: Path) -> set[int]:
    ops = folder / "ops.jsonl"
    kept = {int(seq) for seq in _SEQ.findall(ops.read_bytes())} if ops.is_file() else set[int]()
    runs = (
        [run for run in runs_of(folder.name, state) if run.state != "rolled-back"] if kept else []
    )
    return kept.difference(*(run.header["kept"] for run in runs))
