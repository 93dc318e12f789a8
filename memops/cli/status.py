"""The command that a monitor calls."""

import shlex
from datetime import datetime
from typing import Any

import click

from memops.cli import in_force, nothing_in, to_copy, to_decide, typed
from memops.cli.options import now_option
from memops.cli.output import counted, emit, moment, table, waiting_text
from memops.errors import GateFailed

_WHY = {
    "late": "its last good night is too long ago; do it now",
    "failed_since": "its last good night is too long ago and the last one failed; do it again, which says why",
    "failed": "its last night failed; do it again, which says why",
    "never": "it never had a night; do the first",
}
_AHEAD = "its last good night is in the future; set the clock, then do it now"
_AT_WORK = "a night is at work; how it went stands here when it has ended"
_NONE = "no store is known: name some in memops.toml, or do a night with `memops nightly STORE`;"


@click.command()
@click.argument("stores", nargs=-1)
@click.option(
    "--max-age-hours",
    type=click.FloatRange(0),
    help="Age of the last good night that is too old [36].",
)
@now_option
def status(stores: tuple[str, ...], max_age_hours: float | None, now: datetime | None) -> int:
    """Say of each of STORES (default: all that are known) whether it had its night.

    Ends with 32 when none is known, or one is late, failed its last night, never had one, has a run
    that was cut off, or was held back whole for a person who has not decided yet; with 0 when all had their night,
    whatever waits of it, or are at their first.
    """
    from memops.errors import Finding
    from memops.nights import monitoring
    from memops.state.sources import clock

    settings = in_force()
    rows = monitoring.standing(settings, now or clock(), stores, max_age_hours)
    columns = {
        "store": "store", "state": "state", "waiting": "waiting", "at": "last night", "code": "code",
        "good_at": "last good night", "hours_since": "hours ago", "unfinished": "cut off runs",
    }  # fmt: skip
    told = [[row[column] for column in columns] for row in rows]
    cells = [[moment(v) if isinstance(v, datetime) else v for v in row] for row in told]
    names = [*(row["store"] for row in rows), settings.state, settings.path or ""]
    text = [table(cells, [*columns.values()]), *(line for row in rows for line in _next(row))]
    emit(rows, text if rows else f"{to_copy(_NONE)} {nothing_in('no night')}", names=names)
    return 0 if rows and all(row["fine"] for row in rows) else Finding.code


def _next(row: dict[str, Any]) -> list[str]:
    from memops.nights.monitoring import GOOD

    name, lines = row["store"], []
    for run in row["cut_off"]:
        back = f"or back: {typed()} rollback {run}"
        lines.append(f"{name}: a run was cut off; on: {typed()} resume {run}; {back}")
    if row["at_work"]:
        return [*lines, f"{name}: {_AT_WORK}"]
    again, what = f"{typed()} nightly {shlex.quote(name)}", row["state"]
    if what in _WHY and not row["cut_off"]:
        ahead = what == "late" and row["hours_since"] < 0
        why = _WHY["failed_since" if what == "late" and row["code"] not in GOOD else what]
        lines.append(f"{name}: {_AHEAD if ahead else why}: {again}")
    elif what == "held" and not row["waiting"]:
        lines.append(f"{name}: recall could not be compared; why: {again}")
    for plan, changes in row["plans"].items() if _stands(row) else ():
        lines += _waits(row, plan, changes, again)
    if what == "waiting" and row["hours_since"] is None:
        lines.append(f"{name}: it had no night yet; do the first: {again}")
    return lines


def _stands(row: dict[str, Any]) -> bool:
    """Whether a plan may be carried out: not on a store of which something is to be mended before."""
    return not row["cut_off"] and (row["state"] != "failed" or row["code"] == GateFailed.code)


def _waits(row: dict[str, Any], plan: str, changes: int, again: str) -> list[str]:
    if plan in row["expired"]:
        gone = f"{counted(changes, 'change')} waited until plan {plan} expired"
        return [f"{row['store']}: {gone}; what holds still is proposed anew: {again}"]
    held = ", and nothing was changed before" if row["state"] == "held" else ""
    return [f"{row['store']}: {waiting_text(changes)}{held}", *to_decide(plan, "  ")]
