"""Purging: forgetting for good, in the store and in everything that memops kept of it; there is no undo.

The snapshots, runs, plans and suites that hold a record are made anew without it; reports and a model's
answers go. What other stores have of the same text is named, not touched. The receipt holds digests and
counts, no text.
"""

import contextlib
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from memops import locks, overlay, snapshot
from memops.apply.recovery import recover
from memops.commands.selecting import meant
from memops.errors import Locked, MemopsError
from memops.evaluation.proposals import purged
from memops.progress import tracked
from memops.schema import empty
from memops.settings import Settings
from memops.state import archive, purge_files, purge_receipts, purge_scan
from memops.state.outputs import noted
from memops.state.purge_files import Purge
from memops.state.purge_terms import PurgeTerms
from memops.state.sources import clock, take_snapshot
from memops.stores import Store, open_store


def purge(
    name: str, ids: Sequence[str], settings: Settings, dry_run: bool = False, absorbed: bool = False
) -> dict[str, Any]:
    """Forget records of a store, or count what would go; with `absorbed` what they stood for, too.

    Records are named as everywhere (`selecting.meant`), and by ids that only a snapshot has. Returns
    counts by place, ids of records that say the same or were absorbed and stay, files that still hold
    it, and the snapshot taken since others went. Run again after a crash, it finishes. Raises
    MemopsError for a name that is nobody's.
    """
    store, state = open_store(settings.store(name).address), settings.state
    if "purge" not in store.capabilities:
        raise MemopsError(f"{store.address}: this kind of store cannot forget for good")
    if not dry_run:
        recover(name, settings)
    identity = store.identity()
    with locks.hold(snapshot.lock_path(state, identity)):
        said = _purged(store, identity, _Asked(name, ids, absorbed, dry_run), settings)
    if said["places"].get("snapshots removed") and not dry_run:
        said["snapshot"] = take_snapshot(name, settings, accept_shrink=True)["snapshot"]
    return said


@dataclass(frozen=True)
class _Asked:
    """What a person asks to be forgotten, of which store and by what names."""

    store: str
    names: Sequence[str]
    absorbed: bool
    dry: bool


def _purged(
    store: Store, identity: dict[str, str], asked: _Asked, settings: Settings
) -> dict[str, Any]:
    state, own, dry = settings.state, snapshot.store_id(identity), asked.dry
    if not dry:
        store.settle()
        purge_files.settle(state, own)
    begun = purge_files.begun(state, own)
    kept = overlay.read(snapshot.overlay_path(state, identity))
    records, archived = overlay.joined(store.read(), kept), archive.read(state, identity)
    every = pl.concat([records, archived.join(records, on="id", how="anti")])
    names = purge_scan.former(state, own, _meant(state, own, asked, every, {*begun["id"]}))
    behind = _behind(names, every)
    if asked.absorbed:
        names, behind = purge_scan.former(state, own, names | behind), set()
    past = pl.concat([begun, _past(state, own, names, [records, archived])]).unique()
    terms = PurgeTerms.of(names, past["text"])
    task = Purge(store, state, own, terms.apart_from(records), settings.policy, clock(), dry)
    here, there = (int(table["id"].is_in(sorted(names)).sum()) for table in (records, archived))
    places = Counter({"store": here, "archive": there})
    if not dry:
        purge_files.begin(state, own, past, asked.names)
        _from_store(task, identity, terms, begun.is_empty())
    places += purge_scan.forget(task)
    places += _from_suites(task, _suites(settings, store, task))
    # What memops wrote elsewhere at a person's wish and holds the text: it is the person's.
    theirs = [path for path, _ in noted(state) if not dry or path.is_file()]
    outside = {str(path) for place in theirs for path in task.terms.files(place)}
    outside |= {str(path) for path in theirs if purge_scan.shows(task, path)}
    elsewhere = [*purge_scan.left(task, terms), *sorted(outside)]
    if not dry:
        shutil.rmtree(snapshot.readings_folder(state, identity), ignore_errors=True)
        purge_receipts.note(state, {*names, *asked.names}, places)
    if not dry or begun.is_empty():
        purge_files.end(state, own)
    return {
        "removed": here, "places": {place: n for place, n in places.items() if n},
        "same_text": terms.saying(records)["id"].sort().to_list(), "absorbed": sorted(behind),
        "elsewhere": elsewhere, "snapshot": None, "dry_run": dry,
    }  # fmt: skip


def _meant(state: Path, own: str, asked: _Asked, every: pl.DataFrame, begun: set[str]) -> set[str]:
    """The ids that a person means, with those `begun`; raises MemopsError for what no copy has.

    An id stands for its record, even if purged or only in a snapshot, before it begins another's.
    """
    strange = {*asked.names} - {*every["id"]} - begun
    done = purge_files.begun_as(state, own) | purge_receipts.among(state, strange)
    strange -= done
    strange -= {*_past(state, own, strange, [])["id"]} if strange else set()
    named = meant(every, sorted(strange), asked.store, "; nothing was purged")
    return begun | ({*asked.names} - strange) | {*named}


def _behind(names: set[str], every: pl.DataFrame) -> set[str]:
    """The ids of what was merged into records or replaced by them, and by those in turn."""
    links, met = every.select("id", "superseded_by").drop_nulls(), set(names)
    while more := {*links.filter(pl.col("superseded_by").is_in(sorted(met)))["id"]} - met:
        met |= more
    return met - names


def _past(state: Path, own: str, names: set[str], tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """All that records ever said, as (id, text): in tables of records and in snapshots."""
    kept, found = [*purge_scan.snapshots(state, own)], [empty(), *tables]
    for taken in tracked("looking through snapshots", kept):
        with contextlib.suppress(MemopsError):
            found.append(taken.some(names))
    rows = pl.concat([table.select("id", "text") for table in found])
    return rows.filter(pl.col("id").is_in(sorted(names))).unique()


def _from_store(task: Purge, identity: dict[str, str], terms: PurgeTerms, first: bool) -> None:
    try:
        task.store.purge(sorted(terms.ids), sorted(terms.texts))
    except Locked:
        if first:  # nothing has been done, so nothing is to be finished
            purge_files.end(task.state, task.own)
        raise
    path = snapshot.overlay_path(task.state, identity)
    ids = pl.Series(sorted(terms.ids), dtype=pl.String)
    if (known := overlay.read(path)).height:
        overlay.write(path, overlay.without(known, ids))
    archive.forget(task.state, identity, terms.ids)


def _suites(settings: Settings, store: Store, task: Purge) -> dict[Path, PurgeTerms]:
    """The suites at hand: those of the store lose what names its records, others only its texts."""
    mine = {c.suite for c in settings.stores.values() if c.suite and c.address == store.address}
    names = [n for n, c in settings.stores.items() if c.address == store.address] or [store.kind]
    base = [Path(), *([settings.path.parent] if settings.path else [])]
    own = {place / "evals" / name for place in base for name in (*mine, *names)}
    own |= {place / name for place in base for name in mine}
    own |= {path for path, of in noted(task.state) if of == task.own}
    rest = {path for place in base for path in (place / "evals").glob("*/")}
    rest |= {path for path, _ in noted(task.state) if path.is_dir()}
    words = task.terms.words_only()
    own_paths = {path.resolve() for path in own if path.is_dir()}
    others = {path.resolve() for path in rest} - own_paths
    return dict.fromkeys(sorted(others), words) | dict.fromkeys(sorted(own_paths), task.terms)


def _from_suites(task: Purge, suites: dict[Path, PurgeTerms]) -> Counter[str]:
    said = Counter[str]()
    for folder, terms in suites.items():
        for path, data, gone in purged(folder, terms):
            task.write(path, data)
            said["suite lines"] += gone
    return said
