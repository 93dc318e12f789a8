"""Steps, which commands call and Prefect tasks wrap: where files meet pure functions."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import apply as applying
from memops import files, snapshot
from memops.apply import recovery
from memops.apply.recovery import remedies
from memops.commands import reviewing, selecting, undoing
from memops.commands.explaining import audit_store
from memops.context import Context
from memops.errors import GuardRefused, MemopsError, did_you_mean
from memops.extract import asking
from memops.heap import given_back
from memops.judge.candidates.neighbours_dense import measured
from memops.judge.cascade import said_to
from memops.models.completions import endpoint
from memops.models.local import local_models
from memops.plan_agreement import alone
from memops.rules import HYGIENE, MIGRATION, RULES, Rule, propose
from memops.rules.extract_notes import extract_notes
from memops.settings import Settings
from memops.state import evidence, planfile, purge_receipts
from memops.state.earlier import written_again
from memops.state.outputs import note
from memops.state.pending import waiting
from memops.state.runs import find_run
from memops.state.sources import clock, fixed, take_snapshot
from memops.statements.remembered import Remembered
from memops.stores import open_store, transcripts


def recover(name: str, settings: Settings) -> dict[str, Any]:
    """Bring the runs of a store that were cut off to an end; what is so taken back is rejected."""
    done = recovery.recover(name, settings)
    for said in done.get("recovered", ()):
        undoing.refuse_taken_back(find_run(said["run"], settings.state), settings.state, clock())
    return done


def make_plan(
    snapshot_path: str | Path,
    settings: Settings,
    now: datetime,
    rules: Sequence[Rule] = RULES,
    answers: str | None = None,
) -> planfile.PlanFile:
    """Plan from a snapshot, and a model's answers if it was asked; write the plan's folder."""
    taken = snapshot.open_snapshot(Path(snapshot_path))
    records, identity = taken.records(), taken.manifest["store"]
    store, policy, state = open_store(taken.address), settings.policy, settings.state
    said, waiting, reader = asking.read(Path(answers)) if answers else (None, frozenset[str](), {})
    models = local_models(policy, state, records)
    ctx = Context(
        now, policy, store.kind, waiting, said,
        transcripts.whole(records, taken.address) if extract_notes in rules else None,
        written_again(records, identity, state, now), purge_receipts.keepers(state, records),
        unsigned=store.unsigned, models=models,
        remembered=Remembered(snapshot.readings_folder(state, identity)),
    )  # fmt: skip
    before = reviewing.remembered(state, identity)
    changes, refused, asked, judged = _proposed(records, ctx, rules, before)
    del ctx
    given_back()
    judges = [models.recipes.get("judge", {}), reader]
    changes = evidence.marked(changes, records, policy, state, identity, judges)
    changes = alone(changes, records, policy, store.unsigned)
    names = [rule.__name__ for rule in rules]
    planned = planfile.Planned(
        taken, records, changes, refused, policy, now, names, models=asked, judged=judged
    )
    return planfile.save(state, planned, clock())


def _proposed(
    records: pl.DataFrame, ctx: Context, rules: Sequence[Rule], before: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Any], list[dict[str, Any]]]:
    """The plan, what was withdrawn, and what models said; all else goes, which may be gigabytes."""
    changes, refused = propose(records, ctx, rules, before)
    return changes, refused, measured(ctx), said_to(ctx)


def chosen_rules(
    base: Sequence[Rule] = RULES, only: Sequence[str] = (), without: Sequence[str] = ()
) -> list[Rule]:
    """Return the rules that `--rule` and `--without` leave, in their order."""
    known = {rule.__name__: rule for rule in (*RULES, *MIGRATION)}
    for name in (*only, *without):
        if name not in known:
            hint = did_you_mean(name, known, "list them with `memops config rules`")
            raise MemopsError(f"unknown rule {name!r}", hint)
    pool = [known[n] for n in known if n in only] if only else list(base)
    return [rule for rule in pool if rule.__name__ not in without]


def apply_plan(
    plan: str,
    settings: Settings,
    approve: bool = False,
    lock_timeout: float = 10.0,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Carry out a plan on its store."""
    found = planfile.load(plan, settings.state)
    return applying.apply(found, settings.state, clock(), approve, lock_timeout, as_of=now)


def accept_plan(plan: str, settings: Settings, words: Sequence[str]) -> dict[str, Any]:
    """Carry out the changes of a plan that words name, on a person's word: number, rule or `all`."""
    review = reviewing.begun(plan, settings.state)
    return reviewing.accept(review, selecting.named(review, words), clock())


def plan_step(
    path: str, settings: Settings, now: datetime, migrate: bool, hygiene: bool, answers: str | None
) -> dict[str, Any]:
    """Plan from a snapshot; returns the plan's name, path and counts."""
    base = MIGRATION if migrate else RULES
    resting = [] if hygiene else _resting(snapshot.open_snapshot(Path(path)).address, settings, now)
    return make_plan(path, settings, now, chosen_rules(base, (), resting), answers).told()


def _resting(address: str, settings: Settings, now: datetime) -> list[str]:
    """The rules of hygiene that a night leaves out: those of which nothing waits, which is proposed anew."""
    plans = waiting(settings.state, now, settings.place).get(settings.place(address), [])
    asked = {rule for plan in plans for rule in plan.rules}
    return [rule.__name__ for rule in HYGIENE if rule.__name__ not in asked]


def ask_step(path: str, settings: Settings, now: datetime) -> dict[str, Any]:
    """Ask a model about the notes that rules are not sure of; returns figures and its answers' file."""
    taken = snapshot.open_snapshot(Path(path))
    ctx, policy = Context(now=now, policy=settings.policy), settings.policy
    of = endpoint(policy.judge)
    right = evidence.right_of(settings.state, asking.recipe(of), policy.model.right)
    return asking.about_notes(taken.records(), ctx, settings.state, of, right)


def collect_nodes(
    roots: Sequence[str], into: str | None, settings: Settings, now: datetime | None
) -> dict[str, Any]:
    """Read the memory roots of several XingheBot nodes as one."""
    from memops.commands import collecting

    place = note(settings.state, Path(into)) if into else None
    return collecting.collect(collecting.nodes(roots), place, settings.policy, now or clock())


_SAID = (
    "run", "applied", "skipped", "waiting", "state", "wrong", "code", "error", "hint", "cause",
)  # fmt: skip


def apply_step(plan: str, settings: Settings, approve: bool) -> dict[str, Any]:
    """Apply within the limits; a plan beyond them waits for a person and the night goes on."""
    try:
        done = apply_plan(plan, settings, approve)
    except GuardRefused as error:
        said = {"code": error.code, "applied": 0, "stopped": error.message}
        return said | {"hint": settings.hint(error), "exceeds": error.limits}
    return {k: done[k] for k in _SAID if k in done}


def grade_plan(path: str, plan: str, suite: str, settings: Settings) -> dict[str, Any]:
    """Grade a snapshot and what a plan would leave of it, which loads what other nights need not."""
    from memops.evaluation import grading_steps

    return grading_steps.grade_plan(path, plan, suite, settings)


def gate(store: str, suite: str, settings: Settings, accept: bool = False) -> dict[str, Any]:
    """Grade a store and compare with its suite's baseline, or record the grades as that."""
    from memops.evaluation import grading_steps

    return grading_steps.gate(grading_steps.Asked(store, suite, settings), accept)


def report_step(night: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Write the report of a night beside its plan."""
    from memops.reports.reporting import write_report

    path = Path(night["path"]) / "report.html"
    write_report(night, settings, path)
    said = json.dumps(night, ensure_ascii=False, default=str)
    files.write(path.with_name("night.json"), said.encode())
    return {"report": str(path)}


__all__ = [
    "apply_step", "ask_step", "audit_store", "fixed", "gate", "grade_plan", "plan_step", "recover",
    "remedies", "report_step", "take_snapshot",
]  # fmt: skip
