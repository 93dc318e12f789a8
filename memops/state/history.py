"""History: every night's figures in one table, so that a slow decline is seen.

<state>/history.parquet   a row a night and store; what was not measured is null, never nought
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, locks
from memops.errors import Corrupt
from memops.schema import INSTANT, instant
from memops.settings import Settings

NIGHTS = pl.Schema(
    {
        "store": pl.String(), "place": pl.String(), "at": INSTANT,
        **dict.fromkeys(("rows", "live", "ops", "applied", "skipped"), pl.Int64()),
        "verdict": pl.String(), "code": pl.Int64(),
        "recall": pl.List(pl.Struct({"measure": pl.String(), "value": pl.Float64()})),
        "seconds": pl.Float64(),
    }
)  # fmt: skip

_COURSES = {"live records": "live", "planned changes": "ops", "changed records": "applied"}
_BLOCKS = "▁▂▃▄▅▆▇█"
_DAYS = 60  # of a line


def append(state: Path, night: Mapping[str, Any]) -> None:
    """Add what `night.curate` returned as one row; the same store and time stands once."""
    row = pl.DataFrame([_row(night)], schema=NIGHTS)
    path = files.folder(state) / "history.parquet"
    with locks.hold(files.folder(state / "locks") / "history.lock"):
        known = NIGHTS.to_frame()
        try:
            known = nights(state)
        except Corrupt:
            path.replace(path.with_name("history.parquet.damaged"))
        whole = pl.concat([known.join(row, on=["store", "at"], how="anti"), row])
        files.write(path, files.packed(whole))


def nights(state: Path) -> pl.DataFrame:
    """Return the nights of all stores in the order in which they were done, whatever their clocks; raises Corrupt."""
    path = state / "history.parquet"
    if not path.exists():
        return NIGHTS.to_frame()
    where = f"{path}: the history cannot be read"
    return files.unpacked(path.read_bytes(), where, "move it away", NIGHTS)


def of(settings: Settings, store: str | None = None) -> pl.DataFrame:
    """Return the nights of one store or of all, each under the name that its store, known by its place, has now."""
    table = nights(settings.state)
    known = table.drop_nulls("place").sort("at", "store").group_by("place")
    names = dict(known.agg(pl.col("store").last()).iter_rows()) | settings.places
    called = pl.col("place").replace_strict(names, default=None).fill_null(pl.col("store"))
    named = table.with_columns(store=called).sort("store", maintain_order=True)
    if store is None:
        return named
    own = settings.called(store)
    return named.filter(store=names.get(settings.place(own), own))


def trend(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the nights as rows by store and time, with recall by measure and the days between."""
    table = table.sort("store", "at")
    days = (pl.col("at") - pl.col("at").shift().over("store")).dt.total_seconds() / 86_400
    rows = table.with_columns(days_since=days.round(2)).to_dicts()
    for row in rows:
        row["recall"] = {r["measure"]: r["value"] for r in row["recall"] or []}
    return rows


def missed(days_since: float | None) -> int:
    """Return how many nights are missing before one that comes so many days after the last."""
    return 0 if days_since is None else max(0, round(days_since) - 1)


def daily(table: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return one store's column, of NIGHTS or a measure of recall, by day: day, value (null where there is none)."""
    value = pl.col(column).cast(pl.Float64) if column in NIGHTS else _measured(column)
    known = table.sort("at").select(day=pl.col("at").dt.date(), value=value).drop_nulls()
    if known.is_empty():
        return known
    day = pl.col("at").dt.date()
    days = table.select(day=pl.date_range(day.min(), day.max()))
    last = known.group_by("day").agg(pl.col("value").last())
    return days.join(last, on="day", how="left").sort("day")


def lines(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return one store's figures over its last days: live, planned changes, changed records and each measure."""
    taken = table["recall"].explode().drop_nulls()
    measures = [row["measure"] for row in taken] if taken.len() else []
    names = [*_COURSES, *dict.fromkeys(measures)]
    known = {name: daily(table, _COURSES.get(name, name)).tail(_DAYS) for name in names}
    kept = {name: part for name, part in known.items() if part["value"].count()}
    day = pl.col("day").dt.strftime("%Y-%m-%d")
    return [{"name": n, "points": part.with_columns(day).to_dicts()} for n, part in kept.items()]


def courses(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return every store's lines, by store."""
    return [
        {"store": part["store"][0], "nights": part.height, "lines": known}
        for part in table.partition_by("store", maintain_order=True)
        if (known := lines(part))
    ]


def spark(table: pl.DataFrame, column: str) -> str:
    """Return one store's column as a sparkline, a place a day; a day without a value is a gap."""
    values = daily(table, column)["value"]
    known = values.drop_nulls().to_list()
    if not known:
        return ""
    low, span = min(known), (max(known) - min(known)) or 1.0
    step = ((values - low) / span * (len(_BLOCKS) - 1)).round().cast(pl.Int64)
    return "".join(" " if place is None else _BLOCKS[place] for place in step)


def with_night(table: pl.DataFrame, night: Mapping[str, Any]) -> pl.DataFrame:
    """Return the nights of a night's store up to it and with it, whether it is written or not."""
    row = pl.DataFrame([_row(night)], schema=NIGHTS)
    past = table.filter((pl.col("store") == night["store"]) & (pl.col("at") < row["at"][0]))
    return pl.concat([past, row]).sort("at")


def _row(night: Mapping[str, Any]) -> dict[str, Any]:
    rows, timings = night.get("rows") or {}, night.get("timings") or []
    nothing = 0 if night.get("ops") == 0 else None
    skipped = night.get("skipped")
    known = {name: night.get(name) for name in ("store", "place", "ops", "verdict", "code")}
    side = "after" if night.get("applied") else "before"  # what the night left
    recall = [{"measure": m["measure"], "value": m[side]} for m in night.get("recall") or ()]
    return known | {
        "at": instant(night["now"]), "rows": rows.get("after"), "live": rows.get("live_after"),
        "applied": night.get("applied", nothing), "recall": recall or None,
        "skipped": nothing if skipped is None else len(skipped),
        "seconds": sum(t["seconds"] for t in timings) if timings else None,
    }  # fmt: skip


def _measured(name: str) -> pl.Expr:
    """The value of one measure of recall; null where it was not taken."""
    named = pl.element().filter(pl.element().struct.field("measure") == name)
    return pl.col("recall").list.eval(named.struct.field("value")).list.first()
