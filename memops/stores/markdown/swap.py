"""Swapping a file of a memory root for its edited self, under the agent's own locks."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from memops.errors import Incomplete, Locked
from memops.stores.lockfile import LockFile, hold
from memops.stores.markdown import files
from memops.stores.markdown.carry import Build, Pace, replace
from memops.stores.markdown.carry_leavings import create, recover


@dataclass(frozen=True)
class Swap:
    """What a file becomes, what is called once that is certain, and how patiently it is done."""

    build: Build
    keep: Callable[[], None]
    pace: Pace
    locks: list[LockFile]
    make: bool = True

    def locked(self) -> AbstractContextManager[None]:
        """Hold the agent's locks of the file."""
        return hold(self.locks)


def swapped(root: Path, path: str, swap: Swap) -> str:
    """Replace or create a file; returns why it could not be, or ''."""
    try:
        with files.folder_of(root, path, swap.make) as (folder, name):
            recover(folder)
            return _swapped(folder, name, swap)
    except Locked as error:
        return error.message
    except Incomplete as error:
        if "went away" in error.message and not swap.make:
            swap.build(None)
            return ""
        return error.message


def touches(root: Path, path: str, build: Build) -> bool:
    """Tell whether a change alters its file at all, without any lock."""
    try:
        data, _ = files.read(root, path)
    except Incomplete:
        return True
    return build(data) is not None


def _swapped(folder: int, name: str, swap: Swap) -> str:
    for _ in range(3):
        try:
            return replace(folder, name, swap.build, swap.keep, swap.pace, swap.locked)
        except FileNotFoundError:
            data = swap.build(None)
            if not swap.make or data is None:
                return ""
            swap.keep()
            with swap.locked():
                if create(folder, name, data):
                    return ""
    return "skip.comes_and_goes"
