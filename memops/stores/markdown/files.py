"""Markdown files: a safe walk over a memory root, exact copies of its files, and back.

Nothing outside the root is read or written: each component of a path is opened in the folder
before it and without following links; links, hard links and what is no regular file are passed
over and named.
"""

import contextlib
import errno
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from memops.errors import Corrupt, Incomplete, MemopsError, NoSpace, StoreNotFound
from memops.files import digest
from memops.safety.display import shown
from memops.stores.disk import FULL, replace_whole
from memops.stores.markdown.carry import Build
from memops.stores.markdown.carry_files import opened, read_fd, write
from memops.stores.markdown.carry_leavings import TEMPORARY, drafted, recover

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_TREE, _LIST = "files", "files.json"

Wanted = Callable[[str], bool]
"""Tells whether a path below the root (a folder's ends in a slash) belongs to the memory."""


@dataclass(frozen=True)
class Found:
    """One file of a memory root, or why it was passed over."""

    path: str
    stat: os.stat_result
    why: str = ""


def root_of(path: Path) -> Path:
    """Return a memory root that can be read; raises StoreNotFound."""
    if path.is_symlink():
        hint = f"name the folder itself: {path.resolve()}"
        raise StoreNotFound(f"{path} is a symbolic link", hint)
    if not path.is_dir():
        said = "is no folder" if path.exists() else "does not exist"
        raise StoreNotFound(f"{path} {said}", "check the store's address")
    return path


def walk(root: Path, wanted: Wanted) -> Iterator[Found]:
    """Yield the Markdown files of a memory root, sorted by path, and what was passed over."""
    root_of(root)

    def broken(error: OSError) -> None:
        raise unreadable(Path(error.filename or root), error)

    for place, folders, names, handle in os.fwalk(root, follow_symlinks=False, onerror=broken):
        base = PurePosixPath(os.path.relpath(place, root))
        below = [name for name in sorted(folders) if wanted(f"{_below(base, name)}/")]
        for name in below:
            info = os.stat(name, dir_fd=handle, follow_symlinks=False)
            if stat.S_ISLNK(info.st_mode):
                yield Found(shown(_below(base, name)), info, "a symbolic link")
        folders[:] = below
        for name in sorted(names):
            rel = _below(base, name)
            if name.endswith(".md") and not name.startswith(".tmp.") and wanted(rel):
                info = os.stat(name, dir_fd=handle, follow_symlinks=False)
                why = _refusal(rel, info, handle)
                yield Found(shown(rel) if why else rel, info, why)


def found(root: Path, path: str) -> Found | None:
    """Return one file of a memory root as `walk` would, or None where there is none."""
    try:
        with folder_of(root, path) as (folder, name):
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
            return Found(path, info, _refusal(path, info, folder))
    except Incomplete:
        return None


@contextlib.contextmanager
def folder_of(root: Path, path: str, make: bool = False) -> Iterator[tuple[int, str]]:
    """Open the folder of a file below the root, link by link refused; gives it and the name."""
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path.startswith("/"):
        hint = "only paths below the memory root are used"
        raise MemopsError(f"{path!r} leads out of {root}", hint)
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | _FLAGS)
    try:
        for part in parts[:-1]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=handle)
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _FLAGS, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, parts[-1]
    except OSError as error:
        raise unreadable(root / path, error) from error
    finally:
        os.close(handle)


def missing(root: Path, path: str) -> list[str]:
    """Return the folders of a file that are not there, the outermost first."""
    below = [*PurePosixPath(path).parents][-2::-1]
    return [str(folder) for folder in below if not os.path.lexists(root / folder)]


def unmake(root: Path, folders: Iterable[str]) -> None:
    """Remove folders that are empty, the innermost first; others stay."""
    for folder in sorted(folders, reverse=True):
        with contextlib.suppress(OSError, MemopsError), folder_of(root, folder) as (handle, name):
            os.rmdir(name, dir_fd=handle)


def read(root: Path, path: str, tries: int = 5) -> tuple[bytes, os.stat_result]:
    """Return a file's bytes in one state and that state; raises what names the file."""
    try:
        with folder_of(root, path) as (folder, name), opened(folder, name) as handle:
            for attempt in range(tries):
                before = os.fstat(handle)
                data = read_fd(handle)
                still = _state(before) == _state(os.fstat(handle)) and len(data) == before.st_size
                if still and (data or attempt >= min(2, tries - 1)):
                    return data, before
                time.sleep(0.01)  # an empty file may be one that is being written over
    except OSError as error:
        raise unreadable(root / path, error) from error
    raise Incomplete(f"{root / path} is being written without a pause", "try again later")


def copy(root: Path, wanted: Wanted, into: Path) -> dict[str, Any]:
    """Write exact copies of the files and a list of them; return notes for a manifest."""
    listed: dict[str, dict[str, Any]] = {}
    skipped: dict[str, str] = {}
    for found in walk(root, wanted):
        if found.why:
            skipped[found.path] = found.why
            continue
        data, info = read(root, found.path)
        target = into / _TREE / found.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        listed[found.path] = {
            "bytes": len(data),
            "sha256": digest(data),
            "mode": stat.S_IMODE(info.st_mode),
            "mtime_ns": info.st_mtime_ns,
        }
    text = json.dumps({"files": listed, "skipped": skipped}, indent=1, sort_keys=True)
    (into / _LIST).write_text(text + "\n", encoding="utf-8")
    size = sum(item["bytes"] for item in listed.values())
    return {"consistency": "per-file", "files": len(listed), "bytes": size, "skipped": skipped}


def copied(raw: Path) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Yield the files of a copy with their bytes and what is listed of them; raises Corrupt."""
    try:
        listed = json.loads((raw / _LIST).read_bytes())["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        said = f"{raw / _LIST}: not the list of a copy: {error}"
        raise Corrupt(said, "use another snapshot") from error
    for path in sorted(listed):
        target = raw / _TREE / path
        if ".." in PurePosixPath(path).parts or path.startswith("/"):
            raise Corrupt(f"{raw / _LIST}: {path!r} leads out of the copy")
        try:
            data = target.read_bytes()
        except OSError as error:
            raise Corrupt(f"{target}: {error.strerror}", "use another snapshot") from error
        if digest(data) != listed[path]["sha256"]:
            raise Corrupt(f"{target} has changed since it was copied", "use another snapshot")
        yield path, data, listed[path]


def rewrite(raw: Path, made: Mapping[str, Build]) -> None:
    """Make files of a copy anew, after them their list."""
    whole = json.loads((raw / _LIST).read_bytes())
    for path, data, info in copied(raw):
        if path in made and (new := made[path](data)) is not None:
            replace_whole(raw / _TREE / path, new)
            info |= {"bytes": len(new), "sha256": digest(new)}
            whole["files"][path] = info
    text = json.dumps(whole, indent=1, sort_keys=True)
    replace_whole(raw / _LIST, f"{text}\n".encode())


def settle(root: Path, wanted: Wanted) -> None:
    """Finish what a killed process left in any folder of a memory root."""
    for place, folders, _, handle in os.fwalk(root, follow_symlinks=False):
        base = PurePosixPath(os.path.relpath(place, root))
        folders[:] = sorted(name for name in folders if wanted(f"{_below(base, name)}/"))
        recover(handle)


def put(root: Path, path: str, data: bytes, mode: int, mtime_ns: int) -> None:
    """Make a file exactly this: bytes, mode and time; one that is so already is left alone."""
    with folder_of(root, path, make=True) as (folder, name):
        if _is(folder, name, data, mode, mtime_ns):
            return
        new = drafted(name)
        write(folder, new, data, mode, None)
        os.utime(new, ns=(mtime_ns, mtime_ns), dir_fd=folder)
        os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def unreadable(path: Path, error: OSError) -> MemopsError:
    """Return the error that names a file which the system refuses."""
    said = error.strerror or str(error)
    if error.errno in FULL:
        return NoSpace(f"{path}: {said}", "make room or mend the device, then run it again")
    if error.errno == errno.ELOOP:
        return Incomplete(f"{path} is a symbolic link", "memory files are never reached by links")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return Incomplete(f"{path} went away while it was read", "try again")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Incomplete(f"{path}: {said}", "run as the user that owns the store")
    return Incomplete(f"{path}: {said}", "look at the file, then run it again")


def _is(folder: int, name: str, data: bytes, mode: int, mtime_ns: int) -> bool:
    """Tell whether a regular file has these bytes, this mode and this time."""
    with contextlib.suppress(OSError), opened(folder, name) as handle:
        info = os.fstat(handle)
        same = (stat.S_IMODE(info.st_mode), info.st_mtime_ns, info.st_size)
        plain = stat.S_ISREG(info.st_mode) and same == (mode, mtime_ns, len(data))
        return plain and read_fd(handle) == data
    return False


def _below(base: PurePosixPath, name: str) -> str:
    return str(base / name)


def _state(info: os.stat_result) -> tuple[int, int, int]:
    return info.st_ino, info.st_size, info.st_mtime_ns


def _refusal(path: str, info: os.stat_result, handle: int) -> str:
    if not path.isprintable():
        return "a name that is no text"
    if stat.S_ISLNK(info.st_mode):
        return "a symbolic link"
    if not stat.S_ISREG(info.st_mode):
        return "no regular file"
    if info.st_nlink > 1 and not _ours(info, handle):
        return "a hard link"
    return ""


def _ours(info: os.stat_result, handle: int) -> bool:
    """Tell whether the second name is one that an interrupted replacement of ours left."""
    links = [n for n in os.listdir(handle) if TEMPORARY.match(n) and n.endswith(".old")]
    same = [os.stat(n, dir_fd=handle, follow_symlinks=False).st_ino == info.st_ino for n in links]
    return info.st_nlink == 1 + sum(same)
