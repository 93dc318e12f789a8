"""Purging: forgetting for good, in the store and in everything that memops kept of it.

There is no undo. The store removes the records so that no byte of their text stays; snapshots,
plans, runs and reports that hold the records or their text are removed whole; the receipt names
digests, counts and places, and no text.
"""

import contextlib
import hashlib
import shutil
from pathlib import Path
from typing import Any

import polars as pl

from memops import apply as applying
from memops import files, overlay, snapshot
from memops.errors import MemopsError
from memops.settings import Settings
from memops.stores import open_store


def purge(name: str, ids: list[str], settings: Settings) -> dict[str, Any]:
    """Forget records of a store; returns {removed, places}. Raises MemopsError for unknown ids."""
    store = open_store(settings.store(name).address)
    if "purge" not in store.capabilities:
        raise MemopsError(f"{store.address}: this kind of store cannot forget for good")
    identity = store.identity()
    path = snapshot.overlay_path(settings.state, identity)
    lock = files.folder(settings.state / "locks") / f"{snapshot.store_id(identity)}.lock"
    with files.lock(lock):
        kept = overlay.read(path)
        records = overlay.joined(store.read(), kept)
        found = records.filter(pl.col("id").is_in(ids))
        missing = sorted(set(ids) - set(found["id"]))
        if missing:
            raise MemopsError(f"{store.address}: no record {missing[0]!r}", "nothing was purged")
        texts = [text for text in found["text"] if text]
        store.purge([i for i in ids if i not in set(overlay.archived_ids(kept))])
        overlay.write(path, overlay.without(kept, found["id"]))
        places = {"store": found.height, **_forget(settings.state, identity, ids, texts)}
        receipt = {
            "ids": [hashlib.sha256(i.encode()).hexdigest()[:16] for i in sorted(ids)],
            "places": places,
        }
        files.Journal(settings.state / "purges.jsonl").add(receipt)
    return {"removed": found.height, "places": places}


def _forget(state: Path, identity: dict[str, str], ids: list[str], texts: list[str]) -> dict[str, int]:
    """Remove the store's snapshots, plans and runs that hold what is to be forgotten."""
    gone = {"snapshots": 0, "plans": 0, "runs": 0, "other files": 0}
    tainted = set()
    for path in sorted((state / "snapshots").glob("*/manifest.json")):
        with contextlib.suppress(MemopsError):
            taken = snapshot.open_snapshot(path.parent)
            if taken.manifest["store"] == identity and _holds(taken, ids, texts):
                tainted.add(taken.id)
                shutil.rmtree(taken.path)
                gone["snapshots"] += 1
    for run in applying.runs(state):
        if run.header["store"] == identity:
            shutil.rmtree(run.path)
            gone["runs"] += 1
    for path in sorted((state / "plans").glob("*/plan.json")):
        if files.read_json(path).get("store") == identity:
            shutil.rmtree(path.parent)
            gone["plans"] += 1
    needles = [text.encode() for text in texts]
    for path in sorted(p for p in state.rglob("*") if p.is_file()):
        if any(needle in path.read_bytes() for needle in needles):
            path.unlink()
            gone["other files"] += 1
    return {place: n for place, n in gone.items() if n}


def _holds(taken: snapshot.Snapshot, ids: list[str], texts: list[str]) -> bool:
    try:
        records = taken.records()
    except MemopsError:
        return True
    held = pl.col("id").is_in(ids) | pl.col("text").str.contains_any(texts) if texts else pl.col("id").is_in(ids)
    return not records.filter(held).is_empty()
