"""Lock files: the agents' own locks, made the way they make them (O_CREAT and O_EXCL)."""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memops.errors import Locked
from memops.files import alive

PATIENCE = 3.0
"""Seconds to wait for an agent's lock."""


@dataclass(frozen=True)
class LockFile:
    """One lock: its path, what its owner writes into it, when it counts as abandoned."""

    path: Path
    text: Callable[[], str]
    stale: float
    """Seconds after which the agent itself takes the lock from its holder."""
    pid: str
    """Pattern of the holder's process id in the text."""


@contextlib.contextmanager
def hold(locks: list[LockFile]) -> Iterator[None]:
    """Hold locks, taken in the given order; raises Locked, naming the holder, after PATIENCE."""
    with contextlib.ExitStack() as stack:
        for lock in locks:
            stack.enter_context(_held(lock, time.monotonic() + PATIENCE))
        yield


@contextlib.contextmanager
def _held(lock: LockFile, deadline: float) -> Iterator[None]:
    lock.path.parent.mkdir(parents=True, exist_ok=True)
    while not _taken(lock):
        if _abandoned(lock):
            lock.path.unlink(missing_ok=True)
        elif time.monotonic() > deadline:
            raise Locked(f"{lock.path} is held: {_text(lock).strip()[:120]}", "try again later")
        else:
            time.sleep(0.02)
    try:
        yield
    finally:
        lock.path.unlink(missing_ok=True)


def _taken(lock: LockFile) -> bool:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        handle = os.open(lock.path, flags, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(handle, "wb") as out:
        out.write(lock.text().encode())
    return True


def _abandoned(lock: LockFile) -> bool:
    """Tell whether a lock is too old, or its holder on this machine is dead."""
    try:
        old = time.time() - lock.path.stat().st_mtime > lock.stale
    except FileNotFoundError:
        return False
    found = re.search(lock.pid, _text(lock))
    return old or (found is not None and not alive(int(found[1])))


def _text(lock: LockFile) -> str:
    try:
        return lock.path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
