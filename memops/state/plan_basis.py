"""The records that a plan rests on: those that it touches, and those that their links lead to.

A plan keeps their digest, so that whoever carries it out need read no more of a large snapshot.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import polars as pl

from memops.errors import MemopsError
from memops.files import digest
from memops.limits import sizes
from memops.plan import STEPS
from memops.schema import RETIRED, only
from memops.snapshot import Snapshot

_SIZES = pl.Schema({"scope": pl.String(), "kind": pl.String(), "all": pl.UInt32()})


def basis(changes: pl.DataFrame, load: Callable[[Collection[str]], pl.DataFrame]) -> pl.DataFrame:
    """Return the records of the changes and, link by link, what replaces them, sorted by id."""
    wanted = {*changes["id"], *changes["superseded_by"].drop_nulls()} - {*RETIRED}
    known, parts = set(wanted), []
    for _ in range(STEPS + 1):
        parts.append(load(wanted))
        wanted = {*parts[-1]["superseded_by"].drop_nulls()} - {*RETIRED} - known
        if not wanted:
            break
        known |= wanted
    return pl.concat(parts).sort("id")


def sealed(
    changes: pl.DataFrame, records: pl.DataFrame, models: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what a plan's header says of its basis: its digest, and how large the whole is."""
    mine = basis(changes, lambda ids: only(records, ids))
    counts = sizes(records).join(mine, on=["scope", "kind"], how="semi").sort("scope", "kind")
    said = {"sha256": _digest(mine), "live": [list(row) for row in counts.iter_rows()]}
    return said | ({"models": dict(models)} if models else {})


def opened(
    said: dict[str, Any] | None, changes: pl.DataFrame, taken: Snapshot
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Return a plan's records out of its snapshot, and the sizes (scope, kind, all) of the whole.

    Where their digest is another's, or there is none, the whole snapshot is read and hashed.
    """
    if said:
        live = pl.DataFrame(said["live"], schema=_SIZES, orient="row")
        try:
            found = basis(changes, taken.some)
        except MemopsError:
            found = changes.clear()
        if _digest(found) == said["sha256"]:
            return found, live
    return taken.records(), None


def _digest(records: pl.DataFrame) -> str:
    return digest(records.write_ndjson())
