"""Purge scan: all that the state folder holds of one store, found so that a purge can go through it.

What has no head (a snapshot's manifest, a plan's header) is nobody's; it goes when it holds what is to go.
"""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from memops import files, snapshot, snapshot_draft
from memops.errors import MemopsError
from memops.snapshot import Snapshot
from memops.state.purge_files import Purge, in_run, in_snapshot
from memops.state.purge_plans import in_plan
from memops.state.purge_terms import PurgeTerms
from memops.state.runs import Run
from memops.state.snapshot_chain import note_swept

_HEADS = {"snapshots": "manifest.json", "runs": "run.json", "plans": "plan.json"}
_DERIVED = ("answers", "reports", "vectors", "pairs")
"""Folders whose files may go at any time."""


def snapshots(state: Path, own: str) -> Iterator[Snapshot]:
    """Yield the snapshots of a store, damaged ones, too, whose manifest still names it."""
    for path, head in _headed(state, "snapshots", own):
        yield Snapshot(path, {name: value for name, value in head.items() if name != "sha256"})


def former(state: Path, own: str, ids: Collection[str]) -> set[str]:
    """Return ids of records with those that they had before runs gave them these."""
    names = set(ids)
    for run in reversed(_runs(state, own)):
        with contextlib.suppress(MemopsError):
            names |= {old for old, new in run.moved().items() if new in names}
    return names


def forget(task: Purge) -> Counter[str]:
    """Forget the records in all that is kept of the store; returns how many, by place."""
    state, said = task.state, Counter[str]()
    if not task.dry:
        snapshot_draft.sweep(state / "snapshots")
    ran = _runs(state, task.own)
    for run in ran:
        said += in_run(task, run)
    begun = {run.header["plan"] for run in ran}
    for path, _ in _headed(state, "plans", task.own):
        said += in_plan(task, path, path.name in begun)
    said += _loose(task)
    for taken in [*snapshots(state, task.own)]:
        said += in_snapshot(task, taken)
    return said


def left(task: Purge, terms: PurgeTerms) -> list[str]:
    """Return the files of the state folder that still hold what was to go, once it is forgotten."""
    mine = [path for kind in _HEADS for path, _ in _headed(task.state, kind, task.own)]
    mine += [task.state / name for name in (*_DERIVED, f"stores/{task.own}")]
    held = []
    for path in terms.files(task.state):
        own = any(path.is_relative_to(at) for at in mine)
        theirs = own and (task.dry or not task.terms.in_file(path))
        if not path.is_relative_to(task.room) and not theirs:
            held.append(str(path.relative_to(task.state)))
    return held


def _loose(task: Purge) -> Counter[str]:
    """What is no part of a snapshot, run or plan, and what is left of one."""
    said = Counter[str]()
    for kind, head in _HEADS.items():
        for path in sorted((task.state / kind).glob("[!.]*")):
            if not (path / head).is_file() and task.terms.files(path):
                if kind == "snapshots" and not task.dry:
                    note_swept(task.state, path.name, task.at)
                task.remove(path)
                said["remnants"] += 1
    for path in sorted((task.state / "repairs").glob("*.json")):
        said += _in_repair(task, path)
    for path in (p for name in _DERIVED for p in sorted((task.state / name).rglob("*"))):
        if path.is_file() and (shows(task, path) or task.terms.in_file(path)):
            task.remove(path)
            said["reports" if path.suffix == ".html" else "answers"] += 1
    for path in sorted(task.state.rglob(".*.part")):
        if path.is_file() and not _written(path) and task.terms.in_file(path):
            task.remove(path)
            said["remnants"] += 1
    return said


def _in_repair(task: Purge, path: Path) -> Counter[str]:
    """A repair's undo without the rows of the records."""
    try:
        held = files.read_sealed(path)
    except MemopsError:
        return Counter()
    rows = held.get("rows", [])
    kept = [row for row in rows if not task.terms.in_bytes(json.dumps(row, default=str).encode())]
    if len(kept) == len(rows):
        return Counter()
    if not task.dry:
        files.write_sealed(path, held | {"rows": kept})
    return Counter({"repairs": len(rows) - len(kept)})


def shows(task: Purge, path: Path) -> bool:
    """Return whether a page for people shows the beginning of what is to go."""
    return path.is_file() and path.suffix == ".html" and task.terms.begins_in(path.read_bytes())


def _written(path: Path) -> bool:
    """Whether the process that writes a temporary file is still there."""
    pid = path.name.split(".")[-2]
    return pid.isdigit() and int(pid) != os.getpid() and Path(f"/proc/{pid}").exists()


def _runs(state: Path, own: str) -> list[Run]:
    found = [(head["started"], path.name, path) for path, head in _headed(state, "runs", own)]
    return [Run(path) for _, _, path in sorted(found)]


def _headed(state: Path, kind: str, own: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Folders of a kind whose head names the store, with the head; damage elsewhere is no matter."""
    for path in sorted((state / kind).glob(f"[!.]*/{_HEADS[kind]}")):
        with contextlib.suppress(MemopsError, KeyError, TypeError):
            head = files.read_json(path)
            if snapshot.store_id(head["store"]) == own:
                yield path.parent, head
