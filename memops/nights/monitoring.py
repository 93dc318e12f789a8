"""Monitoring: whether every store had its night, as rows for a person and as metrics."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files
from memops.settings import Settings
from memops.state import history
from memops.state.unfinished import unfinished

GOOD = (0, 3)
WAITING = (23, 31)
"""Codes of nights that wait for a person, and are no failure."""

_METRICS = (
    ("last_night_timestamp_seconds", "at", "When the last night was."),
    ("last_good_night_timestamp_seconds", "good_at", "When the last good night was."),
    ("night_code", "code", "Exit code of the last night."),
    ("records", "rows", "Records after the last night."),
    ("records_live", "live", "Live records after the last night."),
    ("changes_planned", "ops", "Changes that the last night planned."),
    ("changes_applied", "applied", "Changes that the last night made."),
    ("changes_skipped", "skipped", "Changes that the last night passed over."),
    ("night_seconds", "seconds", "How long the last night took."),
    ("runs_unfinished", "unfinished", "Runs that were cut off and wait to be resumed."),
    ("store_good", "fine", "1 when the store had its night."),
)


def standing(
    settings: Settings, now: datetime, names: Sequence[str] = (), max_age_hours: float | None = None
) -> list[dict[str, Any]]:
    """Return how each store stands: `good`, `waiting`, `late`, `failed` or `never`, and its figures.

    `names` default to those configured and those that ever had a night. A store whose last good
    night (or, without one, first night) is older than the limit is late, whatever came since; one
    with a run that was cut off has failed.
    """
    table = history.nights(settings.state)
    limit = settings.monitor.max_age_hours if max_age_hours is None else max_age_hours
    every = names or list(dict.fromkeys([*settings.stores, *table["store"]]))
    cut = {run.id: run.header["address"] for run in unfinished(settings.state)}
    return [_stand(name, table, settings, now, limit, cut) for name in every]


def exposition(rows: Iterable[dict[str, Any]]) -> str:
    """Return the figures in Prometheus' text format, for the textfile collector."""
    every = list(rows)
    lines = []
    for name, column, about in _METRICS:
        known = [(row["store"], row[column]) for row in every if row[column] is not None]
        lines += [f"# HELP memops_{name} {about}", f"# TYPE memops_{name} gauge"]
        lines += [f'memops_{name}{{store="{_label(s)}"}} {_number(v)}' for s, v in known]
    lines += ["# HELP memops_recall Recall of the last night.", "# TYPE memops_recall gauge"]
    lines += [
        f'memops_recall{{store="{_label(row["store"])}",measure="{_label(m)}"}} {_number(v)}'
        for row in every
        for m, v in row["recall"].items()
    ]
    return "\n".join(lines) + "\n"


def publish(settings: Settings, now: datetime) -> None:
    """Write the metrics where `monitor.textfile` says, if it says so."""
    if settings.monitor.textfile:
        path = Path(settings.monitor.textfile).expanduser()
        files.write(path, exposition(standing(settings, now)).encode())
        path.chmod(0o644)  # the collector is another user


def _stand(
    name: str,
    table: pl.DataFrame,
    settings: Settings,
    now: datetime,
    limit: float,
    cut: Mapping[str, str],
) -> dict[str, Any]:
    mine = history.trend(table.filter(pl.col("store") == name))
    last = mine[-1] if mine else {}
    good = [night["at"] for night in mine if night["code"] in GOOD]
    since = good[-1] if good else mine[0]["at"] if mine else None
    age = (now - since).total_seconds() / 3600 if since else None
    open_runs = [run for run, at in cut.items() if at == settings.store(name).address]
    if not mine:
        state = "never"
    elif age is not None and age > limit:
        state = "late"
    elif open_runs or last["code"] not in (*GOOD, *WAITING):
        state = "failed"
    else:
        state = "waiting" if last["code"] in WAITING else "good"
    columns = ("at", "code", "rows", "live", "ops", "applied", "skipped", "seconds", "recall")
    return {
        "store": name,
        "state": state,
        "fine": int(state in ("good", "waiting")),
        "good_at": good[-1] if good else None,
        "hours_since": None if age is None else round(age, 1),
        "unfinished": len(open_runs),
        "cut_off": open_runs,
        **{column: last.get(column) for column in columns},
        "recall": last.get("recall") or {},
    }


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: Any) -> str:
    return repr(value.timestamp()) if isinstance(value, datetime) else repr(value)
