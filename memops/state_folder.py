"""The state folder: where it is, and that nobody else may write to it."""

import os
import stat
from pathlib import Path

from memops.errors import MemopsError, NoSpace


def usual() -> Path:
    """Return the state folder where nothing names one: .memops if it stands here, else one per user (XDG)."""
    if Path(".memops").exists():
        return Path(".memops")
    home = os.environ.get("XDG_STATE_HOME", "")
    kept = Path(home) if Path(home).is_absolute() else Path("~/.local/state").expanduser()
    return kept / "memops"


def private(state: Path) -> Path:
    """Return the state folder; raises MemopsError for one that others own or may write to.

    Who can write there can put a plan in another's place.
    """
    if state.exists() and not state.is_dir():
        raise NoSpace(f"{state} is a file, and no state folder", "give --state DIR")
    try:
        folders = [state, *(p for p in state.iterdir() if p.is_dir())] if state.is_dir() else []
        for folder in folders:
            seen = folder.lstat() if folder != state else folder.stat()
            if seen.st_uid != os.geteuid():
                raise MemopsError(
                    f"{folder} belongs to user {seen.st_uid}, not to you",
                    "run as its owner, or give --state DIR",
                )
            if stat.S_IMODE(seen.st_mode) & 0o022 and not stat.S_ISLNK(seen.st_mode):
                raise MemopsError(f"{folder} may be written by others", f"chmod go-w {folder}")
    except PermissionError as error:
        raise MemopsError(
            f"{state} may not be read", "run as its owner, or give --state DIR"
        ) from error
    return state
