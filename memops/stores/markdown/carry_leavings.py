"""Leavings: what replacing a file leaves beside it for a while, and what a crash leaves for good.

A file's next version is `.memops-PID-NAME.new`; the link to its old version, which is followed
until nobody writes to it any more, is `.memops-SIZE-DIGEST-NAME.old`, so that its name tells what
the old version held. Of a long NAME there is a digest instead.
"""

import contextlib
import os
import re
import time

from memops.failpoints import failpoint
from memops.files import digest, short
from memops.stores.markdown.carry_files import append, joined, lines, opened, read, read_fd, write
from memops.stores.open_files import writers

TEMPORARY = re.compile(r"^\.memops-.*\.(?:new|old)$")
_OLD = re.compile(r"^\.memops-(?P<size>\d+)-(?P<digest>[0-9a-f]{16})-(?P<name>.+)\.old$", re.S)


def create(folder: int, name: str, data: bytes) -> bool:
    """Write a file that is not there yet, whole; return False when there is one."""
    new = drafted(name)
    try:
        write(folder, new, data, 0o600 | (os.stat(".", dir_fd=folder).st_mode & 0o044), None)
        os.link(new, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        return False
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new, dir_fd=folder)
    os.fsync(folder)
    return True


def drop(folder: int, name: str, grace: float, limit: float) -> bool:
    """Remove a file that is empty, and tell whether it is gone.

    One that is written to meanwhile stays, or is there again, with what came: the old file is
    followed for `grace` seconds and, while somebody has it open, up to `limit`.
    """
    with opened(folder, name) as handle:
        if os.fstat(handle).st_size or writers(handle):
            return False
        os.rename(name, aside := linked(name, b""), src_dir_fd=folder, dst_dir_fd=folder)
        failpoint("carry-dropped")
        os.fsync(folder)
        end = time.monotonic() + grace
        while time.monotonic() < end or (writers(handle) and time.monotonic() < end + limit):
            time.sleep(0.005)
        if writers(handle):
            with contextlib.suppress(FileExistsError):
                os.link(aside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        return _recovered(folder, aside, name, 0, _digest(b"")) is None


def drafted(name: str) -> str:
    """Return the name under which a file's next version is written."""
    return f".memops-{os.getpid()}-{short(name)}.new"


def linked(name: str, data: bytes) -> str:
    """Return the name of the link to a file's old version, which held this."""
    return f".memops-{len(data)}-{_digest(data)}-{short(name)}.old"


def recover(folder: int) -> None:
    """Finish what a killed process left in a folder: carry over, then remove its files."""
    there = sorted(os.listdir(folder))
    for left in there:
        if found := _OLD.match(left):
            name = next((one for one in there if short(one) == found["name"]), None)
            name = name or found["name"].removesuffix(".md") + ".md"
            _recovered(folder, left, name, int(found["size"]), found["digest"])
        elif TEMPORARY.match(left):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(left, dir_fd=folder)


def _recovered(folder: int, link: str, name: str, size: int, digest: str) -> int | None:
    """Settle a link that is left: the same file, or lines to carry over."""
    with opened(folder, link) as handle:
        live, old = read(folder, name), read_fd(handle)
        if live is None or os.fstat(handle).st_ino != _inode(folder, name):
            intact = _digest(old[:size]) == digest
            missing = lines(old[size:] if intact else old) - lines(live or b"")
            if missing and not (live is None and create(folder, name, joined(missing))):
                append(folder, name, joined(missing))
        os.unlink(link, dir_fd=folder)
        os.fsync(folder)
        return _inode(folder, name)


def _inode(folder: int, name: str) -> int | None:
    with contextlib.suppress(FileNotFoundError):
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino
    return None


def _digest(data: bytes) -> str:
    return digest(data)[:16]
