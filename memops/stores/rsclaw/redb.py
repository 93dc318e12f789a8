"""redb files (format v3), read without a lock by their checksums.

A redb file is a header with two commit slots and a forest of copy-on-write B+trees whose every
page is covered by an XXH3-128 checksum that its parent holds, up to the slot. So a reader needs no
lock: it reads the bytes, walks what the primary slot names, and either everything verifies or the
file moved under it and is read again.

Layout: redb's docs/design.md. Checked against files of redb 4.1.0.
"""

import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import xxhash

from memops.errors import Corrupt, NoSpace, StoreNotFound

MAGIC = b"redb\x1a\x0a\xa9\x0d\x0a"
PAGE = 4096
REGION = 1 << 20  # pages; what redb 4.1.0 writes for a new file
PLAIN, MULTIMAP = 3, 4
LEAF, BRANCH = 1, 2
_DEPTH = 32
_PRIMARY, RECOVERY, _TWO_PHASE = 1, 2, 4

Root = tuple[int, bytes]  # page number, checksum
Row = tuple[bytes, bytes]


@dataclass(frozen=True)
class Table:
    """One table: its types as redb spells them and its rows, sorted by key.

    A width of None is a variable one. Rows of a multimap table are its raw leaf entries, which
    can be read but not rebuilt.
    """

    key_type: bytes
    value_type: bytes
    rows: list[Row]
    key_width: int | None = None
    value_width: int | None = None
    sort: int = PLAIN
    alignment: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Database:
    """What a file holds as of its last commit."""

    tables: dict[str, Table]
    transaction: int
    recovery_required: bool


def parse(data: bytes, where: str) -> Database:
    """Return what the primary commit holds; raises Corrupt for anything that does not verify."""
    try:
        return _File(data, where).database()
    except (struct.error, IndexError, UnicodeDecodeError, OverflowError) as error:
        raise Corrupt(f"{where}: damaged redb file: {error}", _HINT) from error


def read(
    path: Path, tries: int = 12, pause: Callable[[float], None] = time.sleep
) -> tuple[bytes, Database]:
    """Return the bytes of a file, and what they hold, of one moment; retries while it moves.

    The pauses double from 2 ms, 8 s in all: a gateway commits a few times a minute, a busy writer
    some thousand times a second. Raises StoreNotFound or Corrupt.
    """
    for attempt in range(tries):
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise StoreNotFound(f"{path}: no such file") from error
        except (IsADirectoryError, PermissionError) as error:
            raise StoreNotFound(f"{path}: cannot be read: {error.strerror}") from error
        except OSError as error:
            raise NoSpace(f"{path}: the device failed: {error.strerror}") from error
        try:
            return data, parse(data, str(path))
        except Corrupt:
            if attempt == tries - 1 or _still(path, data, attempt):
                raise
            pause(0.002 * 2**attempt)
    raise AssertionError("unreachable")


_HINT = "restore a snapshot, or let the gateway open and repair the file once, then try again"


class _File:
    """A file's bytes and the geometry that finds pages in them."""

    def __init__(self, data: bytes, where: str) -> None:
        self.data, self.where = data, where
        if not data:
            raise self.bad("is empty")
        if data[:9] != MAGIC:
            raise Corrupt(f"{where}: not a redb file", "give the path of rsclaw's memory.redb")
        if len(data) < 320 or data[9] > 7:
            raise self.bad("has no valid header")
        self.page, header, pages, _, _ = struct.unpack_from("<5I", data, 12)
        self.region_header = header * self.page
        self.region = self.region_header + pages * self.page
        self.recovery = bool(data[9] & RECOVERY)
        self.slot = self.primary()

    def bad(self, what: str) -> Corrupt:
        return Corrupt(f"{self.where}: damaged redb file: it {what}", _HINT)

    def primary(self) -> bytes:
        """The slot that the header names; refused when the other one is newer without reason."""
        first = self.data[9] & _PRIMARY
        named, other = (self.data[64 + 128 * n : 192 + 128 * n] for n in (first, 1 - first))
        if checksum(named[:112]) != named[112:]:
            raise self.bad("has a primary commit slot that does not verify")
        if named[0] != 3:
            said = f"{self.where}: redb file format v{named[0]}; only v3 can be read"
            hint = "start a current rsclaw once: it upgrades the file and keeps a .bak"
            raise Corrupt(said, hint)
        newer = struct.unpack_from("<Q", other, 104) > struct.unpack_from("<Q", named, 104)
        mid_commit = self.recovery and self.data[9] & _TWO_PHASE
        if newer and not mid_commit and checksum(other[:112]) == other[112:]:
            raise self.bad("names an older commit than its last")
        return named

    def database(self) -> Database:
        tables = {}
        if self.slot[1]:
            root, length = _root(self.slot[8:40])
            rows = list(self.rows(root, None, None))
            self.same(len(rows), length, "list of tables")
            tables = {name.decode(): self.table(name.decode(), value) for name, value in rows}
        transaction = struct.unpack_from("<Q", self.slot, 104)[0]
        return Database(tables, transaction, self.recovery)

    def table(self, name: str, value: bytes) -> Table:
        """A table from its definition: sort, length, root, fixed widths, alignments, types."""
        length, size = struct.unpack_from("<Q", value, 1)[0], struct.unpack_from("<I", value, 60)[0]
        key_width, value_width = (
            struct.unpack_from("<I", value, at + 1)[0] if value[at] else None for at in (42, 47)
        )
        types = value[64:]
        widths = (key_width, None if value[0] == MULTIMAP else value_width)
        rows = list(self.rows(_root(value[10:42])[0], *widths)) if value[9] else []
        if value[0] not in (PLAIN, MULTIMAP):
            raise self.bad(f"has a table {name!r} of unknown sort {value[0]}")
        if value[0] == PLAIN:
            self.same(len(rows), length, f"table {name!r}")
        return Table(
            types[:size], types[size:], rows, key_width, value_width, value[0],
            struct.unpack_from("<2I", value, 52),
        )  # fmt: skip

    def same(self, found: int, length: int, what: str) -> None:
        if found != length:
            raise self.bad(f"has {found} rows in its {what}, not the {length} that it counts")

    def rows(
        self, root: Root, key_width: int | None, value_width: int | None, depth: int = 0
    ) -> Iterator[Row]:
        """The rows under a page, every page verified before it is believed."""
        body = self.body(root[0])
        count = struct.unpack_from("<H", body, 2)[0]
        if depth > _DEPTH or count == 0 or body[0] not in (LEAF, BRANCH):
            raise self.bad(f"has a page of type {body[0]} with {count} keys where a tree should be")
        if body[0] == LEAF:
            keys, values = _leaf_spans(body, count, key_width, value_width)
            self.verify(body, values[-1], root[1])
            for (a, b), (c, d) in zip(pairwise(keys), pairwise(values), strict=True):
                yield body[a:b], body[c:d]
            return
        children = 8 + 16 * (count + 1)
        keys_at = children + 8 * (count + 1)
        end = keys_at + count * (4 if key_width is None else key_width)
        if key_width is None:
            end = struct.unpack_from("<I", body, end - 4)[0]
        self.verify(body, end, root[1])
        for nth, page in enumerate(struct.unpack_from(f"<{count + 1}Q", body, children)):
            child = (page, body[8 + 16 * nth : 24 + 16 * nth])
            yield from self.rows(child, key_width, value_width, depth + 1)

    def body(self, number: int) -> bytes:
        """A page by its number: order in the top five bits, then region and index, 20 bits each."""
        order, region = number >> 59, (number >> 20) & 0xFFFFF
        size = self.page << order
        start = self.page + region * self.region + self.region_header
        start += (number & (0xFFFFF >> order)) * size
        if size < 8 or start + size > len(self.data):
            raise self.bad(f"is cut short: a page lies beyond its {len(self.data)} bytes")
        return self.data[start : start + size]

    def verify(self, body: bytes, end: int, named: bytes) -> None:
        if not 0 < end <= len(body) or checksum(body[:end]) != named:
            raise self.bad("has a page whose checksum does not verify")


def _leaf_spans(
    body: bytes, count: int, key_width: int | None, value_width: int | None
) -> tuple[list[int], list[int]]:
    """Where keys and values begin and end; variable widths bring a table of ends."""
    at = 4
    ends: list[list[int] | None] = []
    for width in (key_width, value_width):
        ends.append(list(struct.unpack_from(f"<{count}I", body, at)) if width is None else None)
        at += 4 * count * (width is None)
    keys = [at, *(ends[0] or [at + (key_width or 0) * (n + 1) for n in range(count)])]
    at = keys[-1]
    return keys, [at, *(ends[1] or [at + (value_width or 0) * (n + 1) for n in range(count)])]


def _root(raw: bytes) -> tuple[Root, int]:
    page, length = struct.unpack_from("<Q", raw, 0)[0], struct.unpack_from("<Q", raw, 24)[0]
    return (page, raw[8:24]), length


def checksum(body: bytes) -> bytes:
    """Return the XXH3-128 of some bytes, little-endian as redb stores it."""
    return xxhash.xxh3_128(body).digest()[::-1]


def _still(path: Path, data: bytes, attempt: int) -> bool:
    """Whether a file that did not verify is standing still, so that another try is in vain."""
    try:
        return attempt >= 3 and path.read_bytes() == data
    except OSError:
        return False
