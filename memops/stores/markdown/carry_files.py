"""Files below an open folder: watched, read, written whole, and added to line by line."""

import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterator

from memops.stores.open_files import writers

FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def still(folder: int, name: str, recent: float, watched: float) -> bool:
    """Watch a file for a moment; one that was last written a while ago needs no watching."""
    before = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if abs(time.time() - before.st_mtime) > recent:
        return True
    time.sleep(watched)
    now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    states = [(info.st_ino, info.st_size, info.st_mtime_ns) for info in (before, now)]
    return states[0] == states[1]


def grown(folder: int, name: str, was: os.stat_result, size: int) -> bool:
    """Tell whether a file is the one that was read; what was added to it will be carried."""
    now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return now.st_ino == was.st_ino and now.st_size >= size


def read_fd(handle: int) -> bytes:
    """Return everything in an open file, from its start."""
    parts, at = [], 0
    while part := os.pread(handle, 1 << 20, at):
        parts.append(part)
        at += len(part)
    return b"".join(parts)


@contextlib.contextmanager
def opened(folder: int, name: str, how: int = os.O_RDONLY) -> Iterator[int]:
    """Open a file of a folder for a while, through no link."""
    handle = os.open(name, how | FLAGS, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


def read(folder: int, name: str) -> bytes | None:
    """Return what a file holds, None if there is none."""
    with contextlib.suppress(FileNotFoundError), opened(folder, name) as handle:
        return read_fd(handle)
    return None


def settled(folder: int, name: str) -> tuple[bytes | None, bool]:
    """Return what a file holds, None if it is gone, and whether somebody is about to write it."""
    with contextlib.suppress(FileNotFoundError), opened(folder, name) as handle:
        data = read_fd(handle)
        return data, bool(writers(handle)) or read_fd(handle) != data
    return None, False


def write(folder: int, name: str, data: bytes, mode: int, like: os.stat_result | None) -> None:
    """Write a new file, whole and on disk; the owner is that of the file that it is like."""
    how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, how, 0o600, dir_fd=folder)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
        out.flush()
        os.fchmod(out.fileno(), mode)
        if like is not None and os.geteuid() == 0:
            os.fchown(out.fileno(), like.st_uid, like.st_gid)
        os.fsync(out.fileno())


def append(folder: int, name: str, tail: bytes) -> None:
    """Add lines to a file, beginning a line of their own."""
    with opened(folder, name, os.O_RDWR | os.O_APPEND) as handle:
        size = os.fstat(handle).st_size
        torn = size and os.pread(handle, 1, size - 1) != b"\n"
        os.write(handle, (b"\n" if torn else b"") + tail)
        os.fsync(handle)


def lines(data: bytes) -> Counter[bytes]:
    """Return how often each line that says something is there."""
    return Counter(line for line in data.split(b"\n") if line.strip())


def joined(lines: Counter[bytes]) -> bytes:
    """Return lines as the bytes of whole lines."""
    return b"".join(line + b"\n" for line in lines.elements())
