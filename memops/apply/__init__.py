"""Apply: carry out a plan on a live store, journalled and undoable.

The truth about progress is the state of the records, not the journal: a change is made only to a
record that is still what the plan was made from, and one that is already made is passed over. So
`resume` runs the same work again, and `rollback` takes back what still stands as the run left it.
"""

import contextlib
import shutil
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, locks, overlay
from memops.apply import selection
from memops.apply.execution import carried_out, noting, prepared
from memops.apply.selection import summary
from memops.errors import GuardRefused, MemopsError, PlanRefused, RollbackConflict
from memops.failpoints import failpoint
from memops.limits import excess
from memops.policy import from_table
from memops.progress import tell
from memops.reasons import Reason
from memops.schema import only
from memops.snapshot import lock_path, open_snapshot, overlay_path
from memops.state import plan_basis, planfile, restore_marker, seals
from memops.state.earlier import standing_over, touched_since
from memops.state.purge_plans import refuse_forgotten
from memops.state.runs import FORMAT, Run, batches_of_undo, latest_run
from memops.state.snapshot_chain import is_same
from memops.stores import Store, Written, open_store

Basis = tuple[pl.DataFrame, pl.DataFrame | None]
"""The records that a plan was made from, and the sizes of the whole that they are a part of."""


def apply(
    plan: planfile.PlanFile,
    state: Path,
    clock: datetime,
    approve: bool = False,
    lock_timeout: float = 10.0,
    as_of: datetime | None = None,
    named: Collection[int] | None = None,
) -> dict[str, Any]:
    """Carry out a plan, or go on with the run that it already has.

    `clock` is the machine's, as the times of files are; `as_of` is the instant of `--now`, by which a
    plan expires. Without approval that is the lines that may happen unattended, with it all, or those
    `named`, that no run had. Returns counts, what was skipped and how many lines wait. Raises
    PlanRefused, GuardRefused, Locked and what the store raises; whatever it raises, the run can be
    resumed or rolled back.
    """
    store = open_store(plan.header["address"])
    with _held(store, plan.header["store"], state, lock_timeout):
        run = latest_run(plan.id, state)
        if run is not None:
            run.verify()
        if run is not None and run.state not in ("verified", "rolled-back"):
            done = _gone_on(run, plan, store, state)
            return done | {"waiting": len(selection.left(plan, state))}
        left = selection.left(plan, state)
        chosen = selection.chosen(plan, left, approve, named)
        waiting = {"waiting": len(left) - len(chosen)}
        if not selection.done(plan, state).issuperset(plan.kept):
            selection.refuse_replaced(plan, state)
        if not chosen and plan.changes.height:
            if left:
                planfile.refuse_expired(plan, clock, as_of)
            return selection.nothing_to_do(plan, state) | waiting
        planfile.refuse_expired(plan, clock, as_of)
        refuse_forgotten(plan.path)
        basis = _basis(plan, state)
        if not approve and plan.header["authority"] != "person":
            _refuse(plan, _excess(plan, chosen, basis, state, clock))
        run = _started(plan, chosen, state, clock, approve)
        return carried_out(prepared(run, plan, store, state, basis[0])) | waiting


def resume(run: Run, state: Path, lock_timeout: float = 10.0) -> dict[str, Any]:
    """Go on with a run that was cut off: forwards, or backwards if it was rolling back."""
    if run.backwards:
        return rollback(run, state, lock_timeout)
    plan = planfile.load(run.header["plan"], state)
    store = open_store(plan.header["address"])
    with _held(store, plan.header["store"], state, lock_timeout):
        run.verify()
        if run.state == "verified":
            return summary(run, [])
        return _gone_on(run, plan, store, state)


def rollback(run: Run, state: Path, lock_timeout: float = 10.0) -> dict[str, Any]:
    """Take back what a run changed; a record that changed since keeps its newer version.

    Of a run that was taken back it tries again what it could not. Raises RollbackConflict where a later
    run stands in the same documents: they come back to the byte only in their order.
    """
    store = open_store(run.header["address"])
    with _held(store, run.header["store"], state, lock_timeout):
        run.verify()
        left = run.kept_back() if run.state == "rolled-back" else None
        if left is not None and not left:
            return summary(run, [])
        documents = store.family == "documents" and run.state != "rolling-back"
        if documents and (over := standing_over(run, state)):
            hint = f"take that back first: memops rollback {over.id}"
            raise RollbackConflict(f"run {over.id} came after and changed the same files", hint)
        run.refuse_without_undo()
        with noting(run):
            run.journal.add({"state": "rolling-back"})
            store.settle()
            written = _reverted(run, store, state, left)
            failpoint("overlay-restored")
            run.journal.add({"state": "rolled-back"})
            run.seal()
        return summary(run, written)


def take_back(
    run: Run, ids: Collection[str], state: Path, lock_timeout: float = 10.0
) -> dict[str, Any]:
    """Take back what a run did to these records alone; the rest of the run stands.

    Raises MemopsError for a run that has not come to its end, or did nothing to one of them.
    """
    store = open_store(run.header["address"])
    with _held(store, run.header["store"], state, lock_timeout):
        run.verify()
        if run.state not in ("verified", "needs-attention"):
            hint = f"`memops resume {run.id}` ends it; `memops rollback {run.id}` takes back all"
            raise MemopsError(f"run {run.id} is {run.state}; nothing was taken back", hint)
        run.refuse_without_undo()
        strange = sorted(set(ids) - {w["id"] for w in run.answers()})
        if strange:
            raise MemopsError(f"run {run.id} did nothing to record {strange[0]!r}")
        written = _reverted(run, store, state, ids)
        run.seal()
        return summary(run, written)


def _basis(plan: planfile.PlanFile, state: Path) -> Basis:
    """The records that a plan was made from, out of its snapshot, and the sizes of the whole."""
    path = state / "snapshots" / plan.header["snapshot"]
    if not path.is_dir():
        raise PlanRefused(f"the snapshot of plan {plan.id} is gone")
    taken = open_snapshot(path)
    if not is_same(state, plan.header["snapshot_sha256"], taken.seal):
        raise PlanRefused(f"the snapshot {taken.id} is not the one that the plan was made from")
    return plan_basis.opened(plan.header.get("basis"), plan.changes, taken)


def _started(
    plan: planfile.PlanFile, chosen: list[int], state: Path, clock: datetime, approve: bool
) -> Run:
    folders = list((state / "runs").glob(f"{plan.id}-*"))
    for dead in (path for path in folders if not (path / "run.json").exists()):
        shutil.rmtree(dead)  # of a process that died before its run began
    n = 1 + max((int(p.name.rsplit("-", 1)[1]) for p in folders if p.exists()), default=0)
    run = Run(files.folder(state / "runs" / f"{plan.id}-{n}"))
    known = overlay.read(overlay_path(state, plan.header["store"]))
    overlay.write(run.path / "overlay.parquet", known)
    header = {n: plan.header[n] for n in ("address", "store", "snapshot", "authority")} | {
        "plan": plan.id, "kept": chosen, "approved": approve, "started": clock.isoformat(),
        "format": FORMAT, "seal": None,
    }  # fmt: skip
    header["seal"] = seals.seal(state, "run", header)
    files.write(run.undo.path, b"")
    files.write_sealed(run.path / "run.json", header)
    failpoint("run-begun")
    return run


def _refuse(plan: planfile.PlanFile, over: list[Reason]) -> None:
    if over:
        said = f"the plan goes beyond its limits: {'; '.join(b['reason'] for b in over)}"
        hint = f"next: memops review {plan.id}\nthen: memops apply {plan.id} --approve"
        raise GuardRefused(said, hint, over)


def beyond(plan: planfile.PlanFile, state: Path, clock: datetime) -> list[Reason]:
    """Return the limits of a night that keep what may happen unattended from being carried out."""
    chosen = selection.chosen(plan, selection.left(plan, state), False, None)
    asked = plan.header["authority"] == "person"
    return [] if asked else _excess(plan, chosen, _basis(plan, state), state, clock)


def _excess(
    plan: planfile.PlanFile, chosen: list[int], basis: Basis, state: Path, clock: datetime
) -> list[Reason]:
    limits = from_table(plan.header["policy"], plan.id).limits
    since = clock - timedelta(hours=limits.window_hours)
    earlier = touched_since(since, plan.header["store"], state)
    records, whole = basis
    return excess(plan.changes[[seq - 1 for seq in chosen]], records, limits, earlier, whole)


def _gone_on(run: Run, plan: planfile.PlanFile, store: Store, state: Path) -> dict[str, Any]:
    """Go on with a run that was cut off; what a failed device holds of its records is doubtful."""
    back = f"take the run back: memops rollback {run.id}"
    if not run.vouched(state):
        raise PlanRefused(f"{run.path / 'run.json'}: not sealed as it was begun in {state}", back)
    refuse_forgotten(plan.path)
    with noting(run):
        run.journal.renew()
        run.undo.renew()
        store.settle()
    return carried_out(prepared(run, plan, store, state, _basis(plan, state)[0]))


def _reverted(
    run: Run, store: Store, state: Path, named: Collection[str] | None = None
) -> list[Written]:
    """Take back what a run did to its records, or only to these, in the store and the overlay."""
    written: list[Written] = []
    only_these = {} if named is None else {"only": sorted(named)}
    whole = len(run.answers() if named is None else named)
    for batch in batches_of_undo(run):
        failpoint("revert-batch")
        done = store.revert([undo for undo in batch if named is None or undo.id in named])
        failpoint("reverted-batch")
        written += done
        tell("taking back", len(written), whole)
        run.journal.add({"reverted": [vars(w) for w in done], **only_these})
    return written + _restore_overlay(run, state, written, named)


def _restore_overlay(
    run: Run, state: Path, written: list[Written], named: Collection[str] | None = None
) -> list[Written]:
    """Give the records of a run, or only these, back what the overlay said of them before it; returns
    those of which nothing else changed.
    """
    path = overlay_path(state, run.header["store"])
    seen = [*run.answers(), *({"id": u["id"], "new_id": None} for u in run.undo.entries())]
    seen = [w for w in seen if named is None or w["id"] in named]
    ids = {w["id"] for w in seen} | {w["new_id"] for w in seen if w["new_id"]}
    mine = pl.Series("id", sorted(ids), dtype=pl.String)
    now, before = overlay.read(path), overlay.read(run.path / "overlay.parquet")
    again = only(before, mine)
    overlay.write(path, pl.concat([overlay.without(now, mine), again]))
    was, is_ = ({row["id"]: row for row in t.to_dicts()} for t in (only(now, mine), again))
    moved = {id for id in was.keys() | is_.keys() if was.get(id) != is_.get(id)}
    back = {w["id"] for w in seen if moved & {w["id"], w["new_id"]}} - {w.id for w in written}
    return [Written(id, "applied") for id in sorted(back)]


@contextlib.contextmanager
def _held(store: Store, identity: dict[str, str], state: Path, timeout: float) -> Iterator[None]:
    """Hold the lock of a store that is the one, and whole."""
    if store.identity() != identity:
        what = "the store that this plan was made for, or its schema changed"
        raise PlanRefused(f"{store.address} is not {what}")
    with locks.hold(lock_path(state, identity), timeout):
        restore_marker.refuse_half(state, identity)
        yield
