"""Restoring Markdown notes: each file becomes what a copy has, beside an agent that may write.

What an agent writes before the files are kept goes with them; what it writes after that is added to
the file that is put in their place, by the same means by which an edit carries it over.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memops.errors import Incomplete, Locked
from memops.stores import Keep
from memops.stores.lockfile import hold
from memops.stores.markdown import files
from memops.stores.markdown.carry_files import joined, lines, opened, read_fd
from memops.stores.markdown.carry_leavings import drop
from memops.stores.markdown.swap import Swap, swapped
from memops.stores.open_files import writers

if TYPE_CHECKING:
    from memops.stores.markdown import MarkdownStore

_HINT = "stop the agent, then restore again"


def restored(notes: "MarkdownStore", raw: Path, keep: Keep) -> dict[str, int]:
    """Make the files those of a copy; returns how many lines more each of them has.

    Raises Locked before anything changes while somebody writes, and for a file that somebody began
    to write and did not let go; the others are restored then.
    """
    listed = {path: (data, info) for path, data, info in files.copied(raw)}
    if notes.path.is_dir():
        live = _quiet(notes)
        kept = keep(notes.copy)
        was = {path: data for path, data, _ in files.copied(kept)} if kept else {}
    else:
        keep(None)
        notes.path.mkdir(parents=True)
        live, was = set(), {}
    more: dict[str, int] = {}
    left = [*sorted((live | was.keys()) - listed.keys()), *listed]
    for again in (True, False):
        whys: dict[str, str] = {}
        for path in left:
            why, added = _restored(notes, path, was.get(path), listed.get(path))
            whys |= {path: why} if why else {}
            more |= {path: added} if added else {}
        left = list(whys)
        if left and not again:
            rest = f", and {len(left) - 1} more" if len(left) > 1 else ""
            said = f"{notes.path / left[0]}: {whys[left[0]]}{rest}; it is not restored"
            raise Locked(said, _HINT)
    return more


def _quiet(notes: "MarkdownStore") -> set[str]:
    """Return the files of a memory root that nobody writes to; raises Locked when somebody does.

    What a killed process left beside them is settled first, so that nothing is carried later.
    """
    files.settle(notes.path, notes.wanted)
    walked = files.walk(notes.path, notes.wanted)
    there = {found.path: found.stat for found in walked if not found.why}
    for path in sorted(there):
        with _opened(notes.path, path) as handle:
            if pids := writers(handle):
                said = f"{notes.path / path}: process {pids[0]} has it open for writing"
                raise Locked(said, _HINT)
    if any(abs(time.time() - info.st_mtime) <= notes.pace.recent for info in there.values()):
        time.sleep(notes.pace.still)
    for path, before in sorted(there.items()):
        now = files.found(notes.path, path)
        was = before.st_size, before.st_mtime_ns
        if now is None or (now.stat.st_size, now.stat.st_mtime_ns) != was:
            raise Locked(f"{notes.path / path} is being written", _HINT)
    return set(there)


def _restored(
    notes: "MarkdownStore",
    path: str,
    was: bytes | None,
    wanted: tuple[bytes, dict[str, Any]] | None,
) -> tuple[str, int]:
    """Restore one file; returns why it could not be, and how many lines were added to it."""
    found = files.found(notes.path, path)
    if wanted and found and found.why:  # a link, or what is no file: not the memory's own
        data, info = wanted
        files.put(notes.path, path, data, info["mode"], info["mtime_ns"])
        return "", 0
    data = wanted[0] if wanted else b""

    def build(now: bytes | None) -> bytes:
        came = lines(now or b"") - lines(was or b"")
        torn = b"\n" if came and data and not data.endswith(b"\n") else b""
        return data + torn + joined(came)

    # What a file was is kept already, so it needs no undo.
    swap = Swap(build, lambda: None, notes.pace, notes.locks(path), make=wanted is not None)
    if why := swapped(notes.path, path, swap):
        return why, 0
    if wanted is None and not _gone(notes, path):
        return "a process has it open for writing", 0
    return "", _more(notes.path, path, *wanted) if wanted else _more(notes.path, path, b"", {})


def _gone(notes: "MarkdownStore", path: str) -> bool:
    """Remove a file that says nothing any more; false while somebody has it open."""
    with (
        contextlib.suppress(FileNotFoundError, Incomplete),
        hold(notes.locks(path)),
        files.folder_of(notes.path, path) as (folder, name),
    ):
        drop(folder, name, notes.pace.grace, notes.pace.limit)
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size > 0
    return True


def _more(root: Path, path: str, data: bytes, info: dict[str, Any]) -> int:
    """Return how many lines a file has besides those of its copy; else give it the mode and time."""
    with contextlib.suppress(Incomplete), _opened(root, path) as handle:
        now, there = os.fstat(handle), read_fd(handle)
        if there == data and info:
            os.fchmod(handle, info["mode"])
            os.utime(handle, ns=(now.st_atime_ns, info["mtime_ns"]))
            os.fsync(handle)
        return sum((lines(there) - lines(data)).values())
    return 0


@contextlib.contextmanager
def _opened(root: Path, path: str) -> Iterator[int]:
    with files.folder_of(root, path) as (folder, name), opened(folder, name) as handle:
        yield handle
