"""Locks: one holder at a time; the kernel's (flock), so that a killed holder blocks nobody."""

import contextlib
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from memops import files
from memops.errors import Locked


@contextlib.contextmanager
def hold(path: Path, timeout: float = 10.0) -> Iterator[None]:
    """Hold the lock of a store; raises Locked, naming the holder, after `timeout` seconds."""
    files.folder(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _acquire(handle, path, time.monotonic() + timeout)
        os.ftruncate(handle, 0)
        held = json.dumps({"pid": os.getpid(), "host": socket.gethostname()})
        os.pwrite(handle, held.encode(), 0)
        yield
    finally:
        os.close(handle)


def is_held(path: Path) -> bool:
    """Return whether a process holds a lock; looking at it keeps nobody from taking it."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def _acquire(handle: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                holder = os.pread(handle, 200, 0).decode("utf-8", "replace") or path.name
                hint = "wait for it to end, or give --lock-timeout SECONDS"
                raise Locked(f"another memops works on this store: {holder}", hint) from None
            time.sleep(0.05)
