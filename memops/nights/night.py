"""A store's night: the steps in their order, timed and noted in the logbook.

<state>/log.jsonl   at, night, store, step, event (done or failed), seconds, counts, flow_run; no memory text
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from memops import files, locks, snapshot, steps
from memops.apply import beyond, selection
from memops.commands.snapshots import prune
from memops.errors import GateFailed, Locked, MemopsError, told
from memops.plan import outcome
from memops.progress import tell
from memops.reasons import reason
from memops.refusals import refusals
from memops.safety.looked import remembering
from memops.safety.masking import masked_value
from memops.schema import LIVE
from memops.settings import Settings
from memops.state import cadence, history, planfile
from memops.state.runs import find_run
from memops.state.sources import clock
from memops.stores import Store, open_store

T = TypeVar("T")
SKIPPED = 3
"""Code of a night that was done, but for some changes or notes, which wait for the next."""


def plainly(step: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a step, as the command line does."""
    return step(*args, **kwargs)


def curate(
    name: str,
    settings: Settings,
    now: datetime | None = None,
    call: Callable[..., Any] = plainly,
    suite: str | None = None,
    migrate: bool = False,
    approve: bool = False,
    plan_only: bool = False,
    hygiene: bool = False,
    model: bool = False,
    passing: tuple[type[BaseException], ...] = (),
) -> dict[str, Any]:
    """Do a store's night: snapshot, plan, grade both sides, gate, apply, report.

    A run that was cut off is finished first. Nothing is written when the gate fails (code 30); a plan
    beyond its limits waits for a person; a store without a suite is not graded. Hygiene is left out
    within its cadence, unless asked for. What fails once the store was written is said beside what was
    written, but for errors of the classes `passing`.
    """
    at, name = now or clock(), settings.called(name)
    store = open_store(settings.store(name).address)
    kept = snapshot.readings_folder(settings.state, store.identity())
    hostile = settings.policy.hostile
    looks = (settings.policy.secrets, hostile, hostile.of_owners())
    with alone(name, store, settings.state), remembering(kept, *looks):
        asked = hygiene or migrate
        due, why = (True, "asked for") if asked else _hygiene_is_due(store, settings, at)
        night: dict[str, Any] = {"store": name, "now": at.isoformat(), "code": 0}
        night["place"] = settings.place(name)
        timings: list[dict[str, Any]] = []
        timed = _logged(call, night, settings, timings)
        if not plan_only:
            night |= timed(steps.recover, name, settings)
        taken = timed(steps.take_snapshot, name, settings, at)
        if model:
            night |= timed(steps.ask_step, taken["path"], settings, at)
        answers = night.get("answers")
        night |= timed(steps.plan_step, taken["path"], settings, at, migrate, due, answers)
        night["rows"] = {"before": taken["rows"], "live_before": taken["live"]}
        night["hygiene"] = why
        if unread := taken["notes"].get("skipped"):
            night["unread"] = unread
        if chosen := suite or settings.store(name).suite:
            night |= timed(steps.grade_plan, taken["path"], night["plan"], chosen, settings)
        night["timings"] = timings
        with _told_beside_its_run(night, settings, passing):
            if night.get("verdict") == "fail":
                night |= _kept_from(night)
            elif not plan_only:
                if night["ops"]:
                    night |= timed(steps.apply_step, night["plan"], settings, approve)
                night |= left_open(night["plan"], taken["path"], settings)
            if model and night["asked"]["waiting"] and night["code"] == 0:
                night["code"] = SKIPPED
            if due and not (migrate or plan_only) and night["code"] in (0, SKIPPED):
                cadence.record(store, settings.state, at)
            night["rows"] |= _after(taken["path"], night, settings)
            night |= timed(steps.report_step, night, settings)
            call(prune, settings, at)
            history.append(settings.state, night)
        masked_value(night)  # what will be told of it is searched while what is clean is remembered
        return night


_ASKED = "asked.json"
"""In a store's folder: digests of what the last night left to a person, who is asked again for what is new."""


def left_open(plan: str, taken: str, settings: Settings) -> dict[str, Any]:
    """Return what of a plan waits for a person: `open` by rule, `waiting` in all, `new` to them."""
    state = settings.state
    made, source = planfile.load(plan, state), snapshot.open_snapshot(Path(taken))
    rest = made.changes[[seq - 1 for seq in selection.left(made, state)]]
    keys = refusals(rest, source.records()).rows()
    digests = {files.digest("\x1f".join(key))[:32] for key in keys}
    path = snapshot.store_folder(state, source.manifest["store"]) / _ASKED
    known: set[str] = set()
    with suppress(MemopsError):  # one that is lost or damaged: they are asked again
        known = set(files.read_json(path)["asked"]) if path.is_file() else known
    files.write_json(path, {"asked": sorted(digests)})
    by_rule = dict(rest["rule"].value_counts(sort=False).sort("rule").iter_rows())
    said = {"open": by_rule, "waiting": rest.height, "new": len(digests - known)}
    return said | {"beyond": beyond(made, state, clock())}


@contextmanager
def _told_beside_its_run(
    night: dict[str, Any], settings: Settings, passing: tuple[type[BaseException], ...]
) -> Iterator[None]:
    """Have a night that wrote its store say so, and how it goes back, whatever fails after it."""
    try:
        yield
    except passing:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        if not (run := night.get("run")):
            raise
        said = told(error)
        what = f"run {run} changed {night['applied']} records; what came after it failed"
        night |= {"code": said.code, "error": f"{what}: {said.message}"}
        night["hint"] = f"`memops report {run}` writes its page, `memops rollback {run}` goes back"
        night["cause"] = type(said).__name__
        with suppress(OSError, MemopsError):
            history.append(settings.state, night)


@contextmanager
def alone(name: str, store: Store, state: Path) -> Iterator[None]:
    """Hold the night of a store; raises Locked while another process is at it."""
    with ExitStack() as held:
        try:
            held.enter_context(locks.hold(snapshot.night_path(state, store.identity())))
        except Locked as error:
            said = f"another night of {name} is at work"
            busy = Locked(said, "wait for it to end; `memops status` says how it went")
            busy.begun = False
            raise busy from error
        yield


def refuse_at_work(plan: str, settings: Settings) -> None:
    """Raise Locked while a night of a plan's store is at work, which plans anew."""
    header = planfile.load(plan, settings.state).header
    at_work = locks.is_held(snapshot.night_path(settings.state, header["store"]))
    if at_work and header["authority"] != "person":
        store = settings.called(header["address"])
        said = f"a night of {store} is at work and plans anew; nothing was changed"
        raise Locked(said, "wait for it to end; `memops status` says how it went and what waits")


def _hygiene_is_due(store: Store, settings: Settings, at: datetime) -> tuple[bool, str]:
    last = cadence.last_done(store, settings.state)
    due = cadence.is_due(last, at, settings.policy.lifecycles.cadence_hours)
    return due, "due" if due else f"left out: done at {last}"


def _kept_from(night: dict[str, Any]) -> dict[str, Any]:
    rule = (night.get("blame") or {}).get("rule")
    why = reason("gate.worse_by", {"rule": rule}) if rule else reason("gate.worse")
    return {"code": GateFailed.code, "applied": 0, "stopped": why["reason"], "because": why}


def summary(night: dict[str, Any], typed: str = "memops") -> str:
    """Return a night in Markdown, for a pull request, a chat or an artifact; no memory text."""
    rows = [
        f"| {rule} | {', '.join(f'{op} {n}' for op, n in ops.items())} | {_open(night, rule)} |"
        for rule, ops in night["by_rule"].items()
    ]
    head = ["| rule | changes | wait for a person |", "|---|---|--:|"]
    table = [*head, *rows] if rows else ["No changes."]
    said = night.get("stopped") or ". ".join([_said(night), *filter(None, [night.get("error")])])
    recall = night.get("verdict", "not graded: the store has no suite")
    lines = [f"## {night['store']}", "", f"{said}. Recall: {recall}.", "", *table]
    if night.get("run"):
        lines += ["", f"Undo: `{typed} rollback {night['run']}`"]
    return "\n".join(lines) + "\n"


def finished_first(night: dict[str, Any]) -> str:
    """Return what is said of the runs of earlier nights that a night finished before it began."""
    what = {True: "the rollback of run {}", False: "run {} of an earlier night"}
    said = "; before it, {} was finished"
    runs = night.get("recovered", ())
    each = (what[run["state"] == "rolled-back"].format(run["run"]) for run in runs)
    return "".join(said.format(one) for one in each)


def _open(night: dict[str, Any], rule: str) -> int:
    """How many changes of a rule wait; all of it before anything was carried out."""
    return int(night.get("open", {rule: sum(night["by_rule"][rule].values())}).get(rule, 0))


def _said(night: dict[str, Any]) -> str:
    """Several changes of one record are written at once and count as one record."""
    done, of, changes = night.get("applied", 0), night["records"], night["ops"]
    waits = f"; {night['waiting']} changes wait for a person" if night.get("waiting") else ""
    return f"{done} of {of} records changed ({changes} changes{waits})"


def _logged(
    call: Callable[..., Any], night: dict[str, Any], settings: Settings, timings: list[Any]
) -> Callable[..., Any]:
    """Return `call`, timing each step and noting it in the logbook under one name of the night."""
    name = f"{night['now']}/{night['store']}"

    def timed(step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        begun, said = time.perf_counter(), {}
        tell(step.__name__.replace("_", " "), 0, 1)
        try:
            result = call(step, *args, **kwargs)
            said = result | ({"error": result["cause"]} if "cause" in result else {})
        except BaseException as error:
            said = {"error": type(error).__name__, "code": told(error).code}
            raise
        finally:
            spent, title = time.perf_counter() - begun, step.__name__
            tell(title.replace("_", " "), 1, 1)
            timings.append({"step": title, "seconds": round(spent, 3)})
            with suppress(OSError, MemopsError):  # what a step did counts, not a line about it
                _note_step(settings.state, name, night["store"], title, spent, said)
        return result

    return timed


def _after(path: str, night: dict[str, Any], settings: Settings) -> dict[str, int]:
    """Rows and live rows once the night is over (of the plan's outcome, less what was skipped)."""
    before = snapshot.open_snapshot(Path(path)).records()
    if not night.get("applied"):
        return {"after": before.height, "live_after": before.filter(LIVE).height}
    plan = planfile.load(night["plan"], settings.state)
    kept = find_run(night["run"], settings.state).header["kept"]
    missed = [s["id"] for s in night.get("skipped", [])]
    did = plan.changes[[seq - 1 for seq in kept]].filter(~pl.col("id").is_in(missed))
    after = outcome(before, did)
    return {"after": after.height, "live_after": after.filter(LIVE).height}


_COUNTS = ("rows", "live", "ops", "applied", "refused", "code")
_NAMES = ("snapshot", "plan", "run", "verdict", "state", "error")


def _note_step(
    state: Path, night: str, store: str, step: str, seconds: float, said: Mapping[str, Any]
) -> None:
    """Append a line; of what a step returned only its counts and the names of what it made."""
    line = {
        "at": clock().isoformat(timespec="milliseconds"), "night": night, "store": store,
        "step": step, "event": "failed" if "error" in said else "done", "seconds": round(seconds, 3),
        **{key: said[key] for key in _COUNTS if isinstance(said.get(key), int)},
        **{key: said[key] for key in _NAMES if isinstance(said.get(key), str)},
    }  # fmt: skip
    if flow_run := os.environ.get("PREFECT__FLOW_RUN_ID"):
        line["flow_run"] = flow_run
    data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
    path = files.folder(state) / "log.jsonl"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "ab") as log:
        log.write(data)
