"""Repairing: what the doctor found and a person asks to have mended, planned and then done.

It mends what a store is kept in, never what its records say, after a snapshot and a copy of rows that
none holds.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

from memops import files, locks, snapshot
from memops.errors import MemopsError
from memops.reasons import told
from memops.settings import Settings
from memops.state.sources import clock
from memops.stores import Store, inside, open_store, part, standing
from memops.stores.clawseed import Clawseed
from memops.stores.findings import Repair

Now = datetime | None


def repair(
    name: str, checks: Sequence[str], settings: Settings, approve: bool = False, now: Now = None
) -> dict[str, Any]:
    """Plan the repair of what these checks found, and carry it out when it is approved.

    Returns {store, repairs: [{check, count, says, steps}], repaired, before, kept}: the snapshot taken
    before, and the file with what it does not hold. Raises Locked while the agent runs where its
    database is needed alone.
    """
    store = standing(open_store(settings.store(name).address))
    chosen = [r for r in _offered(store, checks) if r.check in checks]
    told = [{n: getattr(r, n) for n in ("check", "count", "says", "steps")} for r in chosen]
    said: dict[str, Any] = {"store": store.address, "repairs": told, "repaired": 0}
    said |= {"before": None, "kept": None}
    if not approve or not chosen:
        return said
    taken = _before(store, settings, now, "before-repair")
    with _locked(store, settings):
        if rows := [row for r in chosen for row in r.before or []]:
            path = files.folder(settings.state / "repairs") / f"{taken.id}.json"
            files.write_sealed(path, {"store": store.address, "rows": rows})
            said["kept"] = str(path)
        said["repaired"] = sum(r.carry_out() for r in chosen)
    return said | {"before": taken.id}


def taken_back(name: str, state: Path) -> dict[str, Any] | None:
    """Take a repair back by the name of the snapshot before it, as a run is; None when there is no such repair.

    Raises MemopsError for one that only a restore undoes.
    """
    path = state / "repairs" / f"{name}.json"
    if not path.is_file():
        return None
    said = files.read_sealed(path)
    store = open_store(said["store"])
    if not all({"row", "after"} <= row.keys() for row in said["rows"]):
        raise MemopsError(f"{path} holds too little to undo it", f"memops restore {name}")
    with locks.hold(snapshot.lock_path(state, store.identity())):
        written = part(store.kind, "repair").take_back(store, said["rows"])
    counts = {n: sum(w.state == n for w in written) for n in ("applied", "already")}
    skipped = [vars(w) | {"why": told(w.why)} for w in written if w.state == "stale"]
    about = {"run": name, "plan": None, "state": "rolled-back", **counts}
    return about | {"skipped": skipped, "path": str(path)}


def embed(
    name: str, model: str, settings: Settings, approve: bool = False, now: Now = None
) -> dict[str, Any]:
    """Give clawseed's rows without a vector theirs; raises MemopsError for another model than that of the others."""
    from memops.models.encode import open_encoder
    from memops.stores.clawseed import vectors

    store = _clawseed(name, settings)
    encoder = open_encoder(model, settings.state / "vectors")
    rows = vectors.lacking(store.path)
    compared = vectors.refuse_other_model(store.path, encoder)
    said: dict[str, Any] = {"store": store.address, "lacking": len(rows), "compared": compared}
    if not approve or not rows:
        return said | {"filled": 0, "before": None}
    taken = _before(store, settings, now, "before-embed")
    with _locked(store, settings):
        return said | {"filled": vectors.fill(store.path, rows, encoder), "before": taken.id}


def view(name: str, settings: Settings, write: bool = False, now: Now = None) -> dict[str, Any]:
    """Return {text, entries, path} of a clawseed store's MEMORY_SNAPSHOT.md, and write it; raises MemopsError."""
    from memops.stores.clawseed import view as clawseed_view

    store = _clawseed(name, settings)
    text = clawseed_view.view(store.read(), now or clock())
    if text is None:
        raise MemopsError(f"{store.address} has no live core memory", "there is nothing to write")
    path = None
    if write:
        if store.workspace is None:
            said = f"{store.address} is a database without a workspace"
            raise MemopsError(said, "give its workspace")
        with _locked(store, settings):
            path = str(clawseed_view.write_view(store.workspace, text))
    return {"text": text, "entries": len(list(clawseed_view.entries(text))), "path": path}


def _clawseed(name: str, settings: Settings) -> Clawseed:
    store = inside(open_store(settings.store(name).address))
    if not isinstance(store, Clawseed):
        raise MemopsError(f"{store.address} is no clawseed store", "give clawseed:WORKSPACE")
    return store


def _before(store: Store, settings: Settings, now: Now, stem: str) -> snapshot.Snapshot:
    at, policy = now or clock(), settings.policy
    return snapshot.take(store, settings.state, at, policy, accept_shrink=True, stem=stem)


def _locked(store: Store, settings: Settings) -> AbstractContextManager[None]:
    return locks.hold(snapshot.lock_path(settings.state, store.identity()))


def _offered(store: Store, checks: Sequence[str]) -> list[Repair]:
    module = part(store.kind, "repair")
    known = module.REPAIRS if module else ()
    for check in checks:
        if check not in known:
            said = f"memops repairs no {check!r} of a {store.kind} store"
            raise MemopsError(said, f"it can repair: {', '.join(known) or 'nothing'}")
    return [*module.repairs(store)] if module else []
