"""The chain of snapshots: each names the one before it and its digest, so that none goes unseen.

removed.jsonl    what memops removed, with its digest and predecessor, and what it made anew at a purge
"""

from datetime import datetime
from pathlib import Path
from typing import Any

from memops import files
from memops.errors import Corrupt
from memops.journal import Journal
from memops.snapshot import Snapshot, open_snapshot

_FILE = "removed.jsonl"


def note_removed(state: Path, taken: Snapshot, why: str, at: datetime) -> None:
    """Write down that a snapshot goes, and why, before it does."""
    _note(state, at, taken.id, taken.seal, previous=taken.manifest["previous"], why=why)


def note_swept(state: Path, name: str, at: datetime) -> None:
    """Write down that what is left of a snapshot without a manifest goes; its seal is not known."""
    _note(state, at, name, None, previous=None, why="it had no manifest")


def note_rewritten(state: Path, taken: Snapshot, seal: str, at: datetime) -> None:
    """Write down that a snapshot becomes another, with this seal, before it does."""
    _note(state, at, taken.id, taken.seal, became=seal, why="a record was purged")


def _note(state: Path, at: datetime, name: str, seal: str | None, **said: Any) -> None:
    about = {"snapshot": name, "sha256": seal, **said, "at": at.isoformat()}
    Journal(files.folder(state) / _FILE).add(about)


def is_same(state: Path, seal: str, now: str) -> bool:
    """Tell whether a snapshot with one seal is the one with another, less what was purged of it."""
    return now in _later_seals(Journal(state / _FILE).entries(), seal)


def verify_chain(state: Path, first: Snapshot) -> int:
    """Follow a snapshot's predecessors to the first, or one that had lost its manifest; returns how many there were.

    Raises Corrupt, naming the snapshot that is missing, changed, or put in another's place.
    """
    noted = Journal(state / _FILE).entries()
    gone = {entry["snapshot"]: entry for entry in noted if "became" not in entry}
    at, link, length = first.id, first.manifest.get("previous"), 0
    while link:
        name, digest = link["snapshot"], link["sha256"]
        folder = state / "snapshots" / name
        if folder.is_dir() and not (folder / "manifest.json").is_file():
            raise Corrupt(f"{folder}: no manifest, so no snapshot", "it was cut off; remove it")
        there = open_snapshot(folder) if folder.is_dir() else None
        if there is None and name not in gone:
            message = f"{folder} is missing; {at} was taken after it, and memops did not remove it"
            raise Corrupt(message, "find out who removed it; later snapshots are whole")
        if there is None and gone[name]["sha256"] is None:
            return length + 1
        if (there.seal if there else gone[name]["sha256"]) not in _later_seals(noted, digest):
            raise Corrupt(f"{folder} is not the snapshot that {at} was taken after")
        link = there.manifest.get("previous") if there else gone[name]["previous"]
        at, length = name, length + 1
    return length


def described(taken: Snapshot) -> dict[str, Any]:
    """Return what a list of snapshots says of one."""
    said = {name: taken.manifest[name] for name in ("address", "taken_at", "rows")}
    return {"snapshot": taken.id, **said}


def _later_seals(noted: list[dict[str, Any]], seal: str) -> set[str]:
    """The seals that a snapshot had from this one on."""
    seals = {seal}
    for entry in noted:
        if entry["sha256"] in seals and "became" in entry:
            seals.add(entry["became"])
    return seals
