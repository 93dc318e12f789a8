"""Purging: forgetting for good, in the store and in everything that memops kept of it.

There is no undo. The store removes the records so that no byte of their text stays; the snapshots,
runs, plans and suites that hold them are made anew without them, and what is derived from them
(reports, a model's answers) goes. What other stores have of the same text is theirs: it is named,
not touched. The receipt holds digests and counts, no text.
"""

import contextlib
import hashlib
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from memops import locks, overlay, snapshot
from memops.apply.recovery import recover
from memops.errors import Locked, MemopsError
from memops.evaluation.proposals import purged
from memops.journal import Journal
from memops.progress import tracked
from memops.settings import Settings
from memops.state import archive, purge_files, purge_scan
from memops.state.outputs import noted
from memops.state.purge_files import Purge
from memops.state.purge_terms import PurgeTerms
from memops.state.sources import clock, take_snapshot
from memops.stores import Store, open_store

_RECEIPTS = "purges.jsonl"


def purge(
    name: str, ids: Sequence[str], settings: Settings, dry_run: bool = False
) -> dict[str, Any]:
    """Forget records of a store, or count what would go.

    Returns {removed, places, same_text, elsewhere, snapshot, dry_run}: counts by place, ids of
    records that still say it, files that memops wrote and that still hold it, and the snapshot
    that was taken since others had to go. Run again after a crash, it finishes. Raises
    MemopsError for an id that neither the store nor a snapshot of it has.
    """
    store, state = open_store(settings.store(name).address), settings.state
    if "purge" not in store.capabilities:
        raise MemopsError(f"{store.address}: this kind of store cannot forget for good")
    if not dry_run:
        recover(name, settings)
    identity = store.identity()
    with locks.hold(snapshot.lock_path(state, identity)):
        said = _purged(store, identity, ids, settings, dry_run)
    if said["places"].get("snapshots removed") and not dry_run:
        said["snapshot"] = take_snapshot(name, settings, accept_shrink=True)["snapshot"]
    return said


def _purged(
    store: Store, identity: dict[str, str], ids: Sequence[str], settings: Settings, dry: bool
) -> dict[str, Any]:
    state, own = settings.state, snapshot.store_id(identity)
    if not dry:
        store.settle()
        purge_files.settle(state, own)
    begun = purge_files.begun(state, own)
    names = purge_scan.former(state, own, {*ids, *begun["id"]})
    kept = overlay.read(snapshot.overlay_path(state, identity))
    records = overlay.joined(store.read(), kept)
    found = records.filter(pl.col("id").is_in(sorted(names)))
    past = _past(state, identity, names, found, begun)
    _refuse_unknown(store, state, {*ids} - {*past["id"]})
    terms = PurgeTerms.of(names, past["text"])
    task = Purge(store, state, own, terms.apart_from(records), settings.policy, clock(), dry)
    archived = archive.read(state, identity).filter(pl.col("id").is_in(sorted(names)))
    places = Counter({"store": found.height, "archive": archived.height})
    if not dry:
        purge_files.begin(state, own, past)
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
        digests = [_digest(id_) for id_ in sorted(names)]
        Journal(state / _RECEIPTS).add({"ids": digests, "places": places})
    if not dry or begun.is_empty():
        purge_files.end(state, own)
    return {
        "removed": found.height,
        "places": {place: n for place, n in places.items() if n},
        "same_text": terms.saying(records)["id"].sort().to_list(),
        "elsewhere": elsewhere,
        "snapshot": None,
        "dry_run": dry,
    }


def _past(
    state: Path, identity: dict[str, str], names: set[str], found: pl.DataFrame, begun: pl.DataFrame
) -> pl.DataFrame:
    """All that the records ever said, as (id, text): in the store, its archive and snapshots."""
    tables = [found, archive.read(state, identity)]
    kept = [*purge_scan.snapshots(state, snapshot.store_id(identity))]
    for taken in tracked("looking through snapshots", kept):
        with contextlib.suppress(MemopsError):
            tables.append(taken.some(names))
    rows = [table.select(*begun.columns) for table in tables]
    return pl.concat([begun, *rows]).filter(pl.col("id").is_in(sorted(names))).unique()


def _refuse_unknown(store: Store, state: Path, missing: set[str]) -> None:
    """Raise MemopsError for an id that no copy has, unless it was purged before."""
    known = {i for entry in Journal(state / _RECEIPTS).entries() for i in entry["ids"]}
    strange = sorted(id_ for id_ in missing if _digest(id_) not in known)
    if strange:
        raise MemopsError(f"{store.address}: no record {strange[0]!r}", "nothing was purged")


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


def _digest(id_: str) -> str:
    return hashlib.sha256(id_.encode()).hexdigest()[:16]
