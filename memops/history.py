"""History: every night's figures in one table, so that a slow decline is seen.

<state>/history.parquet   a row a night and store; what was not measured is null, never nought
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from memops import files
from memops.errors import Corrupt
from memops.schema import INSTANT, instant

NIGHTS = pl.Schema(
    {
        "store": pl.String(),
        "at": INSTANT,
        "rows": pl.Int64(),
        "live": pl.Int64(),
        "ops": pl.Int64(),
        "applied": pl.Int64(),
        "skipped": pl.Int64(),
        "verdict": pl.String(),
        "code": pl.Int64(),
        "recall": pl.List(pl.Struct({"measure": pl.String(), "value": pl.Float64()})),
        "seconds": pl.Float64(),
    }
)

_BLOCKS = "▁▂▃▄▅▆▇█"


def append(state: Path, night: Mapping[str, Any]) -> None:
    """Add what `steps.curate` returned as one row; the same store and time stands once.

    A table that cannot be read is set aside as `history.parquet.damaged` and a new one begun.
    """
    row = pl.DataFrame([_row(night)], schema=NIGHTS)
    path = files.folder(state) / "history.parquet"
    with files.lock(files.folder(state / "locks") / "history.lock"):
        known = NIGHTS.to_frame()
        try:
            known = nights(state)
        except Corrupt:
            path.replace(path.with_name("history.parquet.damaged"))
        whole = pl.concat([known.join(row, on=["store", "at"], how="anti"), row])
        out = io.BytesIO()
        whole.sort("store", "at").write_parquet(out)
        files.write(path, out.getvalue())


def nights(state: Path, store: str | None = None) -> pl.DataFrame:
    """Return the nights of one store or of all, by store and time; raises Corrupt."""
    path = state / "history.parquet"
    if not path.exists():
        return NIGHTS.to_frame()
    try:
        table = pl.read_parquet(io.BytesIO(path.read_bytes())).cast(NIGHTS)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise Corrupt(f"{path}: the history cannot be read: {error}", "move it away") from error
    chosen = table if store is None else table.filter(pl.col("store") == store)
    return chosen.sort("store", "at")


def trend(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the nights as rows, with recall by measure and the days since the one before."""
    days = (pl.col("at") - pl.col("at").shift().over("store")).dt.total_seconds() / 86_400
    rows = table.with_columns(days_since=days.round(2)).to_dicts()
    return [
        row | {"recall": {r["measure"]: r["value"] for r in row["recall"] or []}} for row in rows
    ]


def missed(days_since: float | None) -> int:
    """Return how many nights are missing before one that comes so many days after the last."""
    return 0 if days_since is None else max(0, round(days_since) - 1)


def spark(table: pl.DataFrame, column: str) -> str:
    """Return one store's column as a sparkline, a place a day; a day without a value is a gap."""
    known = table.select("at", value=pl.col(column).cast(pl.Float64)).sort("at")
    if known["value"].null_count() == known.height:
        return ""
    day = known["at"].dt.date()
    days = known.select(day=pl.date_range(day.min(), day.max()))  # type: ignore[arg-type]
    daily = known.drop_nulls().group_by(day=pl.col("at").dt.date()).agg(pl.col("value").last())
    low, high = daily["value"].min(), daily["value"].max()
    span = (float(high) - float(low)) or 1.0  # type: ignore[arg-type]
    step = ((pl.col("value") - low) / span * (len(_BLOCKS) - 1)).round().cast(pl.Int64)
    places = days.join(daily, on="day", how="left").sort("day").select(step).to_series()
    return "".join(" " if place is None else _BLOCKS[place] for place in places)


def _row(night: Mapping[str, Any]) -> dict[str, Any]:
    rows, timings = night.get("rows") or {}, night.get("timings") or []
    nothing = 0 if night.get("ops") == 0 else None
    skipped = night.get("skipped")
    return {
        "store": night["store"],
        "at": instant(night["now"]),
        "rows": rows.get("after"),
        "live": rows.get("live_after"),
        "ops": night.get("ops"),
        "applied": night.get("applied", nothing),
        "skipped": nothing if skipped is None else len(skipped),
        "verdict": night.get("verdict"),
        "code": night.get("code"),
        "recall": _recall(night),
        "seconds": sum(t["seconds"] for t in timings) if timings else None,
    }


def _recall(night: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """What the night left: the plan's outcome if it was applied, else the store as it was."""
    side = "after" if night.get("applied") else "before"
    measured = night.get("recall")
    return [{"measure": m["measure"], "value": m[side]} for m in measured] if measured else None
