"""Commands that show figures over time: a simulation's weeks, and the nights that were."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memops.cli import in_force, nothing_in
from memops.cli.options import FILE, PATH, lang_option, now_option, usual
from memops.cli.output import emit, moment, table
from memops.safety.display import shown

if TYPE_CHECKING:
    import polars as pl

_MOVES = ("promoted", "demoted", "expired", "retired", "deleted")


@click.command()
@click.argument("store")
@usual("--days", 180, "Days.", click.IntRange(1, 3650))
@click.option(
    "--policy", type=FILE, help="A TOML file with the [policy] to try beside the one in force."
)
@click.option("-o", "--output", type=PATH, help="Write a picture (SVG) here.")
@now_option
def simulate(
    store: str, days: int, policy: Path | None, output: Path | None, now: datetime | None
) -> None:
    """Say what aging would do to STORE (or a snapshot) week by week; nothing is changed.

    Nobody uses or adds anything in the meantime: the records that are there grow older.
    """
    from memops.commands import simulation

    said = simulation.compared(store, in_force(), now, days, policy)
    if output:
        from memops.reports.page import render_aging

        output.write_text(render_aging(said, _MOVES), encoding="utf-8")
        said["picture"] = str(output)
    emit(said, lambda: _simulated_text(said))


@click.command()
@click.argument("store", required=False)
@click.option("-o", "--output", type=PATH, help="Write one HTML page here.")
@lang_option("Of the page.")
def history(store: str | None, output: Path | None, lang: str) -> None:
    """Show the figures of every night, of STORE or of all; a night without figures is a gap."""
    from memops.state import history as nights

    table_ = nights.of(in_force(), store)
    said = nights.trend(table_)
    if output:
        from memops.reports.page import render_history

        output.write_text(render_history(nights.courses(table_), lang), encoding="utf-8")
    parts = table_.partition_by("store", maintain_order=True)
    none = nothing_in("no night of this store" if store else "no night")
    emit(said, str(output) if output else "\n\n".join(map(_store_text, parts)) or none)


def _simulated_text(said: dict[str, Any]) -> list[str]:
    """The weeks in which something moves, and each kind's live records and floor."""
    lines = [f"{shown(said['store'])}, {said['days']} days from {said['from']:%Y-%m-%d}"]
    for d in said["differs"]:
        lines += [f"  {d['setting']}: {d['in_force']} in force, {d['tried']} tried"]
    for course in said["courses"]:
        lines += ["", f"policy {shown(course['policy'])}:", _weeks(course)]
        rows = [
            (shown(k["scope"]), shown(k["kind"]), k["start"], k["least"], k["end"], k["floor"])
            for k in course["kinds"]
        ]
        lines += ["", table(rows, ["scope", "kind", "live", "least", "at the end", "floor"])]
        held = course["held"]
        lines += [f"{held} records are kept by a floor, a pin or the guard"] if held else []
    return [*lines, f"picture: {said['picture']}"] if "picture" in said else lines


def _weeks(course: dict[str, Any]) -> str:
    moving = [w for w in course["weeks"] if any(w[move] for move in _MOVES)]
    rows = [(w["week"], f"{w['at']:%Y-%m-%d}", *(w[m] for m in _MOVES), w["live"]) for w in moving]
    total = ("all", "", *(course[move] for move in _MOVES), course["live"])
    return table([*rows, total], ["week", "night of", *_MOVES, "live"])


def _store_text(nights: "pl.DataFrame") -> str:
    """A store's nights with sparklines; missing nights are a line of their own."""
    from memops.state.history import missed, spark, trend

    said = trend(nights)
    measures = list(dict.fromkeys(name for night in said for name in night["recall"]))
    rows: list[list[Any]] = []
    for night in said:
        if gap := missed(night["days_since"]):
            rows.append([f"({gap} nights without figures)", *[""] * (7 + len(measures))])
        recall = [_figure(night["recall"].get(name), 3) for name in measures]
        counts = [_figure(night[n], 0) for n in ("rows", "live", "ops", "applied", "skipped")]
        seconds = _figure(night["seconds"], 1)
        rows.append([moment(night["at"]), *counts, *recall, night["verdict"] or "-", seconds])
    head = ["night", "rows", "live", "changes", "changed", "skipped", *measures]
    head += ["verdict", "seconds"]
    lines = [shown(nights["store"][0]), table(rows, head), f"live     |{spark(nights, 'live')}|"]
    return "\n".join([*lines, f"changes  |{spark(nights, 'ops')}|"])


def _figure(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:.{places}f}"
