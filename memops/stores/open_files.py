"""Which other processes have a file open for writing, as far as the system tells.

Linux tells through /proc, for processes of the same user (all of them for root) in the same or
a nested PID namespace. Where it does not tell, nobody is found and the caller's grace must do.
"""

import os
from collections.abc import Iterator
from pathlib import Path

_PROC = "/proc"


def writers(handle: int) -> list[int]:
    """Return process ids, other than ours, that have the file behind `handle` open for writing."""
    mine = os.fstat(handle)
    return [int(pid) for pid, fd in _handles(mine) if _writes(f"{_PROC}/{pid}/fdinfo/{fd}")]


def users(path: Path) -> list[int]:
    """Return process ids, other than ours, that have a file open at all; it is not opened here."""
    try:
        return sorted({int(pid) for pid, _ in _handles(path.stat())})
    except OSError:
        return []


def _handles(mine: os.stat_result) -> Iterator[tuple[str, str]]:
    # Thousands of handles are looked at for each file: plain strings, no Path objects.
    key, own = (mine.st_ino, mine.st_dev), str(os.getpid())
    for pid in _names(_PROC):
        if not pid.isdigit() or pid == own:
            continue
        folder = f"{_PROC}/{pid}/fd"
        for fd in _names(folder):
            try:
                other = os.stat(f"{folder}/{fd}")  # noqa: PTH116
            except OSError:
                continue
            if (other.st_ino, other.st_dev) == key:
                yield pid, fd


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _writes(info: str) -> bool:
    try:
        said = Path(info).read_text(encoding="ascii")
    except OSError:
        return False
    flags = next((line.split()[1] for line in said.splitlines() if line.startswith("flags:")), "0")
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
