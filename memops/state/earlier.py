"""Earlier runs: what a store's runs say of what is done with it next."""

from datetime import datetime
from pathlib import Path

import polars as pl

from memops.errors import Corrupt
from memops.limits import TOUCHED
from memops.schema import LIVE
from memops.snapshot import store_id
from memops.state.runs import Run, runs


def touched_since(since: datetime, store: dict[str, str], state: Path) -> pl.DataFrame:
    """Return how many records runs that stand changed unattended since then: scope, kind, touched."""
    rows = [
        row
        for run in runs(state, store)
        for header in [run.header]
        if not ((header["approved"] or header.get("authority") == "person") and run.vouched(state))
        and run.started >= since
        and run.state != "rolled-back"
        for entry in run.journal.entries()
        for row in entry.get("touched", [])
    ]
    table = pl.DataFrame(rows, schema=TOUCHED, orient="row")
    return table.group_by("scope", "kind").agg(pl.sum("touched")).sort("scope", "kind")


def standing_over(run: Run, state: Path) -> Run | None:
    """Return the newest later run that stands and changed a file which this run changed, too; None without one.

    A text goes back to its place in a file only while the file is as the run left it. A run that cannot
    be read is passed over: `memops check` tells of it.
    """
    files_of = {entry["where"] for entry in run.undo.entries()}
    begun = (run.header["started"], run.number)
    later: list[tuple[tuple[str, int], str, Run]] = []
    for path in (state / "runs").glob("*/run.json"):
        other = Run(path.parent)
        try:
            when = (other.header["started"], other.number)
            stands = when > begun and other.state != "rolled-back"
            if stands and any(e["where"] in files_of for e in other.undo.entries()):
                same = store_id(other.header["store"]) == store_id(run.header["store"])
                later += [(when, other.id, other)] if same else []
        except Corrupt:
            continue
    return max(later)[2] if later else None


def written_again(
    records: pl.DataFrame, store: dict[str, str], state: Path, now: datetime
) -> frozenset[str]:
    """Return hidden records that have a key and were written after the last run that touched them: by their agent."""
    hidden = records.filter(~LIVE, pl.col("key").is_not_null(), pl.col("updated_at") <= now)
    if hidden.is_empty():
        return frozenset()
    touched: dict[str, datetime] = {}
    for run in (run for run in reversed(runs(state, store)) if run.state != "rolled-back"):
        own = (w for w in run.answers() if w["state"] == "applied")
        touched |= dict.fromkeys((w["new_id"] or w["id"] for w in own), run.started)
    rows = hidden.select("id", "updated_at").iter_rows()
    return frozenset(id_ for id_, at in rows if id_ in touched and at > touched[id_])
