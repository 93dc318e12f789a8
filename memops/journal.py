"""Journals: files of JSON lines that only grow, by which what was cut off is gone on with."""

import io
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memops.errors import Corrupt
from memops.failpoints import failpoint
from memops.files import digest, json_value, sync, write

_LINE = re.compile(rb'\{"sum": "([0-9a-f]{16})", "entry": (\{.*\})\}', re.DOTALL)
_JSON = json.JSONEncoder(ensure_ascii=False, default=str).encode


class Journal:
    """A file of JSON lines that only grows; each entry, with its digest, is on disk when `add` returns.

    A last line without an end was torn by a crash and never acknowledged: it is passed over, then cut off.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, *entries: dict[str, Any]) -> None:
        """Append entries and fsync once; raises OSError and is not retried."""
        self.extend(entries)

    def extend(self, entries: Iterable[dict[str, Any]]) -> int:
        """Append entries as `add` does, each made into a line before the next comes; returns how many."""
        fresh = not self.path.exists()
        lines, count = io.BytesIO(), 0
        for entry in entries:
            lines.write(_line(entry))
            count += 1
        data = lines.getbuffer()
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            _cut_torn(handle)
            failpoint("journal-write")
            while data:
                data = data[os.write(handle, data) :]
            failpoint("journal-sync")
            os.fsync(handle)
        finally:
            os.close(handle)
        if fresh:
            sync(self.path.parent)
        failpoint("journal-done")
        return count

    def entries(self) -> list[dict[str, Any]]:
        """Return every acknowledged entry; raises Corrupt, naming the line, for a damaged one."""
        return [entry for _, entry in self._lines()]

    def renew(self) -> None:
        """Write the acknowledged entries anew; a device that failed once may hold none of them."""
        if self.path.exists():
            write(self.path, b"".join(line + b"\n" for line, _ in self._lines()))

    def rewrite(self, entries: Iterable[dict[str, Any]]) -> None:
        """Put entries in the place of all that there are."""
        write(self.path, b"".join(_line(entry) for entry in entries))

    def _lines(self) -> list[tuple[bytes, dict[str, Any]]]:
        if not self.path.exists():
            return []
        *lines, tail = self.path.read_bytes().split(b"\n")
        if tail and _entry(tail[:-1]) is not None:  # a whole line and one more byte: no torn line
            lines.append(tail)
        found = []
        for nth, line in enumerate(lines, 1):
            entry = _entry(line)
            if entry is None:
                raise Corrupt(f"{self.path}, line {nth}: not as it was written")
            found.append((line, entry))
        return found


def _line(entry: dict[str, Any]) -> bytes:
    data = _JSON(entry).encode()
    return b'{"sum": "%s", "entry": %s}\n' % (_sum(data), data)


def _entry(line: bytes) -> dict[str, Any] | None:
    """What a line says, or None for one that `_line` did not write."""
    found = _LINE.fullmatch(line)
    if found is None or found[1] != _sum(found[2]):
        return None
    entry: dict[str, Any] | None = json_value(found[2])
    return entry


def _sum(data: bytes) -> bytes:
    return digest(data)[:16].encode()


def _cut_torn(handle: int) -> None:
    end = keep = os.lseek(handle, 0, os.SEEK_END)
    while keep:
        start = max(0, keep - (1 << 16))
        at = os.pread(handle, keep - start, start).rfind(b"\n")
        if at >= 0:
            keep = start + at + 1
            break
        keep = start
    if keep < end:
        os.ftruncate(handle, keep)
