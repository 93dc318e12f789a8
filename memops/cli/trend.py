"""Tables of figures over time: a simulation's weeks, and the nights that were."""

from typing import TYPE_CHECKING, Any

from memops.cli.output import table
from memops.display import shown

if TYPE_CHECKING:
    import polars as pl

_MOVES = ("promoted", "demoted", "expired", "retired", "deleted")


def simulated_text(said: dict[str, Any]) -> str:
    """Return the weeks in which something moves, and each kind's live records and floor."""
    lines = [f"{shown(said['store'])}, {said['days']} days from {said['from']:%Y-%m-%d}"]
    lines += [
        f"  {d['setting']}: {d['in_force']} in force, {d['tried']} tried" for d in said["differs"]
    ]
    for course in said["courses"]:
        lines += ["", f"policy {shown(course['policy'])}:", _weeks(course)]
        rows = [
            (shown(k["scope"]), k["kind"], k["start"], k["least"], k["end"], k["floor"])
            for k in course["kinds"]
        ]
        lines += ["", table(rows, ["scope", "kind", "live", "least", "at the end", "floor"])]
        held = course["held"]
        lines += [f"{held} records are kept by a floor, a pin or the guard"] if held else []
    lines += [f"picture: {said['picture']}"] if "picture" in said else []
    return "\n".join(lines)


def history_text(nights: "pl.DataFrame") -> str:
    """Return each store's nights with sparklines; missing nights are a line of their own."""
    if nights.is_empty():
        return "no night has been recorded"
    parts = nights.partition_by("store", maintain_order=True)
    return "\n\n".join(_store_text(part) for part in parts)


def _weeks(course: dict[str, Any]) -> str:
    moving = [w for w in course["weeks"] if any(w[move] for move in _MOVES)]
    rows = [(w["week"], f"{w['at']:%Y-%m-%d}", *(w[m] for m in _MOVES), w["live"]) for w in moving]
    total = ("all", "", *(course[move] for move in _MOVES), course["live"])
    return table([*rows, total], ["week", "night of", *_MOVES, "live"])


def _store_text(nights: "pl.DataFrame") -> str:
    from memops.history import missed, spark, trend

    said = trend(nights)
    measures = list(dict.fromkeys(name for night in said for name in night["recall"]))
    rows: list[list[Any]] = []
    for night in said:
        if gap := missed(night["days_since"]):
            rows.append([f"({gap} nights without figures)", *[""] * (7 + len(measures))])
        recall = [_figure(night["recall"].get(name), 3) for name in measures]
        counts = [_figure(night[n], 0) for n in ("rows", "live", "ops", "applied", "skipped")]
        seconds = _figure(night["seconds"], 1)
        rows.append(
            [f"{night['at']:%Y-%m-%d %H:%M}", *counts, *recall, night["verdict"] or "-", seconds]
        )
    head = [
        "night",
        "rows",
        "live",
        "planned",
        "applied",
        "skipped",
        *measures,
        "verdict",
        "seconds",
    ]
    lines = [shown(nights["store"][0]), table(rows, head), f"live     |{spark(nights, 'live')}|"]
    return "\n".join([*lines, f"planned  |{spark(nights, 'ops')}|"])


def _figure(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:.{places}f}"
