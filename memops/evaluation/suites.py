"""Suites as steps: proposed from a store, reviewed, checked, and carried over to a changed store."""

from collections import Counter
from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from memops import files
from memops.context import Context
from memops.errors import MemopsError
from memops.evaluation import exchange, golden, proposals
from memops.evaluation.check import check
from memops.evaluation.format import Proposal, rows_of
from memops.evaluation.golden import suite_folder
from memops.evaluation.lineage import remapped
from memops.evaluation.proposing import CATEGORIES
from memops.evaluation.proposing import propose as asked_of
from memops.rules import propose
from memops.rules.normalise_superseded import normalise_superseded
from memops.rules.supersede_conflicting import supersede_conflicting
from memops.safety.known_secrets import remembered
from memops.safety.masking import masked_table
from memops.schema import LIVE
from memops.settings import Settings
from memops.snapshot import store_id
from memops.state.lineage import kept_lineage, superseded
from memops.state.outputs import note
from memops.state.sources import clock, open_or_take


def init(
    store: str, settings: Settings, folder: Path | None, each: int, now: datetime | None
) -> dict[str, Any]:
    """Propose golden queries from a store into a suite's review file; decisions are kept."""
    taken = open_or_take(store, settings, now, to_grade=True)
    records = taken.records()
    ctx = Context(now=now or clock(), policy=settings.policy)
    # What a night would supersede is out of date already, whether or not it has run.
    plan, _ = propose(records, ctx, (normalise_superseded, supersede_conflicting))
    shown = masked_table(records, settings.policy.secrets, remembered(settings.state))
    made = proposals.described(asked_of(shown, each, superseded(plan)), shown)
    path = folder or Path("evals") / (store if store in settings.stores else store.split(":")[0])
    files.folder(note(settings.state, path, store_id(taken.manifest["store"])))
    old = proposals.read(path) if (path / proposals.NAME).is_file() else []
    rows = proposals.merged(old, made)
    files.write(path / proposals.NAME, proposals.text_of(rows).encode())
    for name, text in (("suite.toml", _HEAD), ("queries.jsonl", "")):
        if not (path / name).exists():
            files.write(path / name, text.encode())
    return {"suite": str(path), "store": taken.address, **_counts(rows)}


def review(
    suite: str, keep: Collection[str] = (), drop: Collection[str] = (), rest: bool | None = None
) -> dict[str, Any]:
    """Decide on proposals, by query or category, and write what was kept into the suite."""
    folder = suite_folder(suite)
    rows = proposals.decided(proposals.read(folder), keep, drop, rest)
    held = rows_of(folder / "queries.jsonl")
    files.write(folder / proposals.NAME, proposals.text_of(rows).encode())
    asked = proposals.queries(rows, held)
    files.write(folder / "queries.jsonl", proposals.text_of(asked).encode())
    golden.load(folder)
    waiting = [row for row in rows if row.get("keep") is None]
    return {"suite": str(folder), **_counts(rows), "queries": len(asked), "waiting": waiting}


def check_suite(
    suite: str, store: str, settings: Settings, now: datetime | None = None
) -> list[dict[str, Any]]:
    """Return what is wrong with a suite for the store that it was made for."""
    taken = open_or_take(store, settings, now, to_grade=True)
    loaded = golden.load(suite_folder(suite))
    return [asdict(p) for p in check(loaded, taken.records(), settings.policy)]


def remap(
    suite: str, store: str, settings: Settings, now: datetime | None = None
) -> dict[str, Any]:
    """Write the live heirs of merged and migrated evidence into a suite."""
    taken = open_or_take(store, settings, now, to_grade=True)
    folder = suite_folder(suite)
    before = golden.load(folder)
    after = remapped(before, taken.records(), kept_lineage(settings.state, taken.manifest["store"]))
    was, now_ = golden.relevant_of(before), golden.relevant_of(after)
    rows = [
        row | {"relevant": now_[row["query_id"]]} if row["query_id"] in now_ else row
        for row in rows_of(folder / "queries.jsonl")
    ]
    files.write(folder / "queries.jsonl", proposals.text_of(rows).encode())
    changed = sorted(q for q in now_ if now_[q] != was[q])
    return {"suite": str(folder), "queries": len(rows), "changed": len(changed), "ids": changed}


def import_suite(path: Path, kind: str, folder: Path) -> dict[str, Any]:
    """Make a suite of another program's queries; records that come with them stand beside it."""
    rows, records = exchange.read(path, kind)
    if (folder / "queries.jsonl").exists():
        raise MemopsError(f"{folder}: a suite is there already", "give another folder with -o")
    golden.tables(rows, str(path))
    files.folder(folder)
    files.write(folder / "queries.jsonl", proposals.text_of(rows).encode())
    files.write(folder / "suite.toml", _HEAD.encode())
    if records:
        files.write(folder / "records.jsonl", proposals.text_of(records).encode())
    store = f"jsonl:{folder / 'records.jsonl'}" if records else None
    return {"suite": str(folder), "queries": len(rows), "records": len(records), "store": store}


def export_suite(
    suite: str, kind: str, folder: Path, settings: Settings, store: str | None, now: datetime | None
) -> dict[str, Any]:
    """Write a suite as another program reads it; with a store, its live records too."""
    loaded = golden.load(suite_folder(suite))
    records = None
    if store:
        live = open_or_take(store, settings, now, to_grade=True).records().filter(LIVE)
        records = masked_table(live, settings.policy.secrets, remembered(settings.state))
    note(settings.state, folder)
    return {"folder": str(folder), "files": exchange.write(loaded, folder, kind, records)}


_HEAD = """\
# How this suite is graded; `memops recall suite check` says what is wrong with it.
measures = ["R@5", "R@10", "Success@1", "RR@10", "nDCG@10", "stale@5", "leak@5"]
retriever = "hybrid"
k = 10
"""


def _counts(rows: list[Proposal]) -> dict[str, Any]:
    by = Counter(row["category"] for row in rows)
    return {
        "proposed": len(rows),
        "kept": sum(row.get("keep") is True for row in rows),
        "dropped": sum(row.get("keep") is False for row in rows),
        "by_category": {name: by[name] for name in CATEGORIES},
    }
