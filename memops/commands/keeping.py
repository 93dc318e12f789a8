"""Keeping: check, restore, compare and prune snapshots."""

from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, overlay, snapshot
from memops.errors import Corrupt, MemopsError
from memops.plan import diff
from memops.settings import Settings
from memops.state import retention
from memops.state.chain import verify_chain
from memops.state.sources import clock, open_or_take
from memops.stores import open_store


def check_snapshot(name: str, settings: Settings) -> dict[str, Any]:
    """Re-hash a snapshot and read its records; raises Corrupt, naming the files that differ."""
    found = snapshot.find(name, settings.state)
    if not found:
        raise _unknown(name, settings)
    rows = found.records().height
    chain = 0
    if found.path.parent.resolve() == (settings.state / "snapshots").resolve():
        chain = verify_chain(settings.state, found)
    files_ = len(found.manifest["files"])
    about = {"snapshot": found.id, "store": found.address, "rows": rows, "files": files_}
    return {**about, "chain": chain, "ok": True}


def check_all(settings: Settings) -> dict[str, Any]:
    """Check every snapshot and the chain between them; raises Corrupt, naming all that differs."""
    wrong, whole = list[str](), list[dict[str, Any]]()
    folders = sorted((settings.state / "snapshots").glob("[!.]*"))
    for path in folders:
        try:
            whole.append(check_snapshot(str(path), settings))
        except MemopsError as error:
            wrong.append(error.message)
    if wrong:
        raise Corrupt("; ".join(wrong), f"{len(whole)} of {len(folders)} snapshots are whole")
    sums = {name: sum(said[name] for said in whole) for name in ("rows", "files")}
    return {"snapshots": len(whole), **sums, "checked": whole, "ok": True}


def prune(settings: Settings, now: datetime | None = None, remove: bool = True) -> dict[str, Any]:
    """Remove the snapshots and undo copies that are past their time, or say which are.

    A night that is asked for as of later than now ages nothing.
    """
    return retention.prune(settings.state, settings.policy, min(now or clock(), clock()), remove)


def restore_snapshot(name: str, settings: Settings, to: str | None = None) -> dict[str, Any]:
    """Make a store exactly what a snapshot holds; what it held until now is snapshotted first."""
    found = snapshot.find(name, settings.state)
    if not found:
        raise _unknown(name, settings)
    snapshot.verify(found)
    address = settings.store(to).address if to else found.address
    store = open_store(address)
    safety = None
    try:
        safety = snapshot.take(
            store, settings.state, clock(), settings.policy, "before-restore", True
        )
    except MemopsError as error:
        if error.code not in (10, 20):
            raise
    identity = (
        store.identity() if safety else {**found.manifest["store"], "path": _path_of(address)}
    )
    with files.lock(snapshot.lock_path(settings.state, identity)):
        store.restore(found.path / "raw")
        kept = overlay.read(found.path / "overlay.parquet")
        overlay.write(snapshot.overlay_path(settings.state, store.identity()), kept)
    return {"restored": found.id, "to": address, "before": safety.id if safety else None}


def _unknown(name: str, settings: Settings) -> MemopsError:
    where = settings.state / "snapshots"
    return MemopsError(f"no snapshot {name!r} in {where}", "list them with `memops check`")


def compare(a: str, b: str, settings: Settings) -> dict[str, Any]:
    """Return what differs between two snapshots, as counts and ids."""
    before, after = (open_or_take(name, settings).records() for name in (a, b))
    plan = diff(before, after)
    new = plan.join(before.select("id"), on="id", how="anti")
    changed = plan.filter(pl.col("action") == "put").join(new.select("id"), on="id", how="anti")
    gone = plan.filter(pl.col("action") == "delete")
    return {
        "added": sorted(new["id"]),
        "changed": sorted(changed["id"]),
        "removed": sorted(gone["id"]),
        "rows": [before.height, after.height],
    }


def _path_of(address: str) -> str:
    return str(Path(address.split(":", 1)[1]).expanduser().resolve())
