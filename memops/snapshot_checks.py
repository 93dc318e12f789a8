"""Checks of a new snapshot: whether what is read is the store of which the last one was taken, and whole.

A folder that is half synchronised has fewer records; another store at the same place, or under the
same name, has others.
"""

import contextlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import Incomplete
from memops.policy import Limits


def left(manifest: Mapping[str, Any]) -> int:
    """Return how many records a store had after a snapshot: fewer, if one of fewer was restored."""
    return int(min(manifest.get("notes", {}).get("then", manifest)["rows"], manifest["rows"]))


def doubted(
    records: pl.DataFrame, before: Path, manifest: Mapping[str, Any], name: str, limits: Limits
) -> Incomplete | None:
    """Return what is to be said of records that may not be believed; None for all others.

    `before` is the folder of the snapshot that was taken last, with its manifest.
    """
    last, had = before.name, left(manifest)
    accept = f"memops snapshot take {shlex.quote(name)} --accept-shrink"
    if records.height < had * (1 - limits.shrink):
        return Incomplete(
            f"the store has {records.height} records; the snapshot before, {last}, has {had}",
            f"to have them again: memops restore {last}\n"
            f"if they were really removed: {accept}\nthen again",
        )
    known = _ids(before, manifest)
    same = known.is_in(records["id"].implode()).sum()
    if len(known) > limits.small and same < limits.same * len(known):
        return Incomplete(
            f"the store has {same} of the {len(known)} records of the snapshot before, {last}, "
            f"which was taken of {manifest['address']}: it is another store",
            f"correct the address\nif it is right: {accept}\nthen again",
        )
    return None


def _ids(before: Path, manifest: Mapping[str, Any]) -> pl.Series:
    """The ids of its records; none where they cannot be read, or another snapshot was restored since."""
    if "then" not in manifest.get("notes", {}):
        with contextlib.suppress(OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return pl.read_parquet(before / "records.parquet", columns=["id"])["id"].unique()
    return pl.Series("id", [], dtype=pl.String)
