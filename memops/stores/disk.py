"""Disk: files read and replaced as a whole, with errors that say what to do."""

import errno
import glob
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memops.errors import Locked, MemopsError, NoSpace, StoreNotFound
from memops.failpoints import failpoint
from memops.files import short, sync

_TRIES = 3
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""Numbers of errors by which a device cannot take what is written."""


class Stamp(NamedTuple):
    """What tells one state of a file from the next: inode, bytes, nanoseconds."""

    inode: int
    size: int
    changed: int


def failure(path: Path, error: OSError) -> MemopsError:
    """Return the error that a failed operation on a store's file ends with."""
    said = error.strerror or str(error)
    if error.errno in FULL:
        return NoSpace(f"{path}: {said}", "make room or mend the device, then run it again")
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return StoreNotFound(f"{path} does not exist")
    if isinstance(error, PermissionError):
        return StoreNotFound(f"{path}: {said}", "run as the user that owns the store")
    return StoreNotFound(f"{path}: {said}")


def read_whole(path: Path) -> tuple[bytes, Stamp]:
    """Return a file's bytes and the stamp of the state that they were read in.

    Raises StoreNotFound for what is no regular file and Locked for one that never holds still.
    """
    try:
        for _ in range(_TRIES):
            with path.open("rb") as file:
                before = _stamp(path, os.fstat(file.fileno()))
                data = file.read()
                if _stamp(path, os.fstat(file.fileno())) == before and len(data) == before.size:
                    return data, before
    except OSError as error:
        raise failure(path, error) from error
    raise Locked(f"{path} is being written", "try again when its writer is done")


def replace_whole(
    path: Path,
    data: bytes,
    unless_changed: Stamp | None = None,
    check: Callable[[Path], None] = lambda draft: None,
) -> bool:
    """Put data in the place of a file, all or nothing; return False if the file changed meanwhile.

    The new bytes are on disk (file, then folder) when this returns. Mode and owner are kept; a
    link is followed. What `check` raises of the draft keeps it from its place.
    """
    target = path.resolve()
    try:
        return _replaced(target, data, unless_changed, check)
    except OSError as error:
        raise failure(target, error) from error


def put_aside(path: Path) -> Path:
    """Give a file a second name, `NAME.damaged`, under which it stays when it is replaced."""
    n = 1
    while True:
        aside = path.with_name(f"{short(path.name)}.damaged" + (f"-{n}" if n > 1 else ""))
        try:
            os.link(path, aside)
            sync(path.parent)
            return aside
        except FileExistsError:
            if aside.samefile(path):
                return aside
            n += 1


def sweep(path: Path) -> None:
    """Remove what a killed process left of a replacement of this file."""
    target = path.resolve()
    for left in target.parent.glob(f"{glob.escape(_draft(target))}*.tmp"):
        left.unlink(missing_ok=True)


def _replaced(
    target: Path, data: bytes, unless_changed: Stamp | None, check: Callable[[Path], None]
) -> bool:
    old = target.stat() if target.exists() else None
    draft = _draft(target)
    handle, name = tempfile.mkstemp(prefix=draft, suffix=".tmp", dir=target.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            failpoint("disk-write")
            file.write(data)
            file.flush()
            if old is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
                if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()) and os.geteuid() == 0:
                    os.fchown(file.fileno(), old.st_uid, old.st_gid)
            os.fsync(file.fileno())
        check(new)
        if unless_changed is not None and _now(target) != unless_changed:
            return False
        failpoint("disk-rename")
        new.replace(target)
        failpoint("disk-renamed")
    finally:
        new.unlink(missing_ok=True)
    sync(target.parent)
    return True


def _draft(target: Path) -> str:
    return f".memops-{short(target.name)}."


def _now(path: Path) -> Stamp | None:
    try:
        return _stamp(path, path.stat())
    except FileNotFoundError:
        return None


def _stamp(path: Path, found: os.stat_result) -> Stamp:
    if not stat.S_ISREG(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is no regular file", str(path))
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)
