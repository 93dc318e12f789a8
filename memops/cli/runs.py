"""Commands that carry plans out, go on with what was cut off, and take it back."""

import shlex
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from memops.cli import in_force, nothing_in, output, to_copy, to_decide, typed
from memops.cli.options import flag, now_option, usual
from memops.safety.display import shown

if TYPE_CHECKING:
    from memops.state.runs import Run

_LISTED = 12  # numbers of changes that are listed

_LOCK = usual("--lock-timeout", 10.0, "Seconds to wait for the lock.")


@click.command()
@click.argument("plan")
@flag(
    "--approve",
    help="Carry out what waits for a person, too, beyond the limits and in files just written.",
)
@_LOCK
@now_option
def apply(plan: str, approve: bool, lock_timeout: float, now: datetime | None) -> int:
    """Carry out PLAN; records that changed since its snapshot are skipped by name."""
    from memops import steps
    from memops.nights.night import refuse_at_work

    refuse_at_work(plan, in_force())
    done = steps.apply_plan(plan, in_force(), approve, lock_timeout, now)
    output.emit(done, lambda: _run_text(done))
    return int(done["code"])


@click.command()
@click.argument("run")
@_LOCK
def resume(run: str, lock_timeout: float) -> int:
    """Go on with RUN where it was cut off."""
    from memops import apply as applying
    from memops.commands import undoing
    from memops.state import sources
    from memops.state.runs import find_run

    state = in_force().state
    found = find_run(run, state)
    done = applying.resume(found, state, lock_timeout)
    if back := found.backwards:
        done |= {"seqs": undoing.refuse_taken_back(found, state, sources.clock())}
    output.emit(done, lambda: _back_text(done, found) if back else _run_text(done))
    return int(done["code"])


@click.command()
@click.argument("run")
@click.option(
    "--only", metavar="SEQ,SEQ", help="Only what these changes did; remember them as refused."
)
@_LOCK
def rollback(run: str, only: str | None, lock_timeout: float) -> int:
    """Take back what RUN changed; what changed since keeps its newer version (exit 25).

    What is taken back is rejected: not proposed again until its evidence changes. Of a run that was
    cut off it is proposed again.
    """
    from memops.commands import repairing, selecting, undoing
    from memops.state import sources
    from memops.state.runs import find_run

    state = in_force().state
    if only is None and (repair := repairing.taken_back(run, state)):
        output.emit(repair, lambda: _back_text(repair))
        return 25 if repair["skipped"] else 0
    found = find_run(run, state)
    how = (state, sources.clock(), lock_timeout)
    done = (
        undoing.roll_back(found, *how)
        if only is None
        else undoing.take_back(found, selecting.numbers(only), *how)
    )
    output.emit(done, lambda: _back_text(done, found))
    return 25 if done["skipped"] else 0


@click.command()
def runs() -> None:
    """List runs, and plans that wait for one, newest first."""
    from memops.state.runs import listed

    found = listed(in_force().state)
    rows = [
        (r["run"], r["plan"], r["state"], output.moment(r["started"]), r["store"]) for r in found
    ]
    head = ["run", "plan", "state", "started", "store"]
    output.emit(found, lambda: output.listing(rows, head, nothing_in("no run and no plan")))


def _run_text(done: dict[str, Any]) -> output.Text:
    if done["run"] is None or done.get("repeated"):
        return _none_text(done)
    so = f", {done['already']} were so already" if done["already"] else ""
    wrong = ", ".join(map(shown, done["wrong"][:20]))
    return [
        f"run {done['run']}: {done['state']}, {output.counted(done['applied'], 'record')} changed{so}",
        f"{done['error']}: {wrong}" if done["wrong"] else None,
        to_copy(done["hint"]) if done.get("hint") else None,
        *output.skipped_text(done["run"], done["skipped"]),
        f"undo: {typed()} rollback {done['run']}",
        *(_waiting(done) if done.get("waiting") else []),
    ]


def _waiting(done: dict[str, Any]) -> list[str]:
    return [output.waiting_text(done["waiting"]), *to_decide(done["plan"])]


def _none_text(done: dict[str, Any]) -> output.Text:
    if not done["waiting"] and done["run"]:
        said = f"plan {done['plan']} was already applied by run {done['run']}, nothing was done"
        passed = output.skipped_text(done["run"], done["passed_over"], "and not tried again")
        again = to_copy(f"to look at them again: memops plan {shlex.quote(done['address'])}")
        return [said, *passed, again if passed else None]
    if not done["waiting"]:
        return f"plan {done['plan']}: nothing of it is left to carry out"
    first, *rest = _waiting(done)
    return [f"nothing was changed: {first}", *rest]


def _back_text(done: dict[str, Any], run: "Run | None" = None) -> output.Text:
    back = "record is as it was" if done["applied"] == 1 else "records are as they were"
    lines = [f"run {done['run']}: {done['state']}, {done['applied']} {back}"]
    if seqs := done.get("seqs"):
        listed = f" ({', '.join(map(str, seqs))})" if len(seqs) <= _LISTED else ""
        many = f"{output.counted(len(seqs), 'change')}{listed}"
        lines += [f"rejected, so not proposed again until the evidence changes: {many}"]
        lines += [f"to have them back in the plan: {typed()} review {done['plan']} --keep all"]
    elif run and not run.was_verified and run.header["authority"] != "person":
        lines += [
            "it had not come to a good end, so the next night proposes its changes again; "
            f"to reject them: {typed()} review {done['plan']} --reject all"
        ]
    kept = [(s["id"], s["why"]) for s in done["skipped"][:20]]
    return [*lines, output.table(kept, ["not taken back", "why"]) if kept else None]
