"""Reporting: gather from a run's files what its page says, and write the page."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import polars as pl

from memops import apply as applying
from memops import files, planfile, snapshot
from memops.errors import MemopsError
from memops.plan import nothing, outcome
from memops.policy import described, from_table
from memops.report import Report, render
from memops.schema import LIVE, TIERS
from memops.settings import Settings

_AGES = (1, 7, 30, 90, 180, 365)
_HIDES = ("merge", "supersede", "tombstone", "quarantine")


def write_report(night: dict[str, Any], settings: Settings, path: Path, lang: str = "en") -> Path:
    """Write the page of a night (what `steps.curate` returned) and return its path."""
    files.write(path, render(gathered(night, settings, path.parent), lang).encode())
    return path


def report(subject: str, settings: Settings, output: Path | None, lang: str) -> Path:
    """Render a run, a plan or a snapshot; returns where the page is."""
    night = _night_of(subject, settings)
    place = output or Path(night["path"]) / "report.html"
    return write_report(night, settings, place, lang)


def gathered(night: dict[str, Any], settings: Settings, beside: Path) -> Report:
    """Return the data of a night's page."""
    taken = snapshot.find(night["snapshot"], settings.state)
    if taken is None:
        raise MemopsError(
            f"the snapshot {night['snapshot']!r} is gone", "its report cannot be made again"
        )
    before = taken.records()
    made = planfile.load(night["plan"], settings.state) if night.get("plan") else None
    run = applying.find_run(night["run"], settings.state) if night.get("run") else None
    changes = made.plan() if made else nothing()
    skipped = _skipped(run)
    carried = (
        changes.filter(~pl.col("id").is_in([s["id"] for s in skipped])) if skipped else changes
    )
    after = outcome(before, carried)
    policy = from_table(made.header["policy"]) if made else settings.policy
    lines = made.ops() if made else []
    texts = dict(before.select("id", "text").iter_rows())
    data: dict[str, Any] = {
        "title": night.get("store") or taken.address,
        "store": {"address": taken.address, "kind": taken.manifest["store"]["kind"]},
        "run": _run(run, settings),
        "now": night.get("now") or taken.manifest["taken_at"],
        "verdict_sentence": "",
        "snapshot": {"id": taken.id, "rows": before.height},
        "counts": {"before": _count(before), "after": _count(after)},
        "total_changes": len(lines),
        "changes": list(_changes(lines, changes, before, skipped, run)),
        "by_rule": _counted(lines),
        "refused": _refused(made, texts),
        "skipped": skipped,
        "limits": (made.header["exceeds"] if made and run is None else [])
        + ([night["stopped"]] if night.get("stopped") else []),
        "conflicts": list(_conflicts(changes, lines, texts)),
        "clusters": _clusters(changes, lines, texts),
        "floors": _floors(after, policy),
        "tier_flow": _flow(before, after),
        "distributions": _distributions(
            before, after, night.get("now") or taken.manifest["taken_at"]
        ),
        "grades": _grades(night),
        "timings": [{"peak_mb": None, **t} for t in night.get("timings", [])],
        "environment": taken.manifest["versions"],
        "policy": [{"name": n, "value": str(v), "why": w} for n, v, w in described(policy)],
        "ops_beside": made is not None and beside == made.path,
    }
    return cast(Report, data)


def _night_of(subject: str, settings: Settings) -> dict[str, Any]:
    """What `curate` said of the night that a run, a plan or a snapshot belongs to."""
    state = settings.state
    plan, run = subject, None
    if (state / "runs" / subject / "run.json").is_file():
        run = applying.Run(state / "runs" / subject)
        plan = run.header["plan"]
    place = state / "plans" / plan
    if (place / "plan.json").is_file():
        said = files.read_json(place / "night.json") if (place / "night.json").is_file() else {}
        header = files.read_json(place / "plan.json")
        found = {"store": header["address"], "now": header["now"], **said, "plan": plan}
        found |= {"path": str(place), "snapshot": header["snapshot"]}
        return found | ({"run": run.id} if run else {})
    taken = snapshot.find(subject, state)
    if taken is None:
        raise MemopsError(f"{subject!r} is neither a run, a plan nor a snapshot in {state}")
    return {"store": taken.address, "snapshot": taken.id, "path": str(state / "snapshots")} | {
        "path": str(files.folder(state / "reports" / taken.id))
    }


def _run(run: applying.Run | None, settings: Settings) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "id": run.id,
        "state": run.state,
        "started": run.header["started"],
        "finished": None,
        "undo_command": f"memops --state {settings.state} rollback {run.id}",
    }


def _skipped(run: applying.Run | None) -> list[dict[str, str]]:
    answers = [w for e in run.journal.entries() for w in e.get("batch", [])] if run else []
    last = {w["id"]: w for w in answers}
    return [
        {"id": i, "why": w["why"]}
        for i, w in sorted(last.items())
        if w["state"] in ("stale", "refused")
    ]


def _count(records: pl.DataFrame) -> dict[str, Any]:
    live = records.filter(LIVE)
    by = {
        f"by_{n}": dict(live.group_by(n).len().sort(n).iter_rows())
        for n in ("kind", "scope", "tier")
    }
    return {"rows": records.height, "live": live.height, **by}


def _changes(
    lines: list[dict[str, Any]],
    changes: pl.DataFrame,
    before: pl.DataFrame,
    skipped: list[dict[str, str]],
    run: applying.Run | None,
) -> Iterable[dict[str, Any]]:
    waiting = {s["id"] for s in skipped}
    texts = dict(before.select("id", "text").iter_rows())
    touched = before.filter(pl.col("id").is_in(changes["id"].implode()))
    rows = {r["id"]: r for r in touched.iter_rows(named=True)}
    made = "applied" if run and run.state in ("verified", "needs-attention") else "planned"
    for line, row in zip(lines, changes.iter_rows(named=True), strict=True):
        was = rows.get(line["id"], {})
        fields = [
            {"name": n, "before": None if was.get(n) is None else str(was[n]), "after": str(v)}
            for n, v in line.get("set", {}).items()
            if n not in ("text", "extra")
        ]
        newer = row["superseded_by"]
        kept = texts.get(line["id"])
        after = (
            None
            if line["op"] in _HIDES
            else line.get("set", {}).get("text") or line.get("record", {}).get("text") or kept
        )
        yield {
            **{k: line.get(k) for k in ("seq", "op", "rule", "reason", "id", "risk")},
            "locator": line.get("locator", {}),
            "before_text": kept,
            "after_text": after,
            "evidence": [{"id": i, "text": texts.get(i, "")} for i in row["evidence"] or []],
            "state": "skipped" if line["id"] in waiting else made,
            "fields": fields,
            **({"instead": {"id": newer, "text": texts[newer]}} if newer in texts else {}),
        }


def _counted(lines: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    counted: dict[str, dict[str, int]] = {}
    for line in lines:
        ops = counted.setdefault(line["rule"], {})
        ops[line["op"]] = ops.get(line["op"], 0) + 1
    return counted


def _refused(made: planfile.PlanFile | None, texts: dict[str, str]) -> list[dict[str, str]]:
    if made is None or not (made.path / "refused.jsonl").is_file():
        return []
    rows = [
        json.loads(x)
        for x in (made.path / "refused.jsonl").read_text(encoding="utf-8").split("\n")
        if x
    ]
    return [
        {**{k: r[k] for k in ("id", "reason", "rule")}, "text": texts.get(r["id"], "")}
        for r in rows
    ]


def _conflicts(
    changes: pl.DataFrame, lines: list[dict[str, Any]], texts: dict[str, str]
) -> Iterable[dict[str, Any]]:
    for line, row in zip(lines, changes.iter_rows(named=True), strict=True):
        if line["op"] == "supersede" and row["evidence"]:
            newer = row["superseded_by"]
            yield {
                "old": {"id": row["id"], "text": texts.get(row["id"], "")},
                "new": {"id": newer, "text": texts.get(newer, "")},
                "reason": line["reason"],
            }


def _clusters(
    changes: pl.DataFrame, lines: list[dict[str, Any]], texts: dict[str, str]
) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, str]]] = {}
    for line, row in zip(lines, changes.iter_rows(named=True), strict=True):
        if line["op"] == "merge":
            member = {"id": row["id"], "text": texts.get(row["id"], "")}
            groups.setdefault(row["superseded_by"], []).append(member)
    return [
        {"keeper": {"id": keeper, "text": texts.get(keeper, "")}, "members": members}
        for keeper, members in sorted(groups.items())
    ]


def _floors(after: pl.DataFrame, policy: Any) -> list[dict[str, Any]]:
    live = after.filter(LIVE).group_by("scope", "kind").len("live").sort("scope", "kind")
    floor = policy.floors
    return [
        {**row, "floor": floor.kinds.get(row["kind"], floor.default)} for row in live.to_dicts()
    ]


def _flow(before: pl.DataFrame, after: pl.DataFrame) -> list[dict[str, Any]]:
    tier = pl.when(LIVE).then(pl.col("tier")).otherwise(pl.lit("hidden"))
    was, now = before.select("id", source=tier), after.select("id", target=tier)
    joined = was.join(now, on="id", how="full", coalesce=True).with_columns(
        pl.col("source").fill_null("new"), pl.col("target").fill_null("hidden")
    )
    moves = joined.filter(pl.col("source") != pl.col("target"))
    return moves.group_by("source", "target").len("count").sort("source", "target").to_dicts()


def _distributions(before: pl.DataFrame, after: pl.DataFrame, now: str) -> list[dict[str, Any]]:
    at = datetime.fromisoformat(now)
    days = (pl.lit(at) - pl.coalesce("updated_at", "created_at")).dt.total_days().clip(0)
    labels = [f"<{d} d" for d in _AGES] + [f">={_AGES[-1]} d"]
    age = _banded(days, _AGES, labels).fill_null("unknown")
    names = ["0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0"]
    importance = _banded(pl.col("importance"), (0.2, 0.4, 0.6, 0.8), names)
    return [
        {"name": "age", "bins": _bins(before, after, age, [*labels, "unknown"])},
        {"name": "importance", "bins": _bins(before, after, importance, names)},
        {"name": "tier", "bins": _bins(before, after, pl.col("tier"), list(TIERS))},
    ]


def _banded(value: pl.Expr, edges: Sequence[float], labels: Sequence[str]) -> pl.Expr:
    """The label of the band, closed on the left, that a value lies in; null for null."""
    band: pl.Expr = pl.when(value.is_not_null()).then(pl.lit(labels[-1]))
    for edge, label in reversed(list(zip(edges, labels, strict=False))):
        band = pl.when(value < edge).then(pl.lit(label)).otherwise(band)
    return band


def _bins(
    before: pl.DataFrame, after: pl.DataFrame, by: pl.Expr, labels: list[str]
) -> list[dict[str, Any]]:
    was, now = (
        dict(r.filter(LIVE).select(label=by).group_by("label").len().iter_rows())
        for r in (before, after)
    )
    return [{"label": x, "before": was.get(x, 0), "after": now.get(x, 0)} for x in labels]


def _grades(night: dict[str, Any]) -> dict[str, Any] | None:
    if not night.get("grades"):
        return None
    said = files.read_json(Path(night["grades"]))
    return cast(dict[str, Any], said["shown"])
