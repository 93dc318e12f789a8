"""Mending what OpenClaw thinks of a workspace's files, for somebody who vouches for them."""

from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any

from memops.stores import Written
from memops.stores.findings import Repair
from memops.stores.openclaw import OpenClaw, home
from memops.stores.openclaw.provenance import Provenance, change, put_back, standing, vouched

REPAIRS = ("provenance", "untrusted")


def repairs(store: OpenClaw) -> list[Repair]:
    """Return what can be mended: files edited from outside, and files no longer trusted.

    The first keep their row, with the hash of the file as it is now; of the others the row goes,
    so that the agent's next write begins anew. A row that OpenClaw changes meanwhile stays.
    """
    stand = standing(home(store.path), store.path)
    anew = {row: vouched(row, stand.now[row.path]) for row in stand.edited}
    return [
        *_repair("provenance", "vouch for a file as it is now", anew),
        *_repair("untrusted", "forget that a file is not trusted", dict.fromkeys(stand.doubted)),
    ]


def take_back(store: OpenClaw, kept: Sequence[Mapping[str, Any]]) -> list[Written]:
    """Take repairs back, by what was kept of them; a row that OpenClaw changed since stays."""
    database = home(store.path) / "state" / "openclaw.sqlite"
    return [put_back(database, entry["row"], entry["after"]) for entry in kept]


def _repair(check: str, says: str, values: Mapping[Provenance, str | None]) -> list[Repair]:
    if not values:
        return []
    before = [{"row": dict(row.whole), "after": after} for row, after in values.items()]
    paths, each = [row.path for row in values], values.items()
    return [Repair(check, len(paths), says, paths, before, lambda: sum(starmap(change, each)))]
