"""The marker of a restore that is not through: the store is neither what it was nor restored.

stores/<store>/restoring.json   the snapshot that is restored, and the one of what was before
"""

from pathlib import Path

from memops import files
from memops.errors import Interrupted
from memops.snapshot import store_folder

_FILE = "restoring.json"


def begin(state: Path, identity: dict[str, str], how: str, back: str | None) -> None:
    """Write down, before the store changes, by which commands a restore goes on or goes back."""
    files.write_sealed(store_folder(state, identity) / _FILE, {"how": how, "back": back})


def end(state: Path, identity: dict[str, str]) -> None:
    """Tell that the store and what is kept of it are restored."""
    path = store_folder(state, identity) / _FILE
    path.unlink(missing_ok=True)
    files.sync(path.parent)


def refuse_half(state: Path, identity: dict[str, str]) -> None:
    """Raise Interrupted for a store of which a restore was cut off."""
    path = store_folder(state, identity) / _FILE
    if not path.exists():
        return
    said = files.read_sealed(path)
    back = f", or back with `{said['back']}`" if said["back"] else ""
    what = f"a restore of {identity['path']} was cut off; nothing was changed"
    raise Interrupted(what, f"go on with `{said['how']}`{back}")
