"""The file of a stopped gateway: its lock, its backups, and its replacement in one step."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from memops.errors import Corrupt, Locked
from memops.files import json_object, sync
from memops.stores.disk import failure, replace_whole
from memops.stores.rsclaw import redb


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock that a running redb holds; raises Locked while a gateway has the file open."""
    try:
        handle = os.open(path.resolve(), os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise failure(path, error) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            hint = "stop the gateway, then run it again; reading works while it runs"
            raise Locked(f"{path} is open in a running rsclaw gateway", hint) from error
        if os.fstat(handle).st_ino != path.stat().st_ino:
            raise Locked(f"{path} was replaced just now", "try again")
        yield
    finally:
        os.close(handle)


def back_up(path: Path, lines: Iterable[bytes], now: datetime) -> Path:
    """Write the documents as JSON lines, `memory-YYYYMMDD.jsonl`, and return the file.

    It goes to `var/backups` of rsclaw's base folder, for a store elsewhere to `backups` beside it.
    A backup that is there already is left alone: the next of the day is `memory-YYYYMMDD-2.jsonl`.
    """
    folder = _backups(path)
    stem = f"memory-{now.astimezone(UTC):%Y%m%d}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, made = _fresh(folder, stem)
        with os.fdopen(handle, "wb") as out:
            out.writelines(line + b"\n" for line in lines)
            out.flush()
            os.fsync(out.fileno())
        sync(folder)
    except OSError as error:
        raise failure(folder, error) from error
    return made


def forget(path: Path, ids: Set[str], texts: Set[str]) -> None:
    """Remove documents from what lies around a stopped gateway's file."""
    beside = path.resolve().parent
    try:
        for backup in sorted(_backups(path).glob("memory-*.jsonl")):
            lines = backup.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if not _names(line, ids, texts)]
            if kept != lines:
                replace_whole(backup, b"".join(kept))
        for copy in sorted(beside.glob(f"{path.name}*.bak")):
            if any(text and text.encode() in copy.read_bytes() for text in texts):
                copy.unlink()
        if inside(beside) and (beside.parent / "search").is_dir():
            shutil.rmtree(beside.parent / "search")
    except OSError as error:
        raise failure(beside, error) from error


def inside(folder: Path) -> bool:
    """Tell whether a file's folder is the one that rsclaw gives it."""
    return folder.parts[-3:] == ("var", "data", "memory")


def install(path: Path, data: bytes) -> None:
    """Put a whole file in place of another, once it reads back as it was meant."""
    meant = redb.parse(data, str(path))

    def check(draft: Path) -> None:
        if redb.read(draft, tries=1)[1] != meant:
            raise Corrupt(f"{path}: does not read back as it was written", "check the disk")

    replace_whole(path, data, check=check)


def _backups(path: Path) -> Path:
    base = path.resolve().parent
    return base.parents[1] / "backups" if inside(base) else base / "backups"


def _names(line: bytes, ids: Set[str], texts: Set[str]) -> bool:
    fields = json_object(line)
    return fields.get("id") in ids or fields.get("text") in texts


def _fresh(folder: Path, stem: str) -> tuple[int, Path]:
    n = 1
    while True:
        path = folder / (f"{stem}.jsonl" if n == 1 else f"{stem}-{n}.jsonl")
        try:
            return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), path
        except FileExistsError:
            n += 1
