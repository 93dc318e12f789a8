"""Monitoring: whether every store had its night, as rows for a person and as metrics."""

import contextlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, locks
from memops.errors import MemopsError
from memops.settings import Settings
from memops.snapshot import night_path
from memops.state import history
from memops.state.pending import Pending, at_work, failed, unfinished, waiting
from memops.stores import open_store

GOOD = (0, 3)
UNDECIDED = 31
HELD = (23, UNDECIDED)
"""Codes of nights that were held back for a person to decide, and are no failure."""
FINE = ("good", "waiting", "working")
"""States of stores that had their night, or are having their first."""

_APART = 1.0
"""Hours by which clocks may differ; a night that is further ahead tells nothing of those since."""
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
    ("changes_waiting", "waiting", "Changes that wait for a person."),
    ("runs_unfinished", "unfinished", "Runs that were cut off and wait to be resumed."),
    ("store_good", "fine", "1 when the store had its night."),
)


def standing(
    settings: Settings, now: datetime, names: Sequence[str] = (), max_age_hours: float | None = None
) -> list[dict[str, Any]]:
    """Return how each store stands, and its figures.

    It is `good`; `waiting` while changes do; `held` while nothing was decided of a night that wrote
    nothing; `late` when its last good night (or, without one, its first) is older than the limit or
    ahead of the clock; `failed`, also with a run that was cut off or a first night that never ended;
    `working` at its first night; or `never` had one. `names` default to those configured, and those
    that had a night, a plan or a run that was cut off.
    """
    last = _last(history.of(settings))
    limit = settings.monitor.max_age_hours if max_age_hours is None else max_age_hours
    places = {row["place"] or settings.place(name): name for name, row in last.items()}
    places |= settings.places
    cut: dict[str, list[str]] = {}
    for run in unfinished(settings.state):
        if at_work(run, settings.state):
            continue
        address = run.header["address"]
        cut.setdefault(places.setdefault(settings.place(address), address), []).append(run.id)
    for run in failed(settings.state):  # of which a night since would have told
        name = places.get(settings.place(run.header["address"]), run.header["address"])
        night = last.get(name, {}).get("at")
        if night is None or night < run.started:
            cut.setdefault(name, []).append(run.id)
    open_: dict[str, list[Pending]] = {}
    for place, left in waiting(settings.state, now, settings.place).items():
        open_.setdefault(places.get(place, left[0].address), left)
    own = [places.get(settings.place(name), name) for name in names]
    gone = {n for n in last if settings.stores and n not in settings.stores and ":" not in n}
    kept = [name for name in last if name not in gone]  # a section that was removed names no store
    every = own or list(dict.fromkeys([*settings.stores, *kept, *cut, *open_]))
    for name in every:
        if not any(name in known for known in (last, cut, open_)):
            settings.store(name)  # which says of a name that is none what may have been meant
    rows = [
        _stand(name, last.get(name, {}), now, limit, cut.get(name, []), open_.get(name, []))
        for name in every
    ]
    return [_at_work(row, settings, now, limit) for row in rows]


def _at_work(
    row: dict[str, Any], settings: Settings, now: datetime, limit: float
) -> dict[str, Any]:
    """The row of a store with whether a night is at work, which is asked of one that is not well."""
    first = row["hours_since"] is None
    if row["state"] in FINE and not first:
        return row | {"at_work": None}
    begun, held = None, False
    with contextlib.suppress(MemopsError, FileNotFoundError):
        address = settings.store(row["store"]).address
        lock = night_path(settings.state, open_store(address).identity())
        begun, held = lock.stat().st_mtime, locks.is_held(lock)
    if first and begun is not None:
        soon = held and now.timestamp() - begun <= limit * 3600
        row |= {"state": "working" if soon else "failed", "fine": int(soon)}
    return row | {"at_work": held}


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


def _last(table: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """The last night of each store, with the times of its first and its last good one."""
    good = pl.col("at").filter(pl.col("code").is_in(GOOD)).last().alias("good_at")
    stores = table.group_by("store", maintain_order=True)
    rows = stores.agg(pl.all().last(), good, pl.col("at").first().alias("first_at"))
    return {row["store"]: row for row in rows.sort("store").to_dicts()}


def _stand(
    name: str, last: dict[str, Any], now: datetime, most: float, cut: list[str], left: list[Pending]
) -> dict[str, Any]:
    since = last.get("good_at") or last.get("first_at")
    age = (now - since).total_seconds() / 3600 if since else None
    open_ = sum(plan.changes for plan in left)
    state = "good"
    if age is None:
        state = "waiting" if open_ and not cut and not left[0].expired else "never"
    elif not -_APART <= age <= most:
        state = "late"
    elif cut or last["code"] not in (*GOOD, *HELD):
        state = "failed"
    elif last["code"] == UNDECIDED or (open_ and last["code"] in HELD):
        state = "held"
    elif open_:
        state = "waiting"
    columns = ("at", "code", "rows", "live", "ops", "applied", "skipped", "seconds")
    return {
        "store": name, "state": state, "fine": int(state in FINE), "good_at": last.get("good_at"),
        "hours_since": None if age is None else round(age, 1), "unfinished": len(cut),
        "cut_off": cut, "waiting": open_, "plan": left[0].plan if left else None,
        "plans": {plan.plan: plan.changes for plan in left},
        "expired": [plan.plan for plan in left if plan.expired],
        **{column: last.get(column) for column in columns},
        "recall": {r["measure"]: r["value"] for r in last.get("recall") or ()},
    }  # fmt: skip


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: Any) -> str:
    return repr(value.timestamp()) if isinstance(value, datetime) else repr(value)
