"""Stores that people wrote as an agent fills one: what each entry says again, replaces, or contains.

`evals/stores/*.jsonl` has an entry a line: {id, lang, when, text, same?, replaces?, part_of?}, each
naming earlier ones. What equals, or is replaced by, what equals another is so of that one, too.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import candidates, statements
from memops.judge.candidates.worth import worth_reading
from memops.ordered import connected
from memops.policy import Policy
from memops.schema import from_rows
from memops.verdicts import CONFLICT, PART, SAME

FOLDER = Path(__file__).parents[2] / "evals" / "stores"
_NOW = datetime.fromisoformat("2027-01-01T00:00:00+00:00")
_FAR = (1, 7, 50)
"""How many entries lie between two of which it does not matter whether a night compares them."""
NEITHER = "neither"


class Pairs(NamedTuple):
    """Pairs of entries of one store: the texts, the earlier first, what they are, and which a night compares."""

    a: list[str]
    b: list[str]
    label: list[str]
    near: list[bool]


def entries(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a store."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def records(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return entries as records of one scope, noted on their days."""
    return from_rows(
        [
            {
                "id": row["id"], "text": row["text"], "scope": "store", "kind": "fact",
                "created_at": datetime.fromisoformat(row["when"] + "T12:00:00+00:00"),
            }
            for row in rows
        ]
    )  # fmt: skip


def told(rows: list[dict[str, Any]]) -> dict[tuple[int, int], str]:
    """Return what pairs of entries are, by their places, of all that are something."""
    at = {row["id"]: n for n, row in enumerate(rows)}

    def named(what: str) -> list[tuple[int, int]]:
        return [(n, at[other]) for n, row in enumerate(rows) for other in row.get(what, ())]

    group = _groups(len(rows), named("same"))
    replaced = _closed({(group[n], group[m]) for n, m in named("replaces")})
    parts = {(group[n], group[m]) for n, m in named("part_of")}
    out = {}
    for m, n in product(range(len(rows)), repeat=2):
        one, two = group[n], group[m]
        if m < n and (label := _label(one, two, replaced, parts)):
            out[m, n] = label
    return out


def _label(
    one: int, two: int, replaced: set[tuple[int, int]], parts: set[tuple[int, int]]
) -> str | None:
    either = {(one, two), (two, one)}
    if one == two:
        return SAME
    return CONFLICT if either & replaced else PART if either & parts else None


def _groups(n: int, same: Iterable[tuple[int, int]]) -> list[int]:
    import numpy as np

    pairs = np.array([*same], np.int64).reshape(-1, 2)
    return [int(of) for of in connected(pairs[:, 0], pairs[:, 1], n)]


def _closed(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while more := {(a, d) for a, b in edges for c, d in edges if b == c} - edges:
        edges |= more
    return edges


def pairs_of(path: Path) -> Pairs:
    """Return the pairs of a store that a night compares, those that are something, and some of the others.

    Of those which hardly share a word a night reads none; weights are to know them, too.
    """
    rows = entries(path)
    held, gold = records(rows), told(rows)
    near = _compared(held, Context(now=_NOW, policy=Policy()))
    far = {(n - k, n) for k in _FAR for n in range(k, len(rows))}
    every = sorted(near | gold.keys() | far)
    return Pairs(
        [rows[m]["text"] for m, _ in every],
        [rows[n]["text"] for _, n in every],
        [gold.get(pair, NEITHER) for pair in every],
        [pair in near for pair in every],
    )


def _compared(held: pl.DataFrame, ctx: Context) -> set[tuple[int, int]]:
    """The places of pairs of entries that a night compares, the earlier first."""
    said = statements(held, ctx)
    pairs = worth_reading(candidates(held, ctx), said.table, ctx.policy)
    place = dict(zip(held["id"].to_list(), range(held.height), strict=True))
    of: dict[int, list[int]] = {}
    for name, statement in said.members.iter_rows():
        of.setdefault(statement, []).append(place[name])
    both = (product(of[a], of[b]) for a, b in pairs.select("a", "b").iter_rows())
    same = (product(held, held) for held in of.values())
    return {(min(p), max(p)) for group in (*both, *same) for p in group if p[0] != p[1]}
