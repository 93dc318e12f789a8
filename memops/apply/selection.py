"""Selection: which lines of a plan a run carries out, and on what records, where runs before it did others."""

import shlex
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files
from memops.errors import MemopsError, PlanRefused, ReadBackFailed
from memops.plan import outcome, squash
from memops.reasons import told
from memops.schema import only
from memops.snapshot import store_id
from memops.state import seals
from memops.state.pending import rejected
from memops.state.planfile import PlanFile, load
from memops.state.runs import Run, runs_of
from memops.stores import Written


def left(plan: PlanFile, state: Path) -> list[int]:
    """Return the sequence numbers of the lines that remain and wait for somebody."""
    gone = done(plan, state) | anew(plan, state) | rejected(plan.path)
    return [seq for seq in plan.kept if seq not in gone]


def anew(plan: PlanFile, state: Path) -> set[int]:
    """Return the sequence numbers of the lines whose rules ran again for a newer plan."""
    ran = {rule for _, header in _newer(plan, state) for rule in header.get("rules", ())}
    rules = plan.changes["rule"] if ran else ()
    return {seq for seq, rule in enumerate(rules, 1) if rule in ran}


def done(plan: PlanFile, state: Path) -> set[int]:
    """Return the sequence numbers of the lines that a standing run had."""
    return {seq for run in standing(plan, state) for seq in run.header["kept"]}


def standing(plan: PlanFile, state: Path) -> list[Run]:
    """Return the runs of a plan that were not taken back, in their order."""
    return [run for run in runs_of(plan.id, state) if run.state != "rolled-back"]


def replaced_by(plan: PlanFile, state: Path) -> str | None:
    """Return the newest plan of the same store, where nothing is left of this one."""
    newer = next(iter(_newer(plan, state)), None)
    return newer[0] if newer and not left(plan, state) else None


def _newer(plan: PlanFile, state: Path) -> list[tuple[str, dict[str, Any]]]:
    """The newer plans of a plan's store, by name and header, newest first."""
    if plan.header["authority"] == "person":
        return []
    mine, store = _age(plan.path), store_id(plan.header["store"])
    made = ((_age(path.parent), path) for path in (state / "plans").glob("*/plan.json"))
    return [
        (path.parent.name, header)
        for _, path in sorted((one for one in made if one[0] > mine), reverse=True)
        for header in [files.read_json(path)]
        if header.get("authority") != "person" and store_id(header["store"]) == store
    ]


def refuse_replaced(plan: PlanFile, state: Path) -> None:
    """Raise PlanRefused where a newer plan of the same store proposes anew."""
    if newer := replaced_by(plan, state):
        again = f"plan again: memops plan {shlex.quote(plan.header['address'])}"
        if left(load(newer, state), state):
            again = f"review that one: memops review {newer}"
        raise PlanRefused(f"plan {plan.id} waits no more: plan {newer} took its place", again)


def _age(folder: Path) -> tuple[datetime, int]:
    """What orders plans by when they were made; one that does not say so is older than all."""
    try:
        return seals.made_at(folder), folder.stat().st_mtime_ns
    except MemopsError:
        return datetime.min.replace(tzinfo=UTC), 0


def chosen(
    plan: PlanFile, lines: list[int], approve: bool, named: Collection[int] | None
) -> list[int]:
    """Return those of the lines that may be carried out: unattended, with approval, or by number."""
    asked = approve or plan.header["authority"] == "person"
    may = set(plan.unattended() if not asked else lines if named is None else named)
    return [seq for seq in lines if seq in may]


def carried(run: Run, plan: PlanFile, moved: dict[str, str]) -> pl.DataFrame:
    """Return the changes of a run, under the ids that records have by now; `moved` tells them."""
    own = plan.changes[[seq - 1 for seq in run.header["kept"]]]
    if not moved:
        return own
    lists = pl.col("evidence", "derived_from").list.eval(pl.element().replace(moved))
    return own.with_columns(pl.col("id", "superseded_by").replace(moved), lists)


def base(
    run: Run, plan: PlanFile, state: Path, records: pl.DataFrame
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the plan's records as runs before this one left them, and the ids that those gave."""
    moved: dict[str, str] = {}
    for before in runs_of(plan.id, state):
        if before.number >= run.number or before.state == "rolled-back":
            continue
        answers = [w for w in before.answers() if w["state"] in ("applied", "already")]
        did = squash(carried(before, plan, moved))
        did = only(did, {w["id"] for w in answers})
        own = before.moved()
        records = outcome(records, did).with_columns(pl.col("id", "superseded_by").replace(own))
        moved = {old: own.get(new, new) for old, new in moved.items()} | own
    return records.sort("id"), moved


def nothing_to_do(plan: PlanFile, state: Path) -> dict[str, Any]:
    """Return what is said of a plan of which no line may be carried out, and by which run others were."""
    if before := standing(plan, state):
        last = {w["id"]: Written(**w) for run in before for w in run.answers()}
        said = {"repeated": True, "passed_over": skipped(last.values())}
        return summary(before[-1], []) | said | {"address": plan.header["address"]}
    none = {"applied": 0, "already": 0, "skipped": [], "wrong": [], "code": 0}
    return {"run": None, "plan": plan.id, "state": "planned", "path": str(plan.path), **none}


def summary(run: Run, written: list[Written]) -> dict[str, Any]:
    """Return what a command prints of a run: counts, and what was skipped and why."""
    passed = skipped(written)
    counts = {n: sum(w.state == n for w in written) for n in ("applied", "already")}
    about = {"run": run.id, "plan": run.header["plan"], "state": run.state, **counts}
    about |= {"skipped": passed, "wrong": run.wrong, "path": str(run.path)}
    return about | ended(run, bool(passed))


def skipped(written: Iterable[Written]) -> list[dict[str, Any]]:
    """Return the records that were passed over, and why."""
    passed = (w for w in written if w.state in ("stale", "refused"))
    return [{"id": w.id, "why": told(w.why), "state": w.state} for w in passed]


def ended(run: Run, passed: bool) -> dict[str, Any]:
    """Return the code that a run ends with, and what is said of one that failed its read-back."""
    if not (wrong := len(run.wrong)):
        return {"code": (25 if run.backwards else 3) if passed else 0}
    many = "1 record does" if wrong == 1 else f"{wrong} records do"
    named = shlex.join([run.header["address"], run.wrong[0]])
    hint = f"look: memops records show {named}\nor take the run back: memops rollback {run.id}"
    failed = ReadBackFailed(f"run {run.id}: {many} not read as written", hint)
    cause = {"error": failed.message, "hint": failed.hint, "cause": type(failed).__name__}
    return {"code": failed.code, **cause}
