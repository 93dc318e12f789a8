"""Doctor: what is wrong with a store, its files and this machine, and what to do; read-only."""

import platform
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

import memops
from memops import overlay, snapshot
from memops.errors import Corrupt
from memops.policy import Policy
from memops.schema import LIVE, RETIRED
from memops.settings import Settings
from memops.state.runs import runs
from memops.state.sources import clock
from memops.stores import Store, inside, open_store, part, standing
from memops.stores.findings import LEVELS, Finding, Level, of_modes

_MARKS = (*RETIRED, "tag:superseded")  # links that name a state, not a record
_TIMES = ("created_at", "updated_at", "accessed_at", "valid_from", "valid_to")


def examine(
    name: str, settings: Settings, now: datetime | None = None, fail_on: str | None = None
) -> dict[str, Any]:
    """Return {store, kind, versions, findings, worst, failed}, the worst first.

    A finding is {check, level, count, says, do}; `failed` tells whether one is at least as bad as
    `fail_on`. Raises MemopsError for a store that is not there or may not be read.
    """
    store = standing(inside(open_store(settings.store(name).address)))
    found = _findings(store, settings, now or clock())
    findings = sorted(found, key=lambda f: (-LEVELS.index(f.level), f.check, f.says))
    worst = findings[0].level if findings else None
    failed = bool(fail_on and worst and LEVELS.index(worst) >= LEVELS.index(fail_on))
    versions = {"memops": memops.__version__, "python": platform.python_version()}
    versions |= {"sqlite": sqlite3.sqlite_version, "polars": pl.__version__}
    about = {"store": store.address, "kind": store.kind, "versions": versions}
    return about | {"findings": [*map(asdict, findings)], "worst": worst, "failed": failed}


def missing(kind: str) -> list[str]:
    """Return what this machine lacks to work with a kind of store, a sentence each."""
    own = part(kind, "doctor")
    return [*own.lacking()] if own else []


def _findings(store: Store, settings: Settings, now: datetime) -> Iterator[Finding]:
    if own := part(store.kind, "doctor"):
        yield from own.examined(store)
    elif path := getattr(store, "path", None):
        yield from of_modes([path])
    try:
        records = store.read()
        identity = store.identity()
        kept = overlay.read(snapshot.overlay_path(settings.state, identity))
    except Corrupt as error:
        yield Finding("reading", "error", 1, error.message, error.hint or "restore a snapshot")
        return
    whole = overlay.joined(records, kept)
    yield from of_links(whole)
    yield from of_times(whole, now, settings.policy)
    yield from _orphans(kept, records)
    yield from _runs(settings.state, identity)


def of_links(records: pl.DataFrame) -> Iterator[Finding]:
    """Records that are superseded by one that is not there, and rings of supersession."""
    links = records.filter(~LIVE & ~pl.col("superseded_by").is_in(_MARKS))
    links = links.select("id", to="superseded_by")
    lost = links.join(records.select(to="id"), on="to", how="anti").height
    if lost:
        says = "hidden records whose successor is not there"
        do = "look at them with `memops store audit`; a plan shows only what stood behind a purged one"
        yield Finding("dangling", "warning", lost, says, do)
    if rings := _in_rings(dict(links.iter_rows())):
        says = "records that supersede one another in a ring, so that none of them is recalled"
        do = "decide which holds, and release it with `memops records edit`"
        yield Finding("cyclic", "error", rings, says, do)


def of_times(records: pl.DataFrame, now: datetime, policy: Policy) -> Iterator[Finding]:
    """Times in the future, before the agents' days, or out of order; and records without any."""
    made, seen = pl.col("created_at"), pl.max_horizontal("updated_at", "accessed_at")
    ahead = pl.any_horizontal(pl.col(n) > now for n in _TIMES[:3]).fill_null(False)
    ends = pl.col("valid_to") < pl.col("valid_from")
    said: tuple[tuple[pl.Expr, Level, str, str], ...] = (
        (ahead, "warning", "records from the future", "set the clock right; their age counts as nought"),
        (made.dt.year() < 2000, "info", "records from before 2000", "a clock that was never set; they count as old"),
        (seen < made, "info", "records used or changed before they were made", "nothing: the later time counts"),
        (ends, "warning", "records that end before they begin", "mend valid_from or valid_to"),
        (made.is_null(), "info", "records without a time", "nothing that depends on age touches them"),
    )  # fmt: skip
    for odd, level, says, do in said:
        if count := records.select(odd.sum()).item():
            yield Finding("times", level, count, says, do)


def _in_rings(links: dict[str, str]) -> int:
    """How many records follow their links, by doubling steps, back to themselves."""
    steps = links
    for _ in range(len(links).bit_length()):
        steps = {at: steps[to] for at, to in steps.items() if to in steps}
    return len({*steps.values()})


def _orphans(kept: pl.DataFrame, records: pl.DataFrame) -> Iterator[Finding]:
    """What memops keeps beside the store of records that the store no longer has."""
    edits = kept.filter(pl.col("action") == "edit").join(records.select("id"), on="id", how="anti")
    if edits.height:
        says = "notes that memops keeps of records which left the store"
        yield Finding("orphans", "info", edits.height, says, "nothing: they speak of no record")


def _runs(state: Path, identity: dict[str, str]) -> Iterator[Finding]:
    open_ = [r.id for r in runs(state, identity) if r.state not in ("verified", "rolled-back")]
    if open_:
        says = f"runs that did not end: {', '.join(open_[:5])}"
        yield Finding("runs", "warning", len(open_), says, f"memops resume {open_[0]}")
