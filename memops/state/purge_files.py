"""Purging of snapshots and runs: what memops keeps of a store, made anew without some of its records.

    <state>/purging/<store>/   what is to be forgotten, until it is (records.json), and what is on its way

What a killed process leaves is whole and in its place, or below `purging`, where the next purge
finishes it. With `dry`, the same is counted and nothing is changed.
"""

import os
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, overlay, snapshot, snapshot_draft
from memops.errors import MemopsError
from memops.failpoints import failpoint
from memops.policy import Policy
from memops.safety.known_secrets import remembered
from memops.snapshot import Snapshot
from memops.state.purge_terms import PurgeTerms
from memops.state.runs import Run
from memops.state.snapshot_chain import note_removed, note_rewritten
from memops.stores import Store

_TASK = "records.json"
_ENDED = ("verified", "rolled-back", "needs-attention")
_PAST = pl.Schema({"id": pl.String(), "text": pl.String()})


@dataclass(frozen=True)
class Purge:
    """One purge: the state folder, the store's name in it, and what it removes."""

    store: Store
    state: Path
    own: str
    terms: PurgeTerms
    policy: Policy
    at: datetime
    dry: bool = False

    @property
    def room(self) -> Path:
        """Where what is on its way out or in lies."""
        return room(self.state, self.own)

    @cached_property
    def beside(self) -> frozenset[str]:
        """Texts that the store's own files hold beside its records, which no copy can forget."""
        copy = self.room / "beside"
        shutil.rmtree(copy, ignore_errors=True)
        self.store.copy(files.folder(copy))
        self.store.forget(copy, self.terms.ids)
        mine = self.terms.apart_from(self.store.load(copy))
        texts = {t for t in mine.texts if replace(mine, texts=frozenset({t})).files(copy)}
        shutil.rmtree(copy)
        return frozenset(texts)

    def write(self, path: Path, data: bytes) -> None:
        """Give a file new contents."""
        if not self.dry:
            files.write(path, data)

    def remove(self, path: Path) -> None:
        """Remove a file, or a folder at one stroke."""
        if self.dry:
            return
        if path.is_dir():
            there = {p.name for p in files.folder(self.room).iterdir()}
            names = (f"{path.name}.{i}" for i in range(len(there) + 1))
            away = self.room / next(name for name in names if name not in there)
            path.rename(away)
            failpoint("purge-away")
            files.sync(away.parent)
            files.sync(path.parent)
            shutil.rmtree(away)
        else:
            path.unlink()
            files.sync(path.parent)


def room(state: Path, own: str) -> Path:
    """Return the folder of a store's purges."""
    return state / "purging" / own


def begun(state: Path, own: str) -> pl.DataFrame:
    """Return (id, text) of what an earlier purge of the store, that was cut off, was to forget."""
    path = room(state, own) / _TASK
    rows = files.read_json(path)["past"] if path.is_file() else []
    return pl.DataFrame(rows, schema=_PAST, orient="row")


def begun_as(state: Path, own: str) -> frozenset[str]:
    """Return the names by which a person asked for what an earlier purge was to forget."""
    path = room(state, own) / _TASK
    return frozenset(files.read_json(path).get("asked", ()) if path.is_file() else ())


def begin(state: Path, own: str, past: pl.DataFrame, asked: Iterable[str]) -> None:
    """Write down what is to be forgotten, before anything is."""
    rows = past.select(*_PAST).unique().sort("id", "text").rows()
    said = {"past": rows, "asked": sorted(asked)}
    files.write_json(files.folder(room(state, own)) / _TASK, said)


def end(state: Path, own: str) -> None:
    """Forget what was to be forgotten, now that it is."""
    shutil.rmtree(room(state, own), ignore_errors=True)


def settle(state: Path, own: str) -> None:
    """Give a snapshot its place that a killed purge had made anew; clear away the rest."""
    folder = room(state, own)
    for left in sorted(folder.iterdir()) if folder.is_dir() else []:
        place = state / "snapshots" / left.name.removesuffix(".new")
        if left.suffix == ".new" and (left / "manifest.json").is_file() and not place.exists():
            left.rename(place)
            files.sync(place.parent)
        elif left.is_dir():
            shutil.rmtree(left)
        elif left.name != _TASK:
            left.unlink()


def in_snapshot(task: Purge, taken: Snapshot) -> Counter[str]:
    """Make a snapshot anew without the records, or remove it where that cannot be."""
    try:
        touched = not taken.some(task.terms.ids).is_empty()
    except (MemopsError, KeyError):
        touched = True
    if not touched and not task.terms.files(taken.path):
        return Counter()
    new = files.folder(task.room) / f"{taken.id}.new"
    shutil.rmtree(new, ignore_errors=True)
    try:
        snapshot.verify(taken)
        _made_anew(task, taken, new)
        left = task.terms.apart_from(_records(task.store, new))
        if left.files(new) and replace(left, texts=left.texts - task.beside).files(new):
            raise MemopsError(f"{taken.path} says it elsewhere, too")
    except (MemopsError, KeyError, TypeError):
        shutil.rmtree(new, ignore_errors=True)
        if not task.dry:
            note_removed(task.state, taken, "a record was purged", task.at)
            task.remove(taken.path)
        return Counter({"snapshots removed": 1})
    if task.dry:
        shutil.rmtree(new)
    else:
        _swapped(task, taken, new)
    return Counter({"snapshots": 1})


def in_run(task: Purge, run: Run) -> Counter[str]:
    """Take the records out of a run's journal, undo and overlay; the rest can still be undone."""
    ids, told = task.terms.ids, run.journal.entries()
    undo = run.undo.entries()
    before = overlay.read(run.path / "overlay.parquet")
    stays = [entry["id"] not in ids for entry in undo]
    kept = [entry for entry, keep in zip(undo, stays, strict=True) if keep]
    journal = [_apart(entry, ids) | _counted(entry, stays) for entry in told]
    known = before.filter(~task.terms.named(before, "id"))
    found = {"journal entries": _answers(told) - _answers(journal), "undo": len(undo) - len(kept)}
    if (journal, kept, known.height) != (told, undo, before.height) and not task.dry:
        # Without its seal a run is as it stands: each file is whole on its own.
        (run.path / "seal.json").unlink(missing_ok=True)
        run.journal.rewrite(journal)
        if undo:
            run.undo.rewrite(kept)
        if before.height:
            overlay.write(run.path / "overlay.parquet", known)
    if not task.dry and run.state in _ENDED and not (run.path / "seal.json").exists():
        run.seal()
    return Counter({place: n for place, n in found.items() if n})


def _made_anew(task: Purge, taken: Snapshot, new: Path) -> None:
    """Build a snapshot's copy without the records beside it; its manifest comes last."""
    shutil.copytree(taken.path, new, ignore=shutil.ignore_patterns("manifest.json"))
    task.store.forget(new / "raw", task.terms.ids)
    failpoint("purge-copied")
    known = overlay.read(new / "overlay.parquet")
    overlay.write(new / "overlay.parquet", known.filter(~task.terms.named(known, "id")))
    records = _records(task.store, new)
    snapshot_draft.export(records, new, task.policy, remembered(task.state))
    was = taken.manifest
    note = {"at": task.at.isoformat(), "records": was["rows"] - records.height, "was": taken.seal}
    manifest = was | snapshot_draft.described(records, new, task.at)
    manifest |= {name: was[name] for name in ("taken_at", "versions")}
    manifest |= {"forgotten": [*was.get("forgotten", []), note]}
    files.write_sealed(new / "manifest.json", manifest)
    stamp = (taken.path / "manifest.json").stat()  # by which the latest is known
    os.utime(new / "manifest.json", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def _swapped(task: Purge, taken: Snapshot, new: Path) -> None:
    note_rewritten(task.state, taken, files.sha256(new / "manifest.json"), task.at)
    place, old = taken.path, task.room / f"{taken.id}.old"
    place.rename(old)
    failpoint("purge-swap")
    new.rename(place)
    files.sync(place.parent)
    files.sync(task.room)
    shutil.rmtree(old)


def _records(store: Store, folder: Path) -> pl.DataFrame:
    return overlay.joined(store.load(folder / "raw"), overlay.read(folder / "overlay.parquet"))


def _apart(entry: dict[str, Any], ids: Collection[str]) -> dict[str, Any]:
    """An entry of a journal without what it says of the records."""

    def mine(item: Any) -> bool:
        named = [item.get("id"), item.get("new_id")] if isinstance(item, dict) else [item]
        return any(isinstance(name, str) and name in ids for name in named)

    return {
        key: [item for item in value if not mine(item)] if isinstance(value, list) else value
        for key, value in entry.items()
    }


def _counted(entry: dict[str, Any], stays: Sequence[bool]) -> dict[str, int]:
    """How much undo there was by then, of what stays."""
    return {"images": sum(stays[: entry["images"]])} if "images" in entry else {}


def _answers(entries: Iterable[dict[str, Any]]) -> int:
    return sum(len(value) for e in entries for value in e.values() if isinstance(value, list))
