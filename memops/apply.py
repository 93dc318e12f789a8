"""Apply: carry out a plan on a live store, journalled and undoable.

    runs/<plan>-<n>/
      run.json         plan, store, what was kept of the plan, whether a person approved
      journal.jsonl    started, each batch with what became of its changes, verified, rolled back
      undo.jsonl       native records before and after, on disk before the commit that needs them
      overlay.parquet  the overlay as it was before
      seal.json        digests of journal and undo at the end, since they may only grow

The truth about progress is the state of the records, not the journal: a change is made only to a
record that is still what the plan was made from, and one that is already made is passed over. So
`resume` runs the same work again, and `rollback` takes back what still stands as the run left it.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, overlay, planfile
from memops.descent import EDGES, keep_lineage, lineage
from memops.errors import Corrupt, GuardRefused, MemopsError, PlanRefused
from memops.failpoints import failpoint
from memops.guard import excess, protect
from memops.plan import EDITS, PUTS, outcome, squash, successors
from memops.policy import Policy, from_table
from memops.schema import RETIRED
from memops.snapshot import open_snapshot, overlay_path, store_id
from memops.stores import Store, Undo, Work, Written, open_store

FINISHED = ("verified", "rolled-back")
_GROWING = ("journal.jsonl", "undo.jsonl")


@dataclass(frozen=True)
class Run:
    """One application of one plan."""

    path: Path

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def header(self) -> dict[str, Any]:
        """What the run was started with."""
        return files.read_sealed(self.path / "run.json")

    @property
    def journal(self) -> files.Journal:
        """What happened, in order."""
        return files.Journal(self.path / "journal.jsonl")

    @property
    def undo(self) -> files.Journal:
        """Pre-images and what they became."""
        return files.Journal(self.path / "undo.jsonl")

    @property
    def state(self) -> str:
        """Applying, verified, needs-attention, rolling-back or rolled-back."""
        marks = [e["state"] for e in self.journal.entries() if "state" in e]
        return marks[-1] if marks else "approved"

    def seal(self) -> None:
        """Write down what journal and undo hold, now that the run has come to an end."""
        seals = {}
        for name in _GROWING:
            path = self.path / name
            data = path.read_bytes() if path.exists() else b""
            seals[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        files.write_sealed(self.path / "seal.json", seals)

    def verify(self) -> None:
        """Raise Corrupt, naming the file, when the run's own records are not as they were left."""
        overlay.read(self.path / "overlay.parquet")
        seals = (
            files.read_sealed(self.path / "seal.json") if (self.path / "seal.json").exists() else {}
        )
        for name in _GROWING:
            path, said = self.path / name, seals.get(name)
            data = path.read_bytes()[: said["bytes"]] if said and path.exists() else b""
            if said and hashlib.sha256(data).hexdigest() != said["sha256"]:
                raise Corrupt(f"{path}: not as it was when the run ended", "restore a snapshot")
            files.Journal(path).entries()


def apply(
    plan: planfile.PlanFile,
    state: Path,
    clock: datetime,
    approve: bool = False,
    lock_timeout: float = 10.0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Carry out a plan, or go on with the run that it already has.

    Returns counts and what was skipped. Raises PlanRefused, GuardRefused, Locked and what the
    store raises; whatever it raises, the run can be resumed or rolled back.
    """
    store = open_store(plan.header["address"])
    _same_store(store, plan.header["store"])
    with files.lock(_lock_path(state, plan.header["store"]), lock_timeout):
        run = _latest_run(plan.id, state)
        if run is not None:
            run.verify()
        if run is not None and run.state == "verified":
            return _summary(run, [])
        if run is None or run.state == "rolled-back":
            planfile.refuse_expired(plan, clock)
            run = _started(plan, store, state, clock, approve)
        return _carried_out(run, plan, store, state, progress)


def resume(run: Run, state: Path, lock_timeout: float = 10.0) -> dict[str, Any]:
    """Go on with a run that was cut off: forwards, or backwards if it was rolling back."""
    if run.state in ("rolling-back", "rolled-back"):
        return rollback(run, state, lock_timeout)
    plan = planfile.load(run.header["plan"], state)
    store = open_store(plan.header["address"])
    _same_store(store, plan.header["store"])
    with files.lock(_lock_path(state, plan.header["store"]), lock_timeout):
        run.verify()
        if run.state == "verified":
            return _summary(run, [])
        return _carried_out(run, plan, store, state, None)


def rollback(run: Run, state: Path, lock_timeout: float = 10.0) -> dict[str, Any]:
    """Take back what a run changed; a record that changed since keeps its newer version."""
    store = open_store(run.header["address"])
    _same_store(store, run.header["store"])
    with files.lock(_lock_path(state, run.header["store"]), lock_timeout):
        run.verify()
        if run.state == "rolled-back":
            return _summary(run, [])
        run.journal.add({"state": "rolling-back"})
        written: list[Written] = []
        for batch in _batches_of_undo(run):
            failpoint("revert-batch")
            done = store.revert(batch)
            failpoint("reverted-batch")
            written += done
            run.journal.add({"reverted": [asdict(w) for w in done]})
        _restore_overlay(run, state)
        failpoint("overlay-restored")
        run.journal.add({"state": "rolled-back"})
        run.seal()
        return _summary(run, written)


def take_back(
    run: Run, ids: Collection[str], state: Path, lock_timeout: float = 10.0
) -> dict[str, Any]:
    """Take back what a run did to these records alone; the rest of the run stands.

    Raises MemopsError for a run that has not come to its end, or did nothing to one of them.
    """
    store = open_store(run.header["address"])
    _same_store(store, run.header["store"])
    with files.lock(_lock_path(state, run.header["store"]), lock_timeout):
        run.verify()
        if run.state not in ("verified", "needs-attention"):
            hint = f"`memops resume {run.id}` ends it; `memops rollback {run.id}` takes back all"
            raise MemopsError(f"run {run.id} is {run.state}; nothing was taken back", hint)
        strange = sorted(set(ids) - {w["id"] for w in _answers(run)})
        if strange:
            raise MemopsError(f"run {run.id} did nothing to record {strange[0]!r}")
        written: list[Written] = []
        for batch in _batches_of_undo(run):
            done = store.revert([undo for undo in batch if undo.id in ids])
            failpoint("reverted-batch")
            written += done
            run.journal.add({"reverted": [asdict(w) for w in done], "only": sorted(ids)})
        _restore_overlay(run, state, ids)
        run.seal()
        return _summary(run, written)


def runs(state: Path) -> list[Run]:
    """Return every run, newest first."""
    found = [Run(p.parent) for p in (state / "runs").glob("*/run.json")]
    return sorted(found, key=lambda r: (r.header["started"], r.id), reverse=True)


def find_run(name: str, state: Path) -> Run:
    """Return a run by name; raises MemopsError."""
    for path in (Path(name), state / "runs" / name):
        if (path / "run.json").is_file():
            return Run(path)
    raise MemopsError(f"no run {name!r} in {state / 'runs'}", "list them with `memops runs`")


def moved(run: Run) -> dict[str, str]:
    """Return the ids that a run gave records, in a store where the text is the id."""
    answers = [w for entry in run.journal.entries() for w in entry.get("batch", [])]
    return {w["id"]: w["new_id"] for w in answers if w["new_id"]}


def _started(
    plan: planfile.PlanFile, store: Store, state: Path, clock: datetime, approve: bool
) -> Run:
    snapshot = open_snapshot(state / "snapshots" / plan.header["snapshot"])
    if snapshot.seal != plan.header["snapshot_sha256"]:
        raise PlanRefused(f"the snapshot {snapshot.id} is not the one that the plan was made from")
    records = snapshot.records()
    kept = plan.plan()
    policy = from_table(plan.header["policy"], plan.id)
    person = plan.header["authority"] == "person"
    beyond = [] if approve or person else excess(kept, records, policy.limits)
    if beyond:
        raise GuardRefused(
            f"the plan goes beyond its limits: {'; '.join(beyond)}",
            "review it, then give --approve",
        )
    n = 1 + len(list((state / "runs").glob(f"{plan.id}-*")))
    run = Run(files.folder(state / "runs" / f"{plan.id}-{n}"))
    overlay.write(
        run.path / "overlay.parquet", overlay.read(overlay_path(state, plan.header["store"]))
    )
    header = {
        "plan": plan.id,
        "address": plan.header["address"],
        "store": plan.header["store"],
        "snapshot": snapshot.id,
        "kept": plan.kept,
        "approved": approve,
        "started": clock.isoformat(),
    }
    files.write_sealed(run.path / "run.json", header)
    failpoint("run-begun")
    return run


def _carried_out(
    run: Run,
    plan: planfile.PlanFile,
    store: Store,
    state: Path,
    progress: Callable[[int, int], None] | None,
) -> dict[str, Any]:
    header = run.header
    records = open_snapshot(state / "snapshots" / header["snapshot"]).records()
    changes = squash(plan.changes[[seq - 1 for seq in header["kept"]]])
    policy = from_table(plan.header["policy"], plan.id)
    now = datetime.fromisoformat(plan.header["now"])
    before = overlay.read(run.path / "overlay.parquet")
    run.journal.add({"state": "applying"})
    waiting, changes = _held_back(changes, store, run, policy)
    elsewhere = changes.filter(pl.col("id").is_in(overlay.archived_ids(before).implode()))
    inside = changes.join(elsewhere.select("id"), on="id", how="anti")
    written = waiting + [Written(i, "applied") for i in elsewhere["id"]]
    if written:
        run.journal.add({"batch": [asdict(w) for w in written]})
    check = _checker(records, changes, before, policy, plan.header["authority"])
    kept = frozenset(entry["id"] for entry in run.undo.entries())
    done = 0
    for batch in store.batches(inside):
        work = Work(batch, records, now, check(batch), _keeper(run), kept)
        failpoint("batch-write")
        answers = store.write(work)
        failpoint("batch-written")
        written += answers
        run.journal.add({"batch": [asdict(w) for w in answers]})
        done += batch.height
        if progress:
            progress(done, inside.height)
    failpoint("overlay-write")
    _write_overlay(run, store, state, records, changes, written)
    failpoint("overlay-written")
    wrong = _unverified(store, state, run, records, changes, written)
    # Suites name records by id, and must find what came of them.
    edges = [lineage(plan.plan()), pl.DataFrame(list(moved(run).items()), EDGES, orient="row")]
    keep_lineage(state, plan.header["store"], pl.concat(edges))
    run.journal.add({"state": "needs-attention" if wrong else "verified", "wrong": wrong})
    run.seal()
    return _summary(run, written)


def _held_back(
    changes: pl.DataFrame, store: Store, run: Run, policy: Policy
) -> tuple[list[Written], pl.DataFrame]:
    """Leave records in files that were written lately for a later night, unless approved."""
    if run.header["approved"]:
        return [], changes
    since = datetime.fromisoformat(run.header["started"]) - timedelta(
        minutes=policy.limits.fresh_minutes
    )
    fresh = changes.filter(pl.col("id").is_in(list(store.recent(since))))
    why = "its file was written within the last minutes"
    return [Written(i, "stale", why) for i in fresh["id"]], changes.join(
        fresh.select("id"), on="id", how="anti"
    )


def _keeper(run: Run) -> Callable[[list[Undo]], None]:
    return lambda undo: run.undo.add(*(vars(u) for u in undo))


def _checker(
    records: pl.DataFrame,
    changes: pl.DataFrame,
    before: pl.DataFrame,
    policy: Policy,
    authority: str,
) -> Callable[[pl.DataFrame], Callable[[pl.DataFrame, pl.DataFrame], Mapping[str, str]]]:
    """Make, for a batch, the guard that runs on live records inside the store's transaction.

    Links are followed to the record that stands at their end once the whole plan is carried out;
    of the records outside the batch the snapshot tells what they are.
    """
    ends = successors(outcome(records, changes))
    new = outcome(records.clear(), changes.filter(PUTS))
    beyond = pl.concat([new["id"], overlay.archived_ids(before)])

    def for_batch(batch: pl.DataFrame) -> Callable[[pl.DataFrame, pl.DataFrame], Mapping[str, str]]:
        linked = (
            batch.join(ends, left_on="superseded_by", right_on="id", how="left")
            .with_columns(superseded_by=pl.coalesce("end", "superseded_by"))
            .drop("end")
        )
        keepers = linked.select(id="superseded_by").unique()
        far = pl.concat([new, records]).unique("id", keep="first", maintain_order=True)
        far = far.join(keepers, on="id", how="semi")
        direct = batch.filter(pl.col("superseded_by").is_not_null()).select("id", "superseded_by")
        named = direct.filter(~pl.col("superseded_by").is_in([*RETIRED, *beyond]))

        def check(live: pl.DataFrame, counts: pl.DataFrame) -> Mapping[str, str]:
            if authority == "person":
                return {}
            here = overlay.joined(live, before.filter(EDITS))
            lost = named.join(here.select(superseded_by="id"), on="superseded_by", how="anti")
            known = pl.concat([here, far.join(here.select("id"), on="id", how="anti")])
            _, refused = protect(linked, known, policy, counts)
            gone = {i: "the record that replaces it is gone" for i in lost["id"]}
            return dict(refused.select("id", "reason").iter_rows()) | gone

        return check

    return for_batch


def _expected(
    records: pl.DataFrame, changes: pl.DataFrame, written: Iterable[Written]
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the records that were written, as they should read, under the ids they now have."""
    good = [w for w in written if w.state in ("applied", "already")]
    moved = {w.id: w.new_id for w in good if w.new_id and w.new_id != w.id}
    ids = pl.Series("id", [w.id for w in good], dtype=pl.String)
    mine = changes.filter(pl.col("id").is_in(ids.implode()))
    base = records.filter(pl.col("id").is_in(ids.implode()))
    expected = outcome(base, mine).with_columns(pl.col("id", "superseded_by").replace(moved))
    return expected.sort("id"), moved


def _write_overlay(
    run: Run,
    store: Store,
    state: Path,
    records: pl.DataFrame,
    changes: pl.DataFrame,
    written: list[Written],
) -> None:
    path = overlay_path(state, run.header["store"])
    expected, moved = _expected(records, changes, written)
    ids = pl.Series(
        "id", [w.id for w in written if w.state in ("applied", "already")], dtype=pl.String
    )
    kept = overlay.without(overlay.read(path), ids)
    overlay.write(path, overlay.merged(kept, expected, store.project(expected), moved))


def _unverified(
    store: Store,
    state: Path,
    run: Run,
    records: pl.DataFrame,
    changes: pl.DataFrame,
    written: list[Written],
) -> list[str]:
    """Return ids that this run wrote and that do not read back as they should."""
    mine = [w for w in written if w.state == "applied"]
    expected, _ = _expected(records, changes, mine)
    now = overlay.joined(store.read(), overlay.read(overlay_path(state, run.header["store"])))
    same = ["id", "text", "kind", "scope", "tier", "pinned", "superseded_by"]
    return sorted(
        expected.select(same).join(now.select(same), on=same, how="anti", nulls_equal=True)["id"]
    )


def _batches_of_undo(run: Run, size: int = 200) -> Iterable[list[Undo]]:
    """Undo newest first: for each record the first pre-image and the last post-image."""
    whole: dict[tuple[str, str], Undo] = {}
    for entry in run.undo.entries():
        key = (entry["id"], entry["where"])
        first = whole.get(key)
        whole[key] = Undo(**{**entry, "before": first.before if first else entry["before"]})
    last_first = sorted(reversed(list(whole.values())), key=lambda u: u.where)
    batch: list[Undo] = []
    for undo in last_first:
        if batch and (undo.where != batch[-1].where or len(batch) >= size):
            yield batch
            batch = []
        batch.append(undo)
    if batch:
        yield batch


def _answers(run: Run) -> list[dict[str, Any]]:
    """What became of each record that the run came to."""
    return [w for entry in run.journal.entries() for w in entry.get("batch", [])]


def _restore_overlay(run: Run, state: Path, only: Collection[str] | None = None) -> None:
    """Give the records of a run, or only these, back what the overlay said of them before it."""
    path = overlay_path(state, run.header["store"])
    seen = [*_answers(run), *({"id": u["id"], "new_id": None} for u in run.undo.entries())]
    seen = [w for w in seen if only is None or w["id"] in only]
    ids = {w["id"] for w in seen} | {w["new_id"] for w in seen if w["new_id"]}
    mine = pl.Series("id", sorted(ids), dtype=pl.String)
    before = overlay.read(run.path / "overlay.parquet")
    again = before.filter(pl.col("id").is_in(mine.implode()))
    overlay.write(path, pl.concat([overlay.without(overlay.read(path), mine), again]))


def _latest_run(plan: str, state: Path) -> Run | None:
    mine = sorted(
        (state / "runs").glob(f"{plan}-*/run.json"),
        key=lambda p: int(p.parent.name.rsplit("-", 1)[1]),
    )
    return Run(mine[-1].parent) if mine else None


def _same_store(store: Store, identity: dict[str, str]) -> None:
    if store.identity() != identity:
        raise PlanRefused(
            f"{store.address} is not the store that this plan was made for, or its schema changed",
            "plan again",
        )


def _lock_path(state: Path, identity: dict[str, str]) -> Path:
    return files.folder(state / "locks") / f"{store_id(identity)}.lock"


def _summary(run: Run, written: list[Written]) -> dict[str, Any]:
    skipped = [
        {"id": w.id, "why": w.why, "state": w.state}
        for w in written
        if w.state in ("stale", "refused")
    ]
    return {
        "run": run.id,
        "plan": run.header["plan"],
        "state": run.state,
        "applied": sum(w.state == "applied" for w in written),
        "already": sum(w.state == "already" for w in written),
        "skipped": skipped,
        "path": str(run.path),
    }
