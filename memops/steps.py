"""Steps: the only place where files meet pure functions; each takes paths and leaves a path.

A step is what a command does and what a Prefect task wraps. `curate` is the night's sequence and
has no other home: the command line runs it with a plain call, the flow with one that makes each
step a task.
"""

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from memops import apply as applying
from memops import files, planfile, snapshot
from memops.context import Context
from memops.errors import GateFailed, GuardRefused, MemopsError
from memops.plan import diff, outcome
from memops.rules import MIGRATION, RULES, Rule, propose
from memops.schema import LIVE
from memops.settings import Settings
from memops.stores import open_store

T = TypeVar("T")


def clock() -> datetime:
    """Return the time now; every other module is given it."""
    return datetime.now(UTC)


def take_snapshot(
    name: str, settings: Settings, now: datetime | None = None, accept_shrink: bool = False
) -> dict[str, Any]:
    """Take a snapshot of a live store; returns its name, path and counts."""
    configured = settings.store(name)
    store = open_store(configured.address)
    taken = snapshot.take(
        store, settings.state, now or clock(), settings.policy.limits, configured.name, accept_shrink
    )
    said = {k: taken.manifest[k] for k in ("address", "rows", "live", "counts", "notes")}
    return {"snapshot": taken.id, "path": str(taken.path), **said}


def open_or_take(
    name: str, settings: Settings, now: datetime | None = None, accept_shrink: bool = False
) -> snapshot.Snapshot:
    """Return the snapshot of that name, or take one of the store of that name."""
    if name not in settings.stores and ":" not in name:
        found = snapshot.find(name, settings.state)
        if found:
            return found
        if Path(name).exists():
            raise MemopsError(f"{name}: neither a snapshot nor a store", "a store is KIND:PATH")
    taken = take_snapshot(name, settings, now, accept_shrink)
    return snapshot.open_snapshot(Path(taken["path"]))


def check_snapshot(name: str, settings: Settings) -> dict[str, Any]:
    """Re-hash a snapshot and read its records; raises Corrupt, naming the files that differ."""
    found = snapshot.find(name, settings.state)
    if not found:
        raise MemopsError(f"no snapshot {name!r} in {settings.state / 'snapshots'}")
    rows = found.records().height
    return {"snapshot": found.id, "rows": rows, "files": len(found.manifest["files"]), "ok": True}


def restore_snapshot(name: str, settings: Settings, to: str | None = None) -> dict[str, Any]:
    """Make a store exactly what a snapshot holds; what it held until now is snapshotted first."""
    found = snapshot.find(name, settings.state)
    if not found:
        raise MemopsError(f"no snapshot {name!r} in {settings.state / 'snapshots'}")
    snapshot.verify(found)
    address = settings.store(to).address if to else found.address
    store = open_store(address)
    safety = None
    try:
        safety = snapshot.take(store, settings.state, clock(), settings.policy.limits, "before-restore", True)
    except MemopsError as error:
        if error.code not in (10, 20):
            raise
    from memops import overlay

    identity = store.identity() if safety else {**found.manifest["store"], "path": _path_of(address)}
    with files.lock(files.folder(settings.state / "locks") / f"{snapshot.store_id(identity)}.lock"):
        store.restore(found.path / "raw")
        kept = overlay.read(found.path / "overlay.parquet")
        overlay.write(snapshot.overlay_path(settings.state, store.identity()), kept)
    return {"restored": found.id, "to": address, "before": safety.id if safety else None}


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


def make_plan(
    snapshot_path: str | Path,
    settings: Settings,
    now: datetime,
    rules: Sequence[Rule] = RULES,
) -> planfile.PlanFile:
    """Plan from a snapshot and write the plan's folder."""
    taken = snapshot.open_snapshot(Path(snapshot_path))
    records = taken.records()
    store = open_store(taken.address)
    ctx = Context(now=now, policy=settings.policy)
    changes, refused = propose(records, ctx, rules)
    names = [rule.__name__ for rule in rules]
    return planfile.save(
        settings.state, taken, records, changes, refused, store, settings.policy, now, clock(), names
    )


def chosen_rules(
    base: Sequence[Rule] = RULES, only: Sequence[str] = (), without: Sequence[str] = ()
) -> list[Rule]:
    """Return the rules that `--rule` and `--without` leave, in their order."""
    known = {rule.__name__: rule for rule in (*RULES, *MIGRATION)}
    for name in (*only, *without):
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else "list them with `memops rules`"
            raise MemopsError(f"unknown rule {name!r}", hint)
    pool = [known[n] for n in known if n in only] if only else list(base)
    return [rule for rule in pool if rule.__name__ not in without]


def apply_plan(
    plan: str,
    settings: Settings,
    approve: bool = False,
    lock_timeout: float = 10.0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Carry out a plan on its store."""
    found = planfile.load(plan, settings.state)
    return applying.apply(found, settings.state, clock(), approve, lock_timeout, progress)


def grades_of(
    records: pl.DataFrame, suite_path: Path, settings: Settings, encoder: Any = None
) -> Any:
    """Grade recall of records against a suite."""
    from memops import suite

    return suite.grade(records, suite.load(suite_path), settings.policy, encoder)


def suite_folder(name: str | None) -> Path | None:
    """Return where a suite is: a path, or a name below `evals` (the sample suites are bundled)."""
    if not name:
        return None
    from memops.lexicon import resource

    places = (Path(name), Path("evals") / name, resource(f"evals/{name}"))
    for place in places:
        if (place / "suite.toml").is_file():
            return place
    raise MemopsError(f"no suite {name!r}", f"looked in {', '.join(str(p) for p in places)}")


def plainly(step: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a step, as the command line does."""
    return step(*args, **kwargs)


def curate(
    name: str,
    settings: Settings,
    now: datetime | None = None,
    call: Callable[..., Any] = plainly,
    suite: str | None = None,
    rules: Sequence[str] = (),
    migrate: bool = False,
    approve: bool = False,
    plan_only: bool = False,
) -> dict[str, Any]:
    """Do a store's night: snapshot, plan, grade both sides, gate, apply, report.

    Nothing is written when the gate fails (the result says so, with code 30). A store without a
    suite is curated within the limits, and its report says that recall was not graded.
    """
    at = now or clock()
    chosen = suite or settings.store(name).suite
    timings: list[dict[str, Any]] = []

    def timed(step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        value = call(step, *args, **kwargs)
        timings.append({"step": step.__name__, "seconds": round(time.perf_counter() - begun, 3)})
        return value

    taken = timed(take_snapshot, name, settings, at)
    planned = timed(plan_step, taken["path"], settings, at, rules, migrate)
    night: dict[str, Any] = {"store": name, "now": at.isoformat(), "code": 0, **planned}
    night["rows"] = {"before": taken["rows"], "live_before": taken["live"]}
    if chosen:
        night |= timed(judge_step, taken["path"], planned["plan"], chosen, settings)
    if night.get("verdict") == "fail":
        night |= {"code": GateFailed.code, "applied": 0, "stopped": "recall would get worse"}
    elif not plan_only and planned["ops"]:
        night |= timed(apply_step, planned["plan"], settings, approve)
    night["timings"] = timings
    night |= timed(report_step, night, settings)
    return night


def plan_step(
    path: str, settings: Settings, now: datetime, rules: Sequence[str], migrate: bool
) -> dict[str, Any]:
    """Plan from a snapshot; returns the plan's name, path and counts."""
    base = MIGRATION if migrate else RULES
    made = make_plan(path, settings, now, chosen_rules(base, rules))
    return said_of(made)


def said_of(made: planfile.PlanFile) -> dict[str, Any]:
    """Return what a command prints of a plan."""
    keys = ("ops", "by_rule", "by_op", "snapshot", "exceeds", "refused")
    return {"plan": made.id, "path": str(made.path), **{k: made.header[k] for k in keys}}


def judge_step(path: str, plan: str, suite_name: str, settings: Settings) -> dict[str, Any]:
    """Grade a snapshot and what a plan would leave of it, and compare the two."""
    from memops import encode, gate
    from memops import suite as suites

    folder = suite_folder(suite_name)
    assert folder is not None
    loaded = suites.load(folder)
    before = snapshot.open_snapshot(Path(path)).records()
    after = outcome(before, planfile.load(plan, settings.state).plan())
    encoder = encode.open_encoder(settings.encoder, settings.state / "vectors")
    encoder = encode.fitted(encoder, before.filter(LIVE)["text"])
    was = suites.grade(before, loaded, settings.policy, encoder)
    now = suites.grade(after, loaded, settings.policy, encoder, lineage=after)
    verdict = gate.judge(was, now, settings.policy)
    out = settings.state / "plans" / plan / "grades.json"
    said = {"before": was.to_json(), "after": now.to_json(), "verdict": verdict.to_json()}
    files.write_json(out, said)
    return {"suite": suite_name, "verdict": verdict.verdict, "grades": str(out)}


def apply_step(plan: str, settings: Settings, approve: bool) -> dict[str, Any]:
    """Apply within the limits; a plan beyond them waits for a person and the night goes on."""
    try:
        done = apply_plan(plan, settings, approve)
    except GuardRefused as error:
        return {"code": error.code, "applied": 0, "stopped": error.message, "hint": error.hint}
    return {
        "run": done["run"],
        "applied": done["applied"],
        "skipped": done["skipped"],
        "state": done["state"],
        "code": 3 if done["skipped"] else 0,
    }


def report_step(night: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Write the report of a night beside its plan."""
    from memops.reporting import write_report

    path = Path(night["path"]) / "report.html"
    write_report(night, settings, path)
    files.write(Path(night["path"]) / "night.json", json.dumps(night, ensure_ascii=False, default=str).encode())
    return {"report": str(path)}


def _path_of(address: str) -> str:
    return str(Path(address.split(":", 1)[1]).expanduser().resolve())


