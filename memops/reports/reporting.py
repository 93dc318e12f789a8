"""Reporting: gather from a run's files what its page says, and write the page."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, snapshot
from memops.errors import Corrupt, MemopsError
from memops.plan import nothing, outcome, without_secrets
from memops.policy import Policy, described, from_table
from memops.policy.defaults import written
from memops.progress import stage
from memops.reports.listing import State, Told, approving, command, limits, listed, undoing
from memops.reports.page import render
from memops.reports.sections import Rows, Sides, filled
from memops.reports.words import FALLBACK
from memops.safety.known_secrets import remembered
from memops.schema import LIVE, TIERS
from memops.settings import Settings
from memops.state import history, planfile
from memops.state.outputs import note
from memops.state.runs import Run, find_run, latest_run, runs_of


def write_report(
    night: dict[str, Any], settings: Settings, path: Path, lang: str = FALLBACK, zone: str = "UTC"
) -> Path:
    """Write the page of a night (what `night.curate` returned) and return its path."""
    with stage("gathering the report"):
        data = gathered(night, settings, path.parent)
    with stage("rendering the report"):
        files.write(path, render(data, lang, zone, remembered(settings.state)).encode())
    return path


def report(
    subject: str, settings: Settings, output: Path | None, lang: str, zone: str = "UTC"
) -> Path:
    """Render a run, a plan or a snapshot; returns where the page is."""
    night = _night_of(subject, settings)
    place = output or Path(night["path"]) / "report.html"
    return write_report(night, settings, note(settings.state, place), lang, zone)


def gathered(night: dict[str, Any], settings: Settings, beside: Path) -> dict[str, Any]:
    """Return the data of a night's page; lists may be empty, `run` is None of a plan not applied."""
    taken = snapshot.find(night["snapshot"], settings.state)
    if taken is None:
        said = f"the snapshot {night['snapshot']!r} is gone"
        raise MemopsError(said, "its report cannot be made again")
    before = taken.records()
    made = planfile.load(night["plan"], settings.state) if night.get("plan") else None
    run = find_run(night["run"], settings.state) if night.get("run") else None
    runs = _up_to(run, settings.state) if run else []
    skipped = _skipped(runs)
    back = frozenset[str]().union(*(each.taken_back() for each in runs))
    done = {seq for each in runs for seq in each.header["kept"]}
    plan = (made.plan(), made.kept, made.lines()) if made else (nothing(), [], [])
    told = Told(without_secrets(before, plan[0]), *plan, undoing(made, runs, settings))
    mine = [not runs or seq in done for seq in told.seqs]
    out = pl.col("id").is_in([*(s["id"] for s in skipped), *back])
    after = outcome(before, told.changes.filter(~out, pl.Series(mine, dtype=pl.Boolean)))
    policy = from_table(made.header["policy"]) if made else settings.policy
    now, graded = night.get("now") or taken.manifest["taken_at"], night.get("grades")
    return {
        "title": night.get("store") or taken.address,
        "store": {"address": taken.address, "kind": taken.manifest["store"]["kind"]},
        "run": _run(run, settings),
        "now": now,
        "snapshot": {"id": taken.id, "rows": before.height},
        **listed(made, told, _states(run, skipped, back, done)),
        "skipped": skipped,
        "limits": limits(made.header["exceeds"] if made and run is None else [], night),
        "counts": {"before": count(before), "after": count(after)},
        **filled(Sides(before, after, now, policy)),
        "tier_flow": flow(before, after),
        "distributions": distributions(before, after, now),
        "grades": files.read_json(Path(graded))["shown"] if graded else None,
        "trend": _trend(night, settings),
        "timings": night.get("timings", []),
        "environment": taken.manifest["versions"],
        **approving(made, night, settings),
        "policy": _settings(policy),
        "ops_beside": made is not None and beside == made.path,
    }


def _settings(policy: Policy) -> Rows:
    """All settings, with the value of those that differ from the program's own, which it can tell itself."""
    every = zip(described(policy), described(Policy()), strict=True)
    return [
        {"name": name, "value": None if value == usual else written(value)}
        for (name, value, _), (_, usual, _) in every
    ]


def _night_of(subject: str, settings: Settings) -> dict[str, Any]:
    """What `curate` said of the night that a run, a plan or a snapshot belongs to."""
    state = settings.state
    plan, run = subject, None
    if (state / "runs" / subject / "run.json").is_file():
        run = Run(state / "runs" / subject)
        plan = run.header["plan"]
    place = files.entry(state / "plans", plan)
    if (place / "plan.json").is_file():
        said = files.read_json(place / "night.json") if (place / "night.json").is_file() else {}
        header = planfile.load(plan, state).header
        found = {"store": header["address"], "now": header["now"], **said, "plan": place.name}
        found |= {"path": str(place), "snapshot": header["snapshot"]}
        run = run or latest_run(place.name, state)
        return found | ({"run": run.id} if run else {})
    taken = snapshot.find(subject, state)
    if taken is None:
        neither = f"{subject!r} is neither a run, a plan nor a snapshot in {state}"
        raise MemopsError(neither, "list runs and plans with `memops runs`")
    place = files.folder(state / "reports" / taken.id)
    return {"store": taken.address, "snapshot": taken.id, "path": str(place)}


def _run(run: Run | None, settings: Settings) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "id": run.id, "state": run.state, "started": run.header["started"],
        "undo_command": command(settings, "rollback", run.id),
        "wrong": (wrong := run.wrong)[:20], "wrong_total": len(wrong),
    }  # fmt: skip


def _up_to(run: Run, state: Path) -> list[Run]:
    every = runs_of(run.header["plan"], state)
    return [*(r for r in every if r.number < run.number and r.state != "rolled-back"), run]


def _skipped(runs: Iterable[Run]) -> Rows:
    last = sorted({w["id"]: w for run in runs for w in run.answers()}.items())
    return [{"id": i, "why": w["why"]} for i, w in last if w["state"] in ("stale", "refused")]


def _states(run: Run | None, skipped: Rows, back: Collection[str], done: Collection[int]) -> State:
    """What tells what became of a change, by its number and its record."""
    ended = run is not None and run.state in ("verified", "needs-attention")
    known = {s["id"]: "skipped" for s in skipped} | dict.fromkeys(back, "rolled-back")

    def state(seq: int, id: str) -> str:
        return known.get(id, "applied" if ended else "planned") if seq in done else "planned"

    return state


def _trend(night: dict[str, Any], settings: Settings) -> list[dict[str, Any]]:
    """The nights of the store up to this one, once there are two; a damaged history shows none."""
    try:
        known = "store" in night
        past = history.of(settings, night["store"]) if known else history.NIGHTS.to_frame()
    except Corrupt:
        return []
    table = history.with_night(past, night) if night.get("rows") else past
    return history.lines(table) if table.height > 1 else []


_AGES = (1, 7, 30, 90, 180, 365)


def count(records: pl.DataFrame) -> dict[str, Any]:
    """Return how many records there are, and how many live ones by kind, scope and tier."""
    live = records.filter(LIVE)
    by = {
        f"by_{n}": dict(live.group_by(n).len().sort(n).iter_rows())
        for n in ("kind", "scope", "tier")
    }
    return {"rows": records.height, "live": live.height, **by}


def flow(before: pl.DataFrame, after: pl.DataFrame) -> Rows:
    """Return how many records moved from a tier to a tier; `new` and `hidden` are the outside."""
    tier = pl.when(LIVE).then(pl.col("tier")).otherwise(pl.lit("hidden"))
    was, now = before.select("id", source=tier), after.select("id", target=tier)
    joined = was.join(now, on="id", how="full", coalesce=True).with_columns(
        pl.col("source").fill_null("new"), pl.col("target").fill_null("hidden")
    )
    moves = joined.filter(pl.col("source") != pl.col("target"))
    counted = moves.group_by("source", "target").len("count").sort("source", "target")
    return counted.to_dicts()


def distributions(before: pl.DataFrame, after: pl.DataFrame, now: str) -> Rows:
    """Return live records by age in days, by importance and by tier, before and after."""
    at = datetime.fromisoformat(now)
    days = (pl.lit(at) - pl.coalesce("updated_at", "created_at")).dt.total_days().clip(0)
    labels = [f"<{d} d" for d in _AGES] + [f">={_AGES[-1]} d"]
    age = _banded(days, _AGES, labels).fill_null("unknown")
    names = ["0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0"]
    importance = _banded(pl.col("importance"), (0.2, 0.4, 0.6, 0.8), names)
    by = (("age", age, [*labels, "unknown"]), ("importance", importance, names),
          ("tier", pl.col("tier"), list(TIERS)))  # fmt: skip
    return [{"name": name, "bins": _bins(before, after, of, bins)} for name, of, bins in by]


def _banded(value: pl.Expr, edges: Sequence[float], labels: Sequence[str]) -> pl.Expr:
    """The label of the band, closed on the left, that a value lies in; null for null."""
    band: pl.Expr = pl.when(value.is_not_null()).then(pl.lit(labels[-1]))
    for edge, label in reversed(list(zip(edges, labels, strict=False))):
        band = pl.when(value < edge).then(pl.lit(label)).otherwise(band)
    return band


def _bins(before: pl.DataFrame, after: pl.DataFrame, by: pl.Expr, labels: list[str]) -> Rows:
    counts = (r.filter(LIVE).select(label=by).group_by("label").len() for r in (before, after))
    was, now = (dict(table.iter_rows()) for table in counts)
    return [{"label": x, "before": was.get(x, 0), "after": now.get(x, 0)} for x in labels]
