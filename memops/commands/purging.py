"""Purging: forgetting for good, in the store and in everything that memops kept of it.

There is no undo. The store removes the records so that no byte of their text stays; its plans and
runs, and snapshots and reports that hold the records, are removed whole. What other stores have of
the same text is theirs: it is named, not touched. The receipt holds digests and counts, no text.
"""

import contextlib
import hashlib
import html
import json
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, overlay, snapshot
from memops.errors import MemopsError
from memops.language.text import wordlist
from memops.settings import Settings
from memops.state import archive
from memops.state.chain import note_removed
from memops.state.runs import runs
from memops.state.sources import clock
from memops.stores import open_store

_RECEIPTS = "purges.jsonl"


def purge(name: str, ids: Sequence[str], settings: Settings) -> dict[str, Any]:
    """Forget records of a store.

    Returns {removed, places, same_text, elsewhere}: counts by place, ids of records that still
    say exactly the same, files of other stores that hold the text. Run again after a crash, it
    finishes. Raises MemopsError for an id that neither the store nor a snapshot of it has.
    """
    store, state = open_store(settings.store(name).address), settings.state
    if "purge" not in store.capabilities:
        raise MemopsError(f"{store.address}: this kind of store cannot forget for good")
    identity = store.identity()
    own = snapshot.store_id(identity)
    path = snapshot.overlay_path(state, identity)
    with files.lock(snapshot.lock_path(state, identity)):
        kept = overlay.read(path)
        records = overlay.joined(there := store.read(), kept)
        named = pl.col("id").is_in(list(ids))
        past = [found for taken in _snapshots(state, own) for found in _read(taken, named)]
        past.append(archive.read(state, identity).filter(named))
        found = records.filter(named)
        texts = _said([found, *past])
        missing = set(ids) - set(found["id"]) - {i for rows in past for i in rows["id"]}
        if missing:
            raise MemopsError(f"{store.address}: no record {min(missing)!r}", "nothing was purged")
        store.purge(sorted({*found["id"]} & {*there["id"]}))
        overlay.write(path, overlay.without(kept, pl.Series(list(ids), dtype=pl.String())))
        put_by = archive.forget(state, identity, set(ids))
        gone, elsewhere = _forget(state, own, ids, texts, clock())
        places = {
            place: n for place, n in {"store": found.height, "archive": put_by, **gone}.items() if n
        }
        digests = [hashlib.sha256(i.encode()).hexdigest()[:16] for i in sorted(ids)]
        files.Journal(state / _RECEIPTS).add({"ids": digests, "places": places})
    same = records.filter(~named, pl.col("text").is_in(texts))["id"].sort().to_list()
    removed = found.height
    return {"removed": removed, "places": places, "same_text": same, "elsewhere": elsewhere}


def _forget(
    state: Path, own: str, ids: Sequence[str], texts: Sequence[str], at: datetime
) -> tuple[dict[str, int], list[str]]:
    """Remove what is kept of the store and holds the records; snapshots last, for a second try."""
    needles = _needles(texts)
    snapshots, applied, plans = _snapshots(state, own), _runs(state, own), _plans(state, own)
    tainted = [taken.path for taken in snapshots if _holds(taken, ids, texts, needles)]
    reports = [state / "reports" / path.name for path in tainted]
    mine = [*tainted, *applied, *plans, *(path for path in reports if path.is_dir())]
    others: list[Path] = []
    elsewhere: list[Path] = []
    for path in _with(state, needles):
        if any(path.is_relative_to(folder) for folder in mine):
            continue
        (others if _loose(path.relative_to(state), own) else elsewhere).append(path)
    for path in others:
        path.unlink()
    for taken in snapshots:
        if taken.path in tainted:
            note_removed(state, taken, "purged", at)
    for folder in reversed(mine):
        shutil.rmtree(folder)
    gone = {"snapshots": len(tainted), "runs": len(applied), "plans": len(plans)}
    return gone | {"other files": len(others)}, [str(p.relative_to(state)) for p in elsewhere]


def _loose(path: Path, own: str) -> bool:
    """Tell whether a file of the state folder is no part of what another store needs whole."""
    top = path.parts[0]
    if top in ("snapshots", "plans", "runs", "prefect", _RECEIPTS):
        # A draft without a manifest is nobody's: a process died over it.
        return top == "snapshots" and path.parts[1].startswith(".")
    return not (top == "stores" and (path.parts[1] != own or path.name == "overlay.parquet"))


def _snapshots(state: Path, own: str) -> list[snapshot.Snapshot]:
    found = []
    for path in sorted((state / "snapshots").glob("[!.]*/manifest.json")):
        with contextlib.suppress(MemopsError):
            taken = snapshot.open_snapshot(path.parent)
            if snapshot.store_id(taken.manifest["store"]) == own:
                found.append(taken)
    return found


def _runs(state: Path, own: str) -> list[Path]:
    return [r.path for r in runs(state) if snapshot.store_id(r.header["store"]) == own]


def _plans(state: Path, own: str) -> list[Path]:
    found = []
    for path in sorted((state / "plans").glob("*/plan.json")):
        with contextlib.suppress(MemopsError, KeyError):
            if snapshot.store_id(files.read_json(path)["store"]) == own:
                found.append(path.parent)
    return found


def _holds(
    taken: snapshot.Snapshot, ids: Sequence[str], texts: Sequence[str], needles: Sequence[bytes]
) -> bool:
    """Tell whether a snapshot has the records or their text; one that cannot be read may have."""
    said = pl.col("text").str.contains_any(wordlist(texts))
    rows = _read(taken, pl.col("id").is_in(list(ids)) | said)
    return not rows or not rows[0].is_empty() or any(True for _ in _with(taken.path, needles))


def _read(taken: snapshot.Snapshot, wanted: pl.Expr) -> list[pl.DataFrame]:
    try:
        return [taken.records().filter(wanted)]
    except MemopsError:
        return []


def _said(tables: Sequence[pl.DataFrame]) -> list[str]:
    """The texts, the longest first, each once."""
    texts = {text for rows in tables for text in rows["text"] if text and text.strip()}
    return sorted(texts, key=lambda text: (-len(text), text))


def _needles(texts: Sequence[str]) -> list[bytes]:
    """The texts as files may spell them: plain, in JSON, in HTML."""
    spelled = {
        spelling
        for text in texts
        for spelling in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    }
    return sorted({s.encode("utf-8", "replace") for t in spelled for s in (t, html.escape(t))})


def _with(folder: Path, needles: Sequence[bytes]) -> Iterator[Path]:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        if any(needle in data for needle in needles):
            yield path
