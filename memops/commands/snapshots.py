"""Snapshots: check, restore, compare and prune them."""

import shlex
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import locks, overlay, snapshot
from memops.errors import Corrupt, MemopsError, StoreNotFound, told
from memops.plan import diff
from memops.progress import stage, tracked
from memops.settings import Settings
from memops.state import restore_marker, retention
from memops.state.pending import unfinished
from memops.state.snapshot_chain import verify_chain
from memops.state.sources import clock, open_or_take
from memops.stores import Copy, Store, open_store


def check_snapshot(name: str, settings: Settings) -> dict[str, Any]:
    """Re-hash a snapshot and read its records; raises Corrupt, naming the files that differ."""
    found = _found(name, settings)
    rows, chain = found.records().height, 0
    if found.path.parent.resolve() == (settings.state / "snapshots").resolve():
        chain = verify_chain(settings.state, found)
    files_ = len(found.manifest["files"])
    about = {"snapshot": found.id, "store": found.address, "rows": rows, "files": files_}
    return {**about, "chain": chain, "ok": True}


def check_all(settings: Settings) -> dict[str, Any]:
    """Check every snapshot and the chain between them; raises Corrupt, naming all that differs."""
    wrong, whole = list[str](), list[dict[str, Any]]()
    folders = sorted((settings.state / "snapshots").glob("[!.]*"))
    for path in tracked("checking snapshots", folders):
        try:
            whole.append(check_snapshot(str(path), settings))
        except MemopsError as error:
            wrong.append(error.message)
    if wrong:
        raise Corrupt("; ".join(wrong), f"{len(whole)} of {len(folders)} snapshots are whole")
    sums = {name: sum(said[name] for said in whole) for name in ("rows", "files")}
    return {"snapshots": len(whole), **sums, "checked": whole, "ok": True}


def prune(settings: Settings, now: datetime | None = None, remove: bool = True) -> dict[str, Any]:
    """Remove the snapshots and undo copies that are past their time, or say which are."""
    return retention.prune(settings.state, settings.policy, min(now or clock(), clock()), remove)


def restore_snapshot(name: str, settings: Settings, to: str | None = None) -> dict[str, Any]:
    """Make a store exactly what a snapshot holds; what it holds until then is snapshotted first.

    What its agent writes meanwhile is in that snapshot, or still in the store. Runs that were cut off
    come to their end.
    """
    found = _found(name, settings)
    snapshot.verify(found)
    kept = overlay.read(found.path / "overlay.parquet")
    address, state = settings.store(to).address if to else found.address, settings.state
    store = _fitting(found, address)
    identity = _identity(store, found)
    before: list[str] = []

    def command(name: str) -> str:
        return f"memops restore {name}" + (f" --to {shlex.quote(store.address)}" if to else "")

    def keep(copy: Copy | None) -> Path | None:
        if copy is not None:
            before.append(_taken(store, identity, copy, found, settings).id)
        back = command(before[-1]) if before else None
        restore_marker.begin(state, identity, command(found.id), back)
        return state / "snapshots" / before[-1] / "raw" if copy else None

    with locks.hold(snapshot.lock_path(state, identity)):
        with stage("restoring the store"):
            more = store.restore(found.path / "raw", keep)
        overlay.write(snapshot.overlay_path(state, identity), kept)
        for run in unfinished(state, identity):
            run.journal.add({"state": "needs-attention", "why": f"{found.id} was restored"})
            run.seal()
        restore_marker.end(state, identity)
    last = before[-1] if before else None
    return {"restored": found.id, "to": store.address, "before": last, "kept": more}


def _taken(
    store: Store, identity: dict[str, str], copy: Copy, then: snapshot.Snapshot, settings: Settings
) -> snapshot.Snapshot:
    """A snapshot of a store that is about to become what another holds, copied by whoever holds it."""
    said = {"then": {"snapshot": then.id, "rows": then.manifest["rows"]}}
    how: dict[str, Any] = {"accept_shrink": True, "stem": "before-restore"}
    how["held"] = identity, lambda into: copy(into) | said
    try:
        return snapshot.take(store, settings.state, clock(), settings.policy, **how)
    except OSError as error:
        raise told(error) from error


def _identity(store: Store, found: snapshot.Snapshot) -> dict[str, str]:
    """What tells a store from any other, also of one that is damaged or not there any more."""
    try:
        return store.identity()
    except (StoreNotFound, Corrupt):
        return {**found.manifest["store"], "path": str(store.place())}


def _fitting(found: snapshot.Snapshot, address: str) -> Store:
    """Return the store at an address; raises MemopsError for one of another kind than the copy."""
    store, kind = open_store(address), found.manifest["store"]["kind"]
    if store.kind != kind:
        said = f"{found.id} is of a {kind} store, and {address} of kind {store.kind}"
        raise MemopsError(said, f"give {kind}:PATH; nothing was changed")
    return store


def _found(name: str, settings: Settings) -> snapshot.Snapshot:
    if found := snapshot.find(name, settings.state):
        return found
    said = f"no snapshot {name!r} in {settings.state / 'snapshots'}"
    raise MemopsError(said, "list them with `memops snapshot check`")


def compare(a: str, b: str, settings: Settings) -> dict[str, Any]:
    """Return what differs between two snapshots, as counts and ids."""
    before, after = (open_or_take(name, settings).records() for name in (a, b))
    plan = diff(before, after)
    new = plan.join(before.select("id"), on="id", how="anti")
    changed = plan.filter(pl.col("action") == "put").join(new.select("id"), on="id", how="anti")
    gone = plan.filter(pl.col("action") == "delete")
    tables = {"added": new, "changed": changed, "removed": gone}
    ids = {name: sorted(table["id"]) for name, table in tables.items()}
    return {**ids, "rows": [before.height, after.height]}
