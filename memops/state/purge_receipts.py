"""Purge receipts: what was forgotten for good, told by digests and counts alone.

<state>/purges.jsonl   a line a purge: digests of ids and of the names they were given, counts
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from memops.files import digest
from memops.journal import Journal
from memops.schema import REPLACED

_FILE = "purges.jsonl"


def note(state: Path, names: Iterable[str], places: Mapping[str, int]) -> None:
    """Add the receipt of a purge."""
    digests = [digest(name)[:16] for name in sorted(names)]
    Journal(state / _FILE).add({"ids": digests, "places": places})


def among(state: Path, names: Iterable[str]) -> frozenset[str]:
    """Return those of the names that were purged."""
    known = {one for entry in Journal(state / _FILE).entries() for one in entry["ids"]}
    return frozenset(name for name in names if digest(name)[:16] in known)


def keepers(state: Path, records: pl.DataFrame) -> frozenset[str]:
    """Return the ids that records stepped back behind, that are not there and were purged."""
    links = records.filter(REPLACED)["superseded_by"].unique()
    gone = links.filter(~links.is_in(records["id"].implode()))
    return among(state, gone) if gone.len() else frozenset()
