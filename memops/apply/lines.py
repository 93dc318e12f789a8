"""Lines: which of a plan's a run carries out, and on what records, where runs before it did others."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import polars as pl

from memops.plan import outcome, squash
from memops.schema import only
from memops.state.planfile import PlanFile
from memops.state.runs import Run, runs_of


def left(plan: PlanFile, state: Path) -> list[int]:
    """Return the sequence numbers of the lines that remain and that no standing run had."""
    runs = [run for run in runs_of(plan.id, state) if run.state != "rolled-back"]
    done = {seq for run in runs for seq in run.header["kept"]}
    return [seq for seq in plan.kept if seq not in done]


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
    lists = [
        pl.col(name).list.eval(pl.element().replace(moved)) for name in ("evidence", "derived_from")
    ]
    return own.with_columns(pl.col("id", "superseded_by").replace(moved), *lists)


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


def nothing_to_do(plan: PlanFile) -> dict[str, Any]:
    """Return what is said of a plan of which no line may be carried out."""
    none = {"applied": 0, "already": 0, "skipped": [], "wrong": []}
    return {
        "run": None,
        "plan": plan.id,
        "state": "planned",
        "path": str(plan.path),
        **none,
        "code": 0,
    }
