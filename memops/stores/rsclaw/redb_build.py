"""redb files, written whole, ready for `os.replace`: no free page of them holds deleted text.

`recovery_required` makes redb rebuild its page allocator on the next open.
"""

import struct
from collections.abc import Iterator, Mapping

from memops.errors import Corrupt
from memops.stores.rsclaw import redb

_FANOUT = 40


def build(tables: Mapping[str, redb.Table], region: int = redb.REGION) -> bytes:
    """Return a fresh file with these tables; rows may come in any order.

    `region` is the number of pages in a region, a power of two. Raises Corrupt for a multimap
    table, which cannot be rebuilt, and for rows that no region holds.
    """
    out = _Pages(region)
    names = {name.encode(): table for name, table in tables.items()}
    master = [(name, _definition(out, name, names[name])) for name in sorted(names)]
    root = _grow(out, master, None, None) if master else None
    slot = bytearray(128)
    slot[0] = 3
    if root:
        slot[1] = 1
        slot[8:40] = _header(root, len(master))
    struct.pack_into("<Q", slot, 104, 1)
    slot[112:128] = redb.checksum(bytes(slot[:112]))
    head = bytearray(redb.PAGE)
    head[:9] = redb.MAGIC
    head[9] = redb.RECOVERY  # primary slot 0
    pages = max(out.next, 1)
    struct.pack_into("<5I", head, 12, redb.PAGE, 0, region, *divmod(pages, region))
    head[64:192] = head[192:320] = slot
    return bytes(head) + out.body(pages)


class _Pages:
    """Pages as they are handed out, each aligned to its own size within its region."""

    def __init__(self, region: int) -> None:
        self.region, self.next, self.pages = region, 0, list[tuple[int, bytes]]()

    def put(self, body: bytes) -> redb.Root:
        order = 0
        while (redb.PAGE << order) < len(body):
            order += 1
        size = 1 << order
        if size > self.region:
            raise Corrupt(f"a row of {len(body)} bytes does not fit into a redb region")
        at = (self.next + size - 1) // size * size
        self.pages.append((at, body))
        self.next = at + size
        number = (order << 59) | (at // self.region << 20) | (at % self.region >> order)
        return number, redb.checksum(body)

    def body(self, pages: int) -> bytes:
        out = bytearray(pages * redb.PAGE)
        for at, body in self.pages:
            out[at * redb.PAGE : at * redb.PAGE + len(body)] = body
        return bytes(out)


def _definition(out: _Pages, name: bytes, table: redb.Table) -> bytes:
    """A table's entry in the list of tables, its rows laid out before it."""
    if table.sort != redb.PLAIN:
        said = f"table {name.decode()!r} is a multimap, which cannot be carried over"
        raise Corrupt(said, "this file can be read but not rewritten")
    rows = sorted(table.rows)
    widths = (table.key_width, table.value_width)
    root = _header(_grow(out, rows, *widths), len(rows)) if rows else None
    head = struct.pack("<BQ", redb.PLAIN, len(rows)) + (b"\1" + root if root else bytes(33))
    for width in widths:
        head += struct.pack("<BI", width is not None, width or 0)
    head += struct.pack("<III", *table.alignment, len(table.key_type))
    return head + table.key_type + table.value_type


def _grow(
    out: _Pages, rows: list[redb.Row], key_width: int | None, value_width: int | None
) -> redb.Root:
    """Lay out a B+tree and return its root; leaves fill one page unless a row alone is larger."""
    level: list[tuple[bytes, redb.Root]] = []
    leaf: list[redb.Row] = []
    size, per_row = 4, 4 * (key_width is None) + 4 * (value_width is None)
    for key, value in rows:
        need = per_row + len(key) + len(value)
        if leaf and (size + need > redb.PAGE or len(leaf) == 0xFFFF):
            level.append((leaf[-1][0], out.put(_leaf(leaf, key_width, value_width))))
            leaf, size = [], 4
        leaf.append((key, value))
        size += need
    level.append((leaf[-1][0], out.put(_leaf(leaf, key_width, value_width))))
    while len(level) > 1:
        groups = _handfuls(level, _FANOUT)
        level = [(some[-1][0], out.put(_branch(some, key_width))) for some in groups]
    return level[0][1]


def _handfuls(
    level: list[tuple[bytes, redb.Root]], most: int
) -> Iterator[list[tuple[bytes, redb.Root]]]:
    """Cut a level into groups of two or more: a branch with one child is not allowed."""
    at = 0
    while at < len(level):
        take = most - 1 if len(level) - at == most + 1 else most
        yield level[at : at + take]
        at += take


def _leaf(rows: list[redb.Row], key_width: int | None, value_width: int | None) -> bytes:
    at = 4 + len(rows) * (4 * (key_width is None) + 4 * (value_width is None))
    tables = b""
    for nth, width in enumerate((key_width, value_width)):
        ends = []
        for row in rows:
            at += len(row[nth])
            ends.append(at)
        tables += struct.pack(f"<{len(rows)}I", *ends) if width is None else b""
    parts = (b"".join(row[nth] for row in rows) for nth in (0, 1))
    return struct.pack("<BBH", redb.LEAF, 0, len(rows)) + tables + b"".join(parts)


def _branch(children: list[tuple[bytes, redb.Root]], key_width: int | None) -> bytes:
    keys = [key for key, _ in children[:-1]]
    at = 8 + 24 * len(children) + 4 * len(keys) * (key_width is None)
    ends = []
    for key in keys:
        at += len(key)
        ends.append(at)
    return (
        struct.pack("<BBHI", redb.BRANCH, 0, len(keys), 0)
        + b"".join(root[1] for _, root in children)
        + struct.pack(f"<{len(children)}Q", *(root[0] for _, root in children))
        + (struct.pack(f"<{len(keys)}I", *ends) if key_width is None else b"")
        + b"".join(keys)
    )


def _header(root: redb.Root, length: int) -> bytes:
    return struct.pack("<Q", root[0]) + root[1] + struct.pack("<Q", length)
