"""Snapshots: a sealed folder with one store's records at one time and the bytes to restore it.

    snapshots/<utc>-<name>-<id8>/
      raw/              the exact copy; holds what the store holds, secrets too; mode 0600
      overlay.parquet   what the store itself could not hold
      records.parquet   the records as a table, secrets masked
      records.jsonl     the same, a line a record
      manifest.json     written last; SHA-256 of every file, and of the manifest before

No manifest, no snapshot. `check` re-hashes; planning always does.
"""

import json
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, overlay, snapshot_draft
from memops.errors import Corrupt, Incomplete
from memops.failpoints import failpoint
from memops.policy import Limits, Policy
from memops.progress import stage, tracked
from memops.safety import known_secrets
from memops.schema import only
from memops.stores import Copy, Store, open_store


@dataclass(frozen=True)
class Snapshot:
    """One sealed folder."""

    path: Path
    manifest: dict[str, Any]

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def seal(self) -> str:
        """SHA-256 of the manifest."""
        return files.sha256(self.path / "manifest.json")

    @property
    def address(self) -> str:
        """The address of the store that it was taken of."""
        return str(self.manifest["address"])

    def records(self) -> pl.DataFrame:
        """Return the records as they were, secrets and all; files are re-hashed first."""
        verify(self)
        key = str(self.path), self.seal
        if key not in _read:
            _remember(self, self._joined(None))
        return _read[key]

    def some(self, ids: Collection[str]) -> pl.DataFrame:
        """Return those with these ids, no file hashed: the caller must know what to expect."""
        return self._joined(ids)

    def _joined(self, ids: Collection[str] | None) -> pl.DataFrame:
        kept = only(overlay.read(self.path / "overlay.parquet"), ids)
        return overlay.joined(open_store(self.address).load(self.path / "raw", ids), kept)


_read: dict[tuple[str, str], pl.DataFrame] = {}
"""The records of the snapshot that was read last, by folder and seal: each step of a night reads it."""


def _remember(snapshot: Snapshot, records: pl.DataFrame) -> None:
    _read.clear()
    _read[str(snapshot.path), snapshot.seal] = records


def take(
    store: Store,
    state: Path,
    now: datetime,
    policy: Policy,
    name: str = "",
    accept_shrink: bool = False,
    to_grade: bool = False,
    stem: str = "",
    held: tuple[dict[str, str], Copy] | None = None,
) -> Snapshot:
    """Take a snapshot of a live store; raises what `Store.copy` does, and Incomplete where it is not believed.

    One that is only `to_grade` shows a doubtful store as it is and is not compared with later. Of a
    store that moved, told by its `name`, what is known comes with it. `held` are identity and copy of
    one that its holder replaces.
    """
    identity, copy = held or (store.identity(), store.copy)
    before = latest(state, identity, name)
    stem = f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{stem or name or identity['kind']}"
    draft = snapshot_draft.begun(state / "snapshots", stem)
    try:
        with stage("copying the store"):
            notes = copy(files.folder(draft / "raw"))
        failpoint("snapshot-copied")
        with stage("reading the store"):
            own = store.load(draft / "raw")
        past = (before, name or store.address, policy.limits)
        records, kept, doubted = _with_overlay(own, state, identity, *past)
        if doubted and not (accept_shrink or to_grade):
            raise doubted
        files.keep(draft / "overlay.parquet", overlay.packed(kept))  # sealing puts it on disk
        with stage("writing the snapshot"):
            known_secrets.learn(store_folder(state, identity), records, policy.secrets)
            snapshot_draft.export(records, draft, policy, known_secrets.remembered(state))
        manifest = snapshot_draft.described(records, draft, now) | {
            "address": store.address, "store": identity, "notes": notes, "name": name,
            "previous": _link(before), "doubtful": bool(doubted) and not accept_shrink,
        }  # fmt: skip
        taken = Snapshot(snapshot_draft.ended(draft, stem, manifest), manifest)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    _remember(taken, records)
    return taken


def _with_overlay(
    own: pl.DataFrame,
    state: Path,
    identity: dict[str, str],
    before: Snapshot | None,
    name: str,
    limits: Limits,
) -> tuple[pl.DataFrame, pl.DataFrame, Incomplete | None]:
    """A store's own records with what is kept of them (also of one that moved), what that is, and any doubt."""
    known = _known(state, identity, before)
    kept = overlay.read(overlay_path(state, known))
    records = overlay.joined(own, kept)
    doubted = None
    if before:
        doubted = snapshot_draft.why_doubted(records, before.path, before.manifest, name, limits)
    if known != identity and doubted:
        kept = overlay.read(overlay_path(state, identity))
        records = overlay.joined(own, kept)
    elif known != identity:
        moved = store_folder(state, known), store_folder(state, identity)
        shutil.copytree(*moved, dirs_exist_ok=True)
    return records, kept, doubted


def find(name: str | Path, state: Path) -> Snapshot | None:
    """Return the snapshot of that name or path, or whose name alone begins so; None without one."""
    for path in (Path(name), files.entry(state / "snapshots", str(name))):
        if (path / "manifest.json").is_file():
            return open_snapshot(path)
        if path.parent.name == "snapshots" and path.is_dir():
            raise Corrupt(f"{path}: no manifest, so no snapshot", "it was cut off; take another")
    return None


def open_snapshot(path: Path) -> Snapshot:
    """Return the snapshot in a folder; raises Corrupt for a foreign or damaged manifest."""
    manifest = files.read_sealed(path / "manifest.json")
    if not {"store", "address", "files"} <= manifest.keys():
        raise Corrupt(f"{path / 'manifest.json'}: not the manifest of a memops snapshot")
    files.refuse_other(manifest, snapshot_draft.FORMAT, path / "manifest.json")
    return Snapshot(path, manifest)


def latest(state: Path, identity: dict[str, str], name: str = "") -> Snapshot | None:
    """Return the believed snapshot of a store that was taken last, whatever `--now` it was given."""
    whole = [p for p in (state / "snapshots").glob("*/manifest.json") if p.parent.name[0] != "."]
    for path in sorted(whole, key=lambda p: (p.stat().st_mtime_ns, p.parent.name), reverse=True):
        said = (snapshot := open_snapshot(path.parent)).manifest
        mine = store_id(said["store"]) == store_id(identity) or (name and said.get("name") == name)
        if mine and said["store"]["kind"] == identity["kind"] and not said.get("doubtful"):
            return snapshot
    return None


def verify(snapshot: Snapshot) -> None:
    """Raise Corrupt, naming each file that is missing, changed or foreign."""
    there, said = snapshot_draft.contents(snapshot.path), snapshot.manifest["files"]
    wrong = [f"{name} is missing" for name in sorted(said.keys() - there.keys())]
    foreign = sorted(there.keys() - said.keys() - {"manifest.json"})
    wrong += [f"{name} is not of this snapshot" for name in foreign]
    wrong += [
        f"{name} has changed"
        for name in tracked("checking files", sorted(said.keys() & there.keys()))
        if files.sha256(there[name]) != said[name]["sha256"]
    ]
    if wrong:
        raise Corrupt(f"{snapshot.path}: {'; '.join(wrong)}", "use another snapshot")


def store_id(identity: dict[str, str]) -> str:
    """Return the name under which the state folder keeps what belongs to a store."""
    text = json.dumps({k: identity[k] for k in ("kind", "path")}, sort_keys=True)
    return files.digest(text)[:16]


def store_folder(state: Path, identity: dict[str, str]) -> Path:
    """Return the folder of what is kept of a store, its snapshots aside."""
    return files.folder(state / "stores" / store_id(identity))


def _known(state: Path, identity: dict[str, str], before: Snapshot | None) -> dict[str, str]:
    """Under what identity a store's overlay and the rest is kept: another's, if it moved since."""
    own, was = state / "stores" / store_id(identity), before and before.manifest["store"]
    new = was and store_id(was) != store_id(identity) and not any(own.glob("*"))
    return dict(was) if was and new else identity


def overlay_path(state: Path, identity: dict[str, str]) -> Path:
    """Return where a store's overlay is."""
    return store_folder(state, identity) / "overlay.parquet"


def readings_folder(state: Path, identity: dict[str, str]) -> Path:
    """Return where what was read of a store's texts is, which may be deleted at any time."""
    return state / "readings" / store_id(identity)


def night_path(state: Path, identity: dict[str, str]) -> Path:
    """Return the lock that a store's night holds, from its snapshot to its report."""
    return state / "locks" / f"{store_id(identity)}.night.lock"


def lock_path(state: Path, identity: dict[str, str]) -> Path:
    """Return the lock that whoever changes a store holds."""
    return files.folder(state / "locks") / f"{store_id(identity)}.lock"


def _link(before: Snapshot | None) -> dict[str, Any] | None:
    if before is None:
        return None
    left = snapshot_draft.rows_left(before.manifest)
    return {"snapshot": before.id, "sha256": before.seal, "rows": left}
