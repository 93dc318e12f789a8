"""Commands that plan, and that do whole nights."""

import shlex
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from memops.cli import in_force, to_copy, to_decide, typed
from memops.cli.options import PATH, flag, now_option, several, usual
from memops.cli.output import counted, cut, emit, skipped_text, table, waiting_text
from memops.errors import GateFailed, GuardRefused

_RISKS = ("high", "medium", "low", "none")
_SHOWN = 60  # columns of a text in a list of samples
_DETAILED = flag("--detailed-exitcode", "detailed", help="Exit 4 when the plan has changes.")


@click.command()
@click.argument("store")
@several("--rule", "only", help="Only this rule (repeatable).")
@several("--without", help="All rules but this one (repeatable).")
@flag("--accept-shrink", help="Believe a store that lost many records, or is another.")
@usual("--show", 10, "Changes shown.", click.IntRange(0))
@_DETAILED
@now_option
def plan(
    store: str, accept_shrink: bool, show: int, detailed: bool, now: datetime | None, **chosen: Any
) -> int:
    """Propose changes to STORE (or from a snapshot); nothing is written to it."""
    from memops import steps
    from memops.cli.changes import riskiest_text
    from memops.commands.plan_view import first_look
    from memops.state import sources

    settings, rules = in_force(), steps.chosen_rules(**chosen)
    taken = sources.open_or_take(store, settings, now, accept_shrink)
    made = steps.make_plan(taken.path, settings, now or sources.clock(), rules)
    said = made.told() | first_look(made.id, settings, show)
    emit(said, lambda: [*_plan_text(said), *riskiest_text(said), *_next(said)])
    return 4 if detailed and said["ops"] else 0


@click.command()
@click.argument("store")
@flag("--plan-only", help="Stop after the plan.")
@click.option("--suite", help="Grade recall before and after with this suite.")
@flag("--approve", help="Apply even beyond the limits of a night.")
@flag("--ask", help="Ask the model of MEMOPS_MODEL_URL about unclear notes.")
@_DETAILED
@now_option
def migrate(
    store: str, plan_only: bool, ask: bool, detailed: bool, now: datetime | None, **how: Any
) -> int:
    """Clean up a polluted STORE once: extract facts from raw notes, retire the rest."""
    from memops.commands.explaining import samples
    from memops.nights.night import curate

    night = curate(store, in_force(), now, migrate=True, plan_only=plan_only, model=ask, **how)
    shown = samples(night["plan"], in_force())
    emit(
        night | {"samples": shown},
        lambda: [
            *_plan_text(night | {"beyond": []}),
            *(line for rule, rows in shown.items() for line in _samples_text(rule, rows)),
            *(_asked_text(night["asked"]) if ask else []),
            *_night_text([night]),
            *(_next(night) if plan_only else []),
        ],
    )
    return 4 if detailed and plan_only and night["ops"] else int(night["code"])


@click.command()
@click.argument("store")
@click.option("--scope", help="Only records of this scope.")
@now_option
def curator(store: str, scope: str | None, now: datetime | None) -> int:
    """Ask the model of MEMOPS_MODEL_URL what STORE could do without; writes a plan to review."""
    from memops.commands.curator import proposed
    from memops.state import sources

    settings, made = in_force(), sources.clock()
    taken = sources.open_or_take(store, settings, now)
    said = proposed(taken, settings, now or made, made, scope)
    next_ = _next(said, approve=True)
    emit(said, lambda: [*_plan_text(said), *_asked_text(said["asked"]), *next_])
    return 3 if said["asked"]["waiting"] else 0


@click.command()
@click.argument("stores", nargs=-1)
@click.option("--suite", help="Grade recall with this suite (memops.toml can name one a store).")
@flag("--approve", help="Apply even beyond the limits of a night.")
@flag("--hygiene", help="Do hygiene, too, if it was done just before.")
@click.option(
    "--jobs", type=click.IntRange(1), default=1, help="Stores at a time, each in a process."
)
@now_option
def nightly(stores: tuple[str, ...], jobs: int, now: datetime | None, **how: Any) -> int:
    """Do the night of STORES (default: all of memops.toml); ends with the gravest code."""
    from memops.errors import MemopsError, gravest
    from memops.nights import notices, several
    from memops.state.sources import clock

    settings = in_force()
    if not stores and not settings.stores:
        raise MemopsError("no store named, and memops.toml names none", "memops nightly STORE")
    nights = several.nights(stores or tuple(settings.stores), settings, now, jobs, **how)
    for said in notices.tell(nights, settings, typed(), now or clock()):
        click.echo(f"memops: not told: {said}", err=True)
    emit(nights, lambda: _night_text(nights))
    return gravest(int(night["code"]) for night in nights)


@click.command()
@usual("--into", Path("memops-demo"), "Folder to make.", PATH)
@now_option
def demo(into: Path, now: datetime | None) -> int:
    """Make the two sample stores and do a night on each: the whole path, with a report.

    What a person would be asked about is approved, and counted.
    """
    from memops.errors import gravest
    from memops.nights import demo as demonstration

    nights = demonstration.run(into, now)
    told = [demonstration.text(night) for night in nights]
    told += [f"how they stand: memops --config {shlex.quote(str(into / 'memops.toml'))} status"]
    emit(nights, "\n\n".join(told))
    return gravest(int(night["code"]) for night in nights)


def _plan_text(said: dict[str, Any]) -> list[str]:
    many = f"{counted(said['ops'], 'change')} of {counted(said['records'], 'record')}"
    lines = [f"plan {said['plan']}: {many} from snapshot {said['snapshot']}"]
    lines += [_counts(said)] if said["ops"] else []
    lines += _beyond(said.get("beyond", []))
    for waits in said.get("waits", ()):
        verb = "waits" if waits["changes"] == 1 else "wait"
        lines += [f"{waits['changes']} {verb} for a person: {waits['reason']}"]
    if said["refused"]:
        whose = "withdrawn by the guard, or refused before by a person or the store"
        lines += [f"{said['refused']} more were {whose} (refused.jsonl)"]
    return [*lines, f"{said['path']}/ops.jsonl"]


def _counts(said: dict[str, Any]) -> str:
    """Changes by rule and operation, or by rule and risk where that is known."""
    risks = said.get("by_risk", {})
    named = [risk for risk in _RISKS if any(risk in row for row in risks.values())]
    ops = {r: ", ".join(f"{op} {n}" for op, n in of.items()) for r, of in said["by_rule"].items()}
    rows = [(r, told, *(risks[r].get(risk, "-") for risk in named)) for r, told in ops.items()]
    return table(rows, ["rule", "changes", *(f"{risk} risk" for risk in named)])


def _recovered(night: dict[str, Any]) -> list[str]:
    """What a night finished that had been cut off: runs, or their being taken back."""
    lines = []
    for run in night.get("recovered", ()):
        many = counted(run["applied"] + run["already"], "record")
        if run["state"] == "rolled-back":
            said = f"the rollback of run {run['run']} was finished: {many} as before it"
        else:
            undo = f"undo: {typed()} rollback {run['run']}"
            said = f"run {run['run']} of an earlier night was finished: {many} changed; {undo}"
        lines.append(f"{night['store']}: first, {said}")
    return lines


def _gate_next(night: dict[str, Any]) -> list[str]:
    """What to do about a night whose gate failed: without the rule that cost recall, or all the same."""
    if night["code"] != GateFailed.code:
        return []
    store, rule = shlex.quote(night["store"]), (night.get("blame") or {}).get("rule")
    lines = [f"  which queries: {typed()} report {night['plan']}"]
    if rule:
        lines += [f"  without that rule: {typed()} review {night['plan']} --reject-rule {rule}"]
    lines += [f"  all the same: {typed()} apply {night['plan']} --approve"]
    return [*lines, f"  then again: {typed()} nightly {store}"]


def _next(said: dict[str, Any], approve: bool = False) -> list[str]:
    """The lines to copy that review a plan and carry it out; nothing for an empty plan."""
    if not said["ops"]:
        return []
    waiting = sum(waits["changes"] for waits in said.get("waits", ()))
    look, whole = to_decide(said["plan"])
    if approve or said["exceeds"] or waiting == said["ops"]:
        return [look, whole]
    too = [whole.replace("then", "what waits and stays, too", 1)] if waiting else []
    return [look, *too, whole.removesuffix(" --approve")]


def _beyond(limits: list[dict[str, Any]]) -> list[str]:
    """Each limit of a night that is exceeded, and the settings that raise them."""
    raising = in_force().raising(limits)
    return [*(f"beyond a night's limits: {limit['reason']}" for limit in limits), *raising]


def _samples_text(rule: str, rows: list[dict[str, str]]) -> list[str]:
    cells = [(row["op"], cut(row["text"], _SHOWN), cut(row["reason"], _SHOWN)) for row in rows]
    return ["", f"{rule}, for example:", table(cells, ["change", "text", "why"])]


def _asked_text(asked: dict[str, Any]) -> list[str]:
    waiting = [f"{n} wait for another night: {why}" for why, n in asked["waiting"].items()]
    said = f"a model answered {asked['answered']} of {asked['asked']} questions"
    return [f"{said} ({asked['cached']} from before, {asked['tokens']} tokens)", *waiting]


def _night_text(nights: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            night["store"], *(night.get(name, "-") for name in ("ops", "records", "applied")),
            len(night.get("skipped", [])), night.get("verdict", "not graded"),
            night.get("report", "-"),
        )
        for night in nights
    ]  # fmt: skip
    lines = [table(rows, ["store", "changes", "records", "applied", "skipped", "recall", "report"])]
    for night in nights:
        lines += skipped_text(night["store"], night.get("skipped", []))
        unread = night.get("unread", {}).items()
        lines += [f"{night['store']}: not read: {path} is {why}" for path, why in unread]
        said = night.get("error") or night.get("stopped")
        beyond = [limit["reason"] for limit in night.get("exceeds", [])]
        if said and beyond and said.endswith("; ".join(beyond)):
            said = "\n  ".join(["the plan goes beyond its limits:", *beyond])
        lines += [f"{night['store']}: {said}"] if said else []
        lines += [f"  {line}" for line in to_copy(night.get("hint", "")).splitlines()]
        if night.get("applied") and "run" in night:
            many = counted(night["applied"], "record")
            lines += [f"{night['store']}: {many} changed; undo: {typed()} rollback {night['run']}"]
        held = night["code"] == GuardRefused.code and "plan" in night
        lines += [*_recovered(night), *_gate_next(night), *([] if held else _open(night))]
    return lines


def _open(night: dict[str, Any]) -> list[str]:
    if not night.get("waiting"):
        return []
    rules = ", ".join(f"{rule} {n}" for rule, n in night["open"].items())
    many = f"{waiting_text(night['waiting'])}: {rules}"
    before = "" if night["new"] else " (as they did the night before)"
    beyond = (f"  {line}" for line in _beyond(night["beyond"]))
    return [f"{night['store']}: {many}{before}", *beyond, *to_decide(night["plan"], "  ")]
