"""Findings: what an examination of a store has to say, and the checks that several kinds share."""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memops.stores.lockfile import LockFile
from memops.stores.open_files import users

Level = Literal["info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("info", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """One thing to know: the check that found it, how bad it is, how many, and what to do."""

    check: str
    level: Level
    count: int
    says: str
    do: str


@dataclass(frozen=True)
class Repair:
    """One way to mend what a check found, as it would be carried out.

    `steps` are its statements or files, `before` what it changes that no snapshot holds, and
    `carry_out` does it and returns how many it mended.
    """

    check: str
    count: int
    says: str
    steps: list[str]
    before: list[dict[str, Any]] | None
    carry_out: Callable[[], int]


def of_modes(paths: Iterable[Path]) -> Iterator[Finding]:
    """Files that other users of this machine may read or write; links are not followed."""
    modes = [os.lstat(path).st_mode for path in paths if path.exists()]
    modes = [mode for mode in modes if not stat.S_ISLNK(mode)]
    if written := sum(bool(mode & 0o022) for mode in modes):
        says, do = "files that other users may write", "chmod go-w, so that nobody plants memories"
        yield Finding("modes", "warning", written, says, do)
    if read := sum(bool(mode & 0o044) for mode in modes):
        says = "files that other users may read"
        yield Finding("modes", "info", read, says, "chmod go-r, if this machine has other users")


def of_openers(path: Path) -> Iterator[Finding]:
    """Processes that have a file open: an agent that runs."""
    if pids := users(path):
        says = f"{path.name} is open in process {', '.join(map(str, pids[:5]))}"
        do = "what needs the store alone waits for its end"
        yield Finding("open", "info", len(pids), says, do)


def of_locks(locks: Iterable[LockFile]) -> Iterator[Finding]:
    """Lock files that stand there, and those whose owner is gone."""
    for lock in locks:
        try:
            age = time.time() - lock.path.stat().st_mtime
        except OSError:
            continue
        if age > lock.stale:
            says = f"{lock.path.name} was left {age:.0f} s ago, longer than its agent heeds it"
            yield Finding("locks", "warning", 1, says, "remove it if the agent does not run")
        else:
            says = f"{lock.path.name} is held since {age:.0f} s"
            yield Finding("locks", "info", 1, says, "a file under it is changed later")


def of_widths(widths: dict[int, int]) -> Iterator[Finding]:
    """Vectors of several widths, which the agent cannot compare."""
    if len(widths) > 1:
        said = ", ".join(f"{n} of {width} floats" for width, n in sorted(widths.items()))
        rare = sum(widths.values()) - max(widths.values())
        do = "let the agent embed again with one model; the rarer ones drop out of its search"
        yield Finding("vectors", "warning", rare, f"vectors of several widths: {said}", do)
