"""Commands that carry plans out, go on with what was cut off, and take it back."""

import shlex
from datetime import datetime
from typing import Any

import click

from memops.cli import at, nothing_in, to_copy, to_decide, typed
from memops.cli.output import (
    counted,
    emit,
    json_option,
    moment,
    now_option,
    skipped_text,
    table,
)
from memops.safety.display import shown

_LOCK = click.option(
    "--lock-timeout", default=10.0, show_default=True, help="Seconds to wait for the lock."
)


@click.command()
@click.argument("plan")
@click.option("--approve", is_flag=True, help="Apply beyond the limits, and to files just written.")
@_LOCK
@now_option
@json_option
@click.pass_context
def apply(
    ctx: click.Context,
    plan: str,
    approve: bool,
    lock_timeout: float,
    now: datetime | None,
    as_json: bool,
) -> int:
    """Carry out PLAN; records that changed since its snapshot are skipped by name."""
    from memops import steps

    done = steps.apply_plan(plan, at(ctx), approve, lock_timeout, now)
    emit(done, as_json, lambda: _run_text(done))
    return int(done["code"])


@click.command()
@click.argument("run")
@_LOCK
@json_option
@click.pass_context
def resume(ctx: click.Context, run: str, lock_timeout: float, as_json: bool) -> int:
    """Go on with RUN where it was cut off."""
    from memops import apply as applying
    from memops.state.runs import find_run

    settings = at(ctx)
    done = applying.resume(find_run(run, settings.state), settings.state, lock_timeout)
    emit(done, as_json, lambda: _run_text(done))
    return int(done["code"])


@click.command()
@click.argument("run")
@click.option(
    "--only", metavar="SEQ,SEQ", help="Only what these changes did; remember them as refused."
)
@_LOCK
@json_option
@click.pass_context
def rollback(
    ctx: click.Context, run: str, only: str | None, lock_timeout: float, as_json: bool
) -> int:
    """Take back what RUN changed; what changed since keeps its newer version (exit 25)."""
    from memops import apply as applying
    from memops.commands import repairing, reviewing
    from memops.state import sources
    from memops.state.runs import find_run

    state = at(ctx).state
    if only is None and (repair := repairing.taken_back(run, state)):
        emit(repair, as_json, lambda: _back_text(repair))
        return 25 if repair["skipped"] else 0
    found = find_run(run, state)
    if only is None:
        done = applying.rollback(found, state, lock_timeout)
    else:
        done = reviewing.take_back(
            found, reviewing.numbers(only), state, sources.clock(), lock_timeout
        )
    emit(done, as_json, lambda: _back_text(done))
    return 25 if done["skipped"] else 0


@click.command()
@json_option
@click.pass_context
def runs(ctx: click.Context, as_json: bool) -> None:
    """List runs, and plans that wait for one, newest first."""
    from memops.state.runs import listed

    found = listed(at(ctx).state)
    emit(
        found,
        as_json,
        lambda: (
            table(
                [
                    (r["run"], r["plan"], r["state"], moment(r["started"]), r["store"])
                    for r in found
                ],
                ["run", "plan", "state", "started", "store"],
            )
            if found
            else nothing_in(ctx, "no run and no plan")
        ),
    )


def _run_text(done: dict[str, Any]) -> str:
    if done["run"] is None or done.get("repeated"):
        return _none_text(done)
    lines = [f"run {done['run']}: {done['state']}, {counted(done['applied'], 'record')} changed"]
    lines[0] += f", {done['already']} were so already" if done["already"] else ""
    lines += (
        [f"{done['error']}: {', '.join(map(shown, done['wrong'][:20]))}"] if done["wrong"] else []
    )
    lines += [to_copy(done["hint"])] if done.get("hint") else []
    lines += skipped_text(done["run"], done["skipped"])
    return "\n".join([*lines, f"undo: {typed()} rollback {done['run']}"])


def _none_text(done: dict[str, Any]) -> str:
    """What is said of a plan of which nothing could be carried out."""
    if not done["waiting"] and done["run"]:
        said = f"plan {done['plan']} was already applied by run {done['run']}, nothing was done"
        passed = skipped_text(done["run"], done["passed_over"], "and not tried again")
        again = f"to look at them again: {typed()} plan {shlex.quote(done['address'])}"
        return "\n".join([said, *passed, *([again] if passed else [])])
    if not done["waiting"]:
        return f"plan {done['plan']}: nothing of it is left to carry out"
    waits = "waits" if done["waiting"] == 1 else "wait"
    return "\n".join(
        [
            f"nothing was changed: {counted(done['waiting'], 'change')} {waits} for a person",
            *to_decide(done["plan"]),
        ]
    )


def _back_text(done: dict[str, Any]) -> str:
    back = "record is as it was" if done["applied"] == 1 else "records are as they were"
    lines = [f"run {done['run']}: {done['state']}, {done['applied']} {back}"]
    if done.get("seqs"):
        listed = ", ".join(map(str, done["seqs"]))
        lines += [f"not proposed again until their evidence changes: {listed}"]
    kept = [(s["id"], s["why"]) for s in done["skipped"][:20]]
    return "\n".join([*lines, *([table(kept, ["not taken back", "why"])] if kept else [])])
