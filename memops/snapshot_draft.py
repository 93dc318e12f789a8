"""A snapshot's folder while it is written: a draft, which its manifest seals and its name ends."""

import contextlib
import io
import os
import platform
import re
import shlex
import shutil
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl

import memops
from memops import files
from memops.errors import Incomplete
from memops.failpoints import failpoint
from memops.policy import Limits, Policy
from memops.progress import tracked
from memops.safety.known_secrets import KnownSecrets
from memops.safety.masking import aliases, masked_table
from memops.schema import LIVE, RECORDS

FORMAT = 2
_LIBRARIES = ("polars", "pyarrow", "scikit-learn", "faiss-cpu", "numpy")


def begun(folder: Path, stem: str) -> Path:
    """Return a new draft's place; drafts of processes that died, and an older one of ours, go."""
    sweep(files.folder(folder))
    draft = folder / f".{stem}.{os.getpid()}.draft"
    shutil.rmtree(draft, ignore_errors=True)
    return draft


def export(records: pl.DataFrame, into: Path, policy: Policy, known: KnownSecrets) -> None:
    """Write a draft's records for people and programs to read, secrets masked; sealing puts them on disk."""
    masked = masked_table(records, policy.secrets, known)
    lines = io.BytesIO()
    files.keep(into / "records.parquet", files.packed(masked))
    masked.select(RECORDS.names()).write_ndjson(lines)
    files.keep(into / "records.jsonl", lines.getvalue())


def described(records: pl.DataFrame, draft: Path, now: datetime) -> dict[str, Any]:
    """Return what a draft holds and since when; every file but the manifest is written."""
    live = records.filter(LIVE)
    counts = {
        name: dict(live.group_by(name).len().sort(name).iter_rows())
        for name in ("kind", "scope", "tier")
    }
    return {
        "format": FORMAT, "taken_at": now.astimezone(UTC).isoformat(), "rows": records.height,
        "live": live.height, "counts": counts, "versions": _versions(), "files": _sealed(draft),
    }  # fmt: skip


def ended(draft: Path, stem: str, manifest: dict[str, Any]) -> Path:
    """Seal a draft with its manifest, and give it the name that it keeps."""
    files.write_sealed(draft / "manifest.json", manifest)
    digest = files.sha256(draft / "manifest.json")[:8]
    failpoint("snapshot-sealed")
    final = _moved(draft, draft.parent / f"{stem}-{digest}")
    files.sync(final.parent)
    return final


def contents(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their paths in it; one that holds a secret has an alias."""
    there = {str(p.relative_to(folder)): p for p in folder.rglob("*") if p.is_file()}
    names = {path: alias for alias, path in aliases(there).items()}
    return {names.get(name, name): path for name, path in there.items()}


def sweep(folder: Path) -> None:
    """Remove the drafts of processes that died; they hold what the store held."""
    for draft in folder.glob(".*.draft"):
        pid = re.search(r"\.(\d+)\.draft$", draft.name)
        if pid is None or not files.alive(int(pid[1])):
            shutil.rmtree(draft, ignore_errors=True)


def _versions() -> dict[str, str]:
    found = {"memops": memops.__version__, "python": platform.python_version()}
    found["sqlite"] = sqlite3.sqlite_version
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _sealed(draft: Path) -> dict[str, dict[str, Any]]:
    for path in draft.rglob("*"):
        if path.is_dir():
            path.chmod(0o700)
    sealed = {}
    for name, path in tracked("sealing files", sorted(contents(draft).items())):
        path.chmod(0o600)
        files.sync(path)
        sealed[name] = {"bytes": path.stat().st_size, "sha256": files.sha256(path)}
    return sealed


def _moved(draft: Path, wanted: Path) -> Path:
    """Give a draft its name, or the next one that is free; another process may take one, too."""
    path, n = wanted, 2
    while True:
        try:
            return draft.rename(path)
        except OSError:
            if not path.exists():
                raise
        path, n = wanted.with_name(f"{wanted.name}-{n}"), n + 1


def rows_left(manifest: Mapping[str, Any]) -> int:
    """Return how many records a store had after a snapshot: fewer, if one of fewer was restored."""
    return int(min(manifest.get("notes", {}).get("then", manifest)["rows"], manifest["rows"]))


def why_doubted(
    records: pl.DataFrame, before: Path, manifest: Mapping[str, Any], name: str, limits: Limits
) -> Incomplete | None:
    """Return what is to be said of records that may not be believed; None for all others."""
    last, had = before.name, rows_left(manifest)
    accept = f"memops snapshot take {shlex.quote(name)} --accept-shrink"
    if records.height < had * (1 - limits.shrink):
        return Incomplete(
            f"the store has {records.height} records; the snapshot before, {last}, has {had}",
            f"to have them again: memops restore {last}\n"
            f"if they were really removed: {accept}\nthen again",
        )
    known = _ids(before, manifest)
    same = known.is_in(records["id"].implode()).sum()
    if len(known) > limits.small and same < limits.same * len(known):
        return Incomplete(
            f"the store has {same} of the {len(known)} records of the snapshot before, {last}, "
            f"which was taken of {manifest['address']}: it is another store",
            f"correct the address\nif it is right: {accept}\nthen again",
        )
    return None


def _ids(before: Path, manifest: Mapping[str, Any]) -> pl.Series:
    """The ids of its records; none where they cannot be read, or another snapshot was restored since."""
    if "then" not in manifest.get("notes", {}):
        with contextlib.suppress(*files.UNREADABLE):
            return pl.read_parquet(before / "records.parquet", columns=["id"])["id"].unique()
    return pl.Series("id", [], dtype=pl.String)
