"""Proposals: golden queries that wait for a person, in `proposals.jsonl` beside the suite.

A line is a query as in `queries.jsonl`, with what its evidence `says`, and `keep`: true or false once a
person has decided, there or in an editor. What was dropped stays, so that it is not proposed again.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import MemopsError, StoreNotFound
from memops.evaluation.format import FIELDS, PROPOSAL, Proposal, Query, check_row, graded, rows_of
from memops.files import json_object
from memops.state.purge_terms import PurgeTerms

NAME = "proposals.jsonl"


def read(folder: Path) -> list[Proposal]:
    """Return the proposals of a suite; raises StoreNotFound without any, Corrupt for a bad line."""
    path = folder / NAME
    if not path.is_file():
        hint = "propose queries with `memops recall suite init STORE`"
        raise StoreNotFound(f"{path}: no such file", hint)
    rows = rows_of(path)
    for nth, row in enumerate(rows, 1):
        check_row(row, f"{path}: line {nth}", PROPOSAL)
    return rows


def merged(old: Sequence[Proposal], new: Sequence[Proposal]) -> list[Proposal]:
    """Return new proposals with the decisions that old ones bear; what was decided on stays."""
    known = {row["query_id"]: row.get("keep") for row in old}
    fresh: list[Proposal] = [{**row, "keep": known.get(row["query_id"])} for row in new]
    ids = {row["query_id"] for row in new}
    decided = [r for r in old if r["query_id"] not in ids and r.get("keep") is not None]
    return [*decided, *fresh]


def described(rows: Sequence[Query], records: pl.DataFrame) -> list[Proposal]:
    """Return the rows with the texts of their evidence."""
    texts = dict(records.select("id", "text").iter_rows())
    said = ([texts[i] for i in row.get("relevant", ()) if i in texts] for row in rows)
    return [{**row, "says": says, "keep": None} for row, says in zip(rows, said, strict=True)]


def decided(
    rows: Sequence[Proposal], keep: Collection[str], drop: Collection[str], rest: bool | None = None
) -> list[Proposal]:
    """Return the rows with decisions by query id or category; `rest` decides what still waits.

    Raises MemopsError for a name that is neither.
    """
    known = {name for row in rows for name in (row["query_id"], row["category"])}
    for name in (*keep, *drop):
        if name not in known:
            hint = "list them with `memops recall suite review`"
            raise MemopsError(f"no proposal or category {name!r}", hint)

    def decision(row: Proposal) -> bool | None:
        names = (row["query_id"], row["category"])
        # What names the query itself counts before what names its category.
        for name in names:
            if name in drop or name in keep:
                return name in keep
        held = row.get("keep")
        return rest if held is None else held

    return [{**row, "keep": decision(row)} for row in rows]


def queries(rows: Sequence[Proposal], held: Sequence[Query]) -> list[Mapping[str, Any]]:
    """Return the suite's queries: what was there without a proposal, and what was kept."""
    proposed = {row["query_id"] for row in rows}
    kept = [{k: v for k, v in row.items() if k in FIELDS} for row in rows if row.get("keep")]
    return [*(row for row in held if row["query_id"] not in proposed), *kept]


def text_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def purged(folder: Path, terms: PurgeTerms) -> Iterator[tuple[Path, bytes, int]]:
    """Yield each file of a suite that changes, what it holds afterwards, and how many lines went.

    A query goes when none of its evidence is left or it holds what a record said; else it loses the
    record's id.
    """
    for name in ("proposals.jsonl", "queries.jsonl", "records.jsonl"):
        path = folder / name
        lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
        kept = [made for line in lines if (made := _without(line, terms))]
        if kept != lines:
            yield path, b"".join(kept), len(lines) - len(kept)


def _without(line: bytes, terms: PurgeTerms) -> bytes:
    row = json_object(line)
    if row.get("id") in terms.ids or terms.in_bytes(line):
        return b""
    named = graded(row.get("relevant"))
    left = {id_: grade for id_, grade in named.items() if id_ not in terms.ids}
    if left == named:
        return line
    row["relevant"] = list(left) if isinstance(row["relevant"], list) else left
    return (json.dumps(row, ensure_ascii=False) + "\n").encode() if left else b""
