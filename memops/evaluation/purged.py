"""Purged: a suite without what was asked about records that are forgotten for good.

A proposal says what its evidence says, and a query was made from it: either goes when none of its
evidence is left, or when it holds what a record said; else it loses the record's id.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from memops.evaluation.format import graded
from memops.files import json_object
from memops.state.purge_terms import PurgeTerms

_FILES = ("proposals.jsonl", "queries.jsonl", "records.jsonl")


def purged(folder: Path, terms: PurgeTerms) -> Iterator[tuple[Path, bytes, int]]:
    """Yield each file of a suite that changes, what it holds afterwards, and how many lines went."""
    for path in (folder / name for name in _FILES):
        lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
        kept = [made for line in lines if (made := _without(line, terms))]
        if kept != lines:
            yield path, b"".join(kept), len(lines) - len(kept)


def _without(line: bytes, terms: PurgeTerms) -> bytes:
    """A line as it stays, or nothing."""
    row = json_object(line)
    if row.get("id") in terms.ids or terms.in_bytes(line):
        return b""
    named = graded(row.get("relevant"))
    left = {id_: grade for id_, grade in named.items() if id_ not in terms.ids}
    if left == named:
        return line
    plain = isinstance(row["relevant"], list)
    row["relevant"] = list(left) if plain else left
    return (json.dumps(row, ensure_ascii=False) + "\n").encode() if left else b""
