"""Checks of a new snapshot: whether what is read is the store of which the last one was taken, and whole.

A folder that is half synchronised has fewer records; another store at the same place, or under the
same name, has others.
"""

import contextlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from memops.errors import Incomplete
from memops.policy import Limits


class Before(Protocol):
    """The snapshot of a store that was taken last."""

    @property
    def id(self) -> str:
        """Its name."""
        ...

    @property
    def path(self) -> Path:
        """Its folder."""
        ...

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What it says of itself."""
        ...


def left(before: Before | None) -> int:
    """Return how many records a store had after its last snapshot: fewer, if one of fewer was restored."""
    if before is None:
        return 0
    then = before.manifest.get("notes", {}).get("then", before.manifest)
    return int(min(then["rows"], before.manifest["rows"]))


def doubted(
    records: pl.DataFrame, before: Before | None, name: str, limits: Limits
) -> Incomplete | None:
    """Return what is to be said of records that may not be believed; None for all others."""
    if before is None:
        return None
    had, accept = left(before), f"memops snapshot take {shlex.quote(name)} --accept-shrink"
    if records.height < had * (1 - limits.shrink):
        return Incomplete(
            f"the store has {records.height} records; the snapshot before, {before.id}, has {had}",
            f"to have them again: memops restore {before.id}\n"
            f"if they were really removed: {accept}\nthen again",
        )
    known = _ids(before)
    same = known.is_in(records["id"].implode()).sum()
    if len(known) > limits.small and same < limits.same * len(known):
        return Incomplete(
            f"the store has {same} of the {len(known)} records of the snapshot before, {before.id}, "
            f"which was taken of {before.manifest['address']}: it is another store",
            f"correct the address\nif it is right: {accept}\nthen again",
        )
    return None


def _ids(before: Before) -> pl.Series:
    """The ids of its records; none where they cannot be read, or another snapshot was restored since."""
    if "then" not in before.manifest.get("notes", {}):
        with contextlib.suppress(OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return pl.read_parquet(before.path / "records.parquet", columns=["id"])["id"].unique()
    return pl.Series("id", [], dtype=pl.String)
