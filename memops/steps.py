"""Steps: the only place where files meet pure functions; each takes paths and leaves a path.

A step is what a command does and what a Prefect task wraps. `curate` is the night's sequence and
has no other home: the command line runs it with a plain call, the flow with one that makes each
step a task.
"""

import json
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from memops import apply as applying
from memops import asking, cadence, files, history, logbook, planfile, reviewing, snapshot
from memops.context import Context
from memops.errors import GateFailed, GuardRefused, MemopsError, told
from memops.judging import gate, grade_plan
from memops.keeping import prune
from memops.looking import audit_store
from memops.plan import outcome
from memops.recovery import recover, remedies
from memops.rules import HYGIENE, MIGRATION, RULES, Rule, propose
from memops.runs import written_again
from memops.schema import LIVE
from memops.schema import instant as as_instant
from memops.settings import Settings
from memops.sources import clock, take_snapshot
from memops.spread import Mapper, spreading
from memops.spread import plainly as plainly_all
from memops.stores import open_store

T = TypeVar("T")
SKIPPED = 3
"""Code of a night that was done, but for some changes or notes, which wait for the next."""


def make_plan(
    snapshot_path: str | Path,
    settings: Settings,
    now: datetime,
    rules: Sequence[Rule] = RULES,
    mapper: Mapper | None = None,
    answers: str | None = None,
) -> planfile.PlanFile:
    """Plan from a snapshot, and a model's answers if it was asked; write the plan's folder.

    The heavy steps go to the runner.
    """
    taken = snapshot.open_snapshot(Path(snapshot_path))
    records = taken.records()
    store = open_store(taken.address)
    restored = written_again(records, taken.manifest["store"], settings.state, now)
    said, waiting = asking.read(Path(answers)) if answers else (None, frozenset[str]())
    before = reviewing.remembered(settings.state, taken.manifest["store"])
    with spreading(settings.runner, settings.state, mapper) as spread:
        ctx = Context(
            now=now,
            policy=settings.policy,
            store=store.kind,
            fresh=waiting,
            told=said,
            restored=restored,
            spread=spread,
        )
        changes, refused = propose(records, ctx, rules, before)
    names = [rule.__name__ for rule in rules]
    return planfile.save(
        settings.state,
        taken,
        records,
        changes,
        refused,
        store,
        settings.policy,
        now,
        clock(),
        names,
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


def plainly(step: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a step, as the command line does."""
    return step(*args, **kwargs)


def nobody(night: dict[str, Any]) -> bool:
    """Answer for the person who is not there: a plan beyond its limits stays a plan."""
    return False


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
    ask: Callable[[dict[str, Any]], bool] = nobody,
    mapper: Mapper | None = None,
    hygiene: bool = False,
    model: bool = False,
) -> dict[str, Any]:
    """Do a store's night: snapshot, plan, grade both sides, gate, apply, report.

    A run that was cut off is finished first. Nothing is written when the gate fails (the result
    says so, with code 30). A plan beyond its limits is applied if `ask` says so. A store without
    a suite is curated within the limits, and its report says that recall was not graded. `mapper`
    runs the heavy steps, if not the runner that the settings name. The rules of hygiene are left
    out within their cadence, unless `hygiene` or `rules` ask for them.
    """
    at = now or clock()
    store, hours = (
        open_store(settings.store(name).address),
        settings.policy.lifecycles.cadence_hours,
    )
    asked = hygiene or migrate or bool(rules)
    last = None if asked else cadence.last_done(store, settings.state)
    due = asked or cadence.is_due(last, at, hours)
    chosen = suite or settings.store(name).suite
    night: dict[str, Any] = {"store": name, "now": at.isoformat(), "code": 0}
    timings: list[dict[str, Any]] = []
    timed = _logged(call, night, settings, timings)
    if not plan_only:
        night |= timed(recover, name, settings)
    taken = timed(take_snapshot, name, settings, at)
    if model:
        night |= timed(ask_step, taken["path"], settings, at)
    answers = night.get("answers")
    planned = timed(plan_step, taken["path"], settings, at, rules, migrate, mapper, due, answers)
    night |= planned
    night["rows"] = {"before": taken["rows"], "live_before": taken["live"]}
    night["hygiene"] = "asked for" if asked else "due" if due else f"left out: done at {last}"
    if chosen:
        night |= timed(
            grade_plan, taken["path"], planned["plan"], chosen, settings, mapper or plainly_all
        )
    if night.get("verdict") == "fail":
        rule = (night.get("blame") or {}).get("rule")
        told = "recall would get worse" + (f", by {rule}" if rule else "")
        night |= {"code": GateFailed.code, "applied": 0, "stopped": told}
    elif not plan_only and planned["ops"]:
        night |= timed(apply_step, planned["plan"], settings, approve)
        if night["code"] == GuardRefused.code and ask(night):
            del night["stopped"], night["hint"]
            night |= timed(apply_step, planned["plan"], settings, True)
    if model and night["asked"]["waiting"] and night["code"] == 0:
        night["code"] = SKIPPED
    if due and not (migrate or rules or plan_only) and night["code"] in (0, 3):
        cadence.record(store, settings.state, at)
    night["timings"] = timings
    night["rows"] |= _after(taken["path"], night, settings)
    night |= timed(report_step, night, settings)
    call(prune, settings, at)
    history.append(settings.state, night)
    return night


def plan_step(
    path: str,
    settings: Settings,
    now: datetime,
    rules: Sequence[str],
    migrate: bool,
    mapper: Mapper | None = None,
    hygiene: bool = True,
    answers: str | None = None,
) -> dict[str, Any]:
    """Plan from a snapshot; returns the plan's name, path and counts."""
    base = MIGRATION if migrate else RULES
    without = [] if hygiene or migrate else [rule.__name__ for rule in HYGIENE]
    made = make_plan(path, settings, now, chosen_rules(base, rules, without), mapper, answers)
    return said_of(made)


def ask_step(path: str, settings: Settings, now: datetime) -> dict[str, Any]:
    """Ask a model about the notes that no rule could read; returns figures and its answers' file."""
    taken = snapshot.open_snapshot(Path(path))
    ctx = Context(now=now, policy=settings.policy)
    return asking.about_notes(taken.records(), ctx, settings.state)


def instant(text: str | None) -> datetime | None:
    """Return the instant that a text says; raises MemopsError for one without a zone."""
    if text is None:
        return None
    at = as_instant(text)
    if at is None:
        raise MemopsError(
            f"{text!r} is not an instant", "write 2026-06-01T02:00:00Z, with its zone"
        )
    return at


def summary(night: dict[str, Any]) -> str:
    """Return a night in Markdown, for a pull request, a chat or an artifact; no memory text."""
    rows = [
        f"| {rule} | {op} | {n} |"
        for rule, ops in night["by_rule"].items()
        for op, n in ops.items()
    ]
    table = ["| rule | change | records |", "|---|---|--:|", *rows] if rows else ["No changes."]
    said = night.get("stopped") or f"{night.get('applied', 0)} of {night['ops']} changes applied"
    recall = night.get("verdict", "not graded: the store has no suite")
    lines = [f"## {night['store']}", "", f"{said}. Recall: {recall}.", "", *table]
    if night.get("run"):
        lines += ["", f"Undo: `memops rollback {night['run']}`"]
    return "\n".join(lines) + "\n"


def said_of(made: planfile.PlanFile) -> dict[str, Any]:
    """Return what a command prints of a plan."""
    keys = ("ops", "by_rule", "by_op", "snapshot", "exceeds", "refused")
    return {"plan": made.id, "path": str(made.path), **{k: made.header[k] for k in keys}}


def collect_nodes(
    roots: Sequence[str], into: str | None, settings: Settings, now: datetime | None
) -> dict[str, Any]:
    """Read the memory roots of several XingheBot nodes as one."""
    from memops import collecting

    place = Path(into) if into else None
    return collecting.collect(collecting.nodes(roots), place, settings.policy, now or clock())


__all__ = [
    "apply_step",
    "ask_step",
    "audit_store",
    "curate",
    "gate",
    "grade_plan",
    "plan_step",
    "recover",
    "remedies",
    "report_step",
    "take_snapshot",
]


def apply_step(plan: str, settings: Settings, approve: bool) -> dict[str, Any]:
    """Apply within the limits; a plan beyond them waits for a person and the night goes on."""
    try:
        done = apply_plan(plan, settings, approve)
    except GuardRefused as error:
        return {"code": error.code, "applied": 0, "stopped": error.message, "hint": error.hint}
    said = {k: done[k] for k in ("run", "applied", "skipped", "state")}
    return {**said, "code": 3 if done["skipped"] else 0}


def report_step(night: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Write the report of a night beside its plan."""
    from memops.reporting import write_report

    path = Path(night["path"]) / "report.html"
    write_report(night, settings, path)
    files.write(
        Path(night["path"]) / "night.json",
        json.dumps(night, ensure_ascii=False, default=str).encode(),
    )
    return {"report": str(path)}


def _logged(
    call: Callable[..., Any],
    night: dict[str, Any],
    settings: Settings,
    timings: list[dict[str, Any]],
) -> Callable[..., Any]:
    """Return `call`, timing each step and noting it in the logbook under one name of the night."""
    name = f"{night['now']}/{night['store']}"

    def timed(step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        begun, said = time.perf_counter(), {}
        try:
            said = call(step, *args, **kwargs)
        except BaseException as error:
            said = {"error": type(error).__name__, "code": told(error).code}
            raise
        finally:
            spent, title = time.perf_counter() - begun, step.__name__
            timings.append({"step": title, "seconds": round(spent, 3)})
            logbook.note(settings.state, clock(), name, night["store"], title, spent, said)
        return said

    return timed


def _after(path: str, night: dict[str, Any], settings: Settings) -> dict[str, int]:
    """Rows and live rows once the night is over (of the plan's outcome, less what was skipped)."""
    before = snapshot.open_snapshot(Path(path)).records()
    if not night.get("applied"):
        return {"after": before.height, "live_after": before.filter(LIVE).height}
    plan = planfile.load(night["plan"], settings.state).plan()
    missed = [s["id"] for s in night.get("skipped", [])]
    after = outcome(before, plan.filter(~pl.col("id").is_in(missed)))
    return {"after": after.height, "live_after": after.filter(LIVE).height}
