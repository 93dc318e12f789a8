"""Files: the few ways in which memops touches a disk; 0600, folders 0700, and under their names only when whole."""

import glob
import gzip
import hashlib
import io
import json
import os
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import Corrupt, MemopsError, NoSpace
from memops.failpoints import failpoint

STEP = 4 << 20
"""Bytes that are put on disk at a time: whoever else syncs a file waits for what is on its way."""
_TELLING = 4  # characters from which the beginning of a name may stand for it
_LONG = 64  # bytes of a name that a temporary name holds whole; systems allow 255, some 143
_TICK = 50_000_000  # nanoseconds in which the clocks of file systems, most of which step by four million, move
_digests: dict[tuple[int, ...], str] = {}
_EASY, _RATIO = 64 << 20, 50  # what a gzip file may unfold to: so many bytes, or times its own
UNREADABLE = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises of a file that is no sound Parquet."""


def folder(path: Path) -> Path:
    """Return the folder, made 0700 with its parents if absent, for good; or raises NoSpace."""
    barred = NoSpace(f"{path}: no permission to write", "give --state DIR or mend the mode")
    try:
        for part in reversed([p for p in (path, *path.parents) if not p.exists()]):
            part.mkdir(mode=0o700, exist_ok=True)
            sync(part.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        said = f"{path} cannot be a folder: a file is in the way"
        raise NoSpace(said, "give --state DIR") from error
    except PermissionError as error:
        raise barred from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise barred
    return path


def entry(folder: Path, name: str) -> Path:
    """Return where a folder keeps what is named so, or begins so; raises MemopsError for what several begin with."""
    path = folder / name
    if path.exists() or len(name) < _TELLING or Path(name).name != name:
        return path
    found = sorted(folder.glob(f"{glob.escape(name)}*"))
    if len(found) > 1:
        some = ", ".join(p.name for p in found[:4]) + (" ..." if len(found) > 4 else "")
        raise MemopsError(f"{name!r} names {len(found)} things in {folder}", f"say which: {some}")
    return found[0] if found else path


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: temporary name, fsync, rename, fsync of the folder."""
    write_all(path.parent, {path.name: data})


def write_all(folder: Path, held: Mapping[str, bytes]) -> None:
    """Write files of a folder so, in their order; all of them are there to stay when it returns."""
    for name, data in held.items():
        _put(folder / name, data, os.fsync)
    sync(folder)


def keep(path: Path, data: bytes) -> None:
    """Write a file whole or not at all that need not last: it may be made anew, or is put on disk later."""
    _put(path, data, lambda handle: None)


def _put(path: Path, data: bytes, settle: Callable[[int], None]) -> None:
    own = f".{short(path.name)}."
    part = path.with_name(f"{own}{os.getpid()}.part")
    for left in path.parent.glob(f"{glob.escape(own)}*.part"):
        pid = left.name.removeprefix(own).removesuffix(".part")
        if pid.isdigit() and not alive(int(pid)):
            left.unlink(missing_ok=True)
    try:
        failpoint("file-write")
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as out:
            for at in range(0, len(data), STEP):
                if at:
                    os.fdatasync(out.fileno())
                out.write(data[at : at + STEP])
                out.flush()
            settle(out.fileno())
        failpoint("file-rename")
        part.replace(path)
        failpoint("file-renamed")
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
    finally:
        part.unlink(missing_ok=True)


def packed(table: pl.DataFrame, **about: Any) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    out = io.BytesIO()
    table.write_parquet(out, **about)
    return out.getvalue()


def unpacked(
    data: bytes, where: str, hint: str = "", schema: pl.Schema | None = None
) -> pl.DataFrame:
    """Return the table of a Parquet file's bytes, with a schema's columns; raises Corrupt."""
    try:
        table = pl.read_parquet(io.BytesIO(data))
        return table.select(schema.names()).cast(schema) if schema else table
    except UNREADABLE as error:
        raise Corrupt(f"{where}: {error}", hint) from error


def digest(data: bytes | str) -> str:
    """Return the SHA-256 of bytes, or of a text in UTF-8, in hexadecimal digits."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()


def write_json(path: Path, value: Any) -> None:
    """Write one JSON value, indented, with sorted keys."""
    write(path, json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """Return the bytes that `write_json` writes."""
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=str)
    return (text + "\n").encode()


def json_digest(value: Any) -> str:
    """Return a short name for a JSON value, the same for the same value."""
    return digest(json_bytes(value))[:16]


def write_sealed(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON object with its own SHA-256, so that `read_sealed` finds any damage."""
    write_json(path, {**value, "sha256": digest(json_bytes(value))})


def read_sealed(path: Path) -> dict[str, Any]:
    """Return what `write_sealed` wrote; raises Corrupt, naming the file, for any other byte."""
    data = path.read_bytes()
    value, held = _json(path, data), digest(data)
    said = value.pop("sha256", None)
    if held not in _whole:
        if said != digest(json_bytes(value)) or json_bytes({**value, "sha256": said}) != data:
            raise Corrupt(f"{path}: not as it was written")
        _whole.add(held)
    return value


_whole: set[str] = set()
"""Digests of sealed files that this process found as they were written."""


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; raises Corrupt, naming the file, when it is not one."""
    return _json(path, path.read_bytes())


def _json(path: Path, data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
        data.decode(json.detect_encoding(data))  # which fails for text that is no Unicode
        if b"\\u" in data:  # half a character is none, either
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path}: not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise Corrupt(f"{path}: not a JSON object")
    return value


def json_value(data: bytes | str) -> Any:
    """Return the JSON value that a text is; None where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def json_object(data: bytes | str) -> dict[str, Any]:
    """Return the JSON object that a text is; an empty one where it is none."""
    value = json_value(data)
    return value if isinstance(value, dict) else {}


def json_lines(path: Path, hint: str = "") -> list[tuple[str, Any]]:
    """Return the values of a file of JSON lines, gzipped or not, each with where it stands; raises Corrupt."""
    data = gunzipped(path) if path.suffix == ".gz" else path.read_bytes()
    found = []
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path}: not UTF-8: {error}", hint) from error
    for nth, line in enumerate(lines, 1):
        where = f"{path}: line {nth}"
        try:
            found += [(where, json.loads(line))] if line.strip() else []
        except (ValueError, RecursionError) as error:
            raise Corrupt(f"{where}: not JSON: {error}", hint) from error
    return found


def refuse_other(header: dict[str, Any], known: int, path: Path) -> None:
    """Raise Corrupt for a file of another format than this memops writes."""
    if (made := header.get("format", 1)) != known:
        newer = isinstance(made, int) and made > known
        wrote = f"{'a newer' if newer else 'an earlier'} memops wrote it (format {made}"
        hint = f"{'upgrade memops, or ' if newer else ''}give --state another folder"
        raise Corrupt(f"{path}: {wrote}; this one reads {known})", hint)


def short(name: str) -> str:
    """Return a name as part of a temporary one: itself, or the digest of one that is long."""
    data = os.fsencode(name)
    return name if len(data) <= _LONG else digest(data)[:16]


def alive(pid: int) -> bool:
    """Tell whether a process is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def sync(path: Path) -> None:
    """Put a folder's entries, or a file, on disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits; a file that nobody touches is read once."""
    with path.open("rb") as handle:
        stands = _standing(handle.fileno())
        if known := _digests.get(stands):
            return known
        found = hashlib.file_digest(handle, "sha256").hexdigest()
        if _standing(handle.fileno()) == stands and time.time_ns() - stands[-1] > _TICK:
            _digests[stands] = found
        return found


def _standing(handle: int) -> tuple[int, ...]:
    said = os.fstat(handle)
    return said.st_dev, said.st_ino, said.st_size, said.st_mtime_ns, said.st_ctime_ns


def gunzipped(path: Path) -> bytes:
    """Return what a gzip file holds; raises Corrupt for a damaged one, and for a bomb."""
    allowed = max(_EASY, _RATIO * path.stat().st_size)
    try:
        with gzip.open(path) as file:
            data = file.read(allowed + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise Corrupt(f"{path}: {error}") from error
    if len(data) > allowed:
        raise Corrupt(f"{path} unfolds to too much", "split it into several files")
    return data
