"""Mending what OpenClaw thinks of a workspace's files, for somebody who vouches for them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memops.stores import Written
from memops.stores.findings import Repair
from memops.stores.openclaw import OpenClaw, home
from memops.stores.openclaw.provenance import (
    UNTRUSTED,
    Provenance,
    change,
    contents,
    put_back,
    rows,
    vouched,
)

REPAIRS = ("provenance", "untrusted")


def repairs(store: OpenClaw) -> list[Repair]:
    """Return what can be mended: files edited from outside, and files no longer trusted.

    The first keep their row, with the hash of the file as it is now; of the others the row goes,
    so that the agent's next write begins anew. A row that OpenClaw changes meanwhile stays.
    """
    kept = rows(home(store.path), store.path)
    now = contents(store.path, [row.path for row in kept])
    doubted = [row for row in kept if row.origin == UNTRUSTED]
    edited = [row for row in kept if row.origin != UNTRUSTED and row.edited(now.get(row.path))]
    anew = {row: vouched(row, now[row.path]) for row in edited}
    return [
        *_repair("provenance", "vouch for a file as it is now", anew),
        *_repair("untrusted", "forget that a file is not trusted", dict.fromkeys(doubted)),
    ]


def take_back(store: OpenClaw, kept: Sequence[Mapping[str, Any]]) -> list[Written]:
    """Take repairs back, by what was kept of them; a row that OpenClaw changed since stays."""
    database = home(store.path) / "state" / "openclaw.sqlite"
    return [put_back(database, entry["row"], entry["after"]) for entry in kept]


def _repair(check: str, says: str, values: Mapping[Provenance, str | None]) -> list[Repair]:
    if not values:
        return []
    before = [{"row": dict(row.whole), "after": after} for row, after in values.items()]
    return [Repair(check, len(values), says, [r.path for r in values], before, _changing(values))]


def _changing(values: Mapping[Provenance, str | None]) -> Callable[[], int]:
    return lambda: sum(change(row, value) for row, value in values.items())
