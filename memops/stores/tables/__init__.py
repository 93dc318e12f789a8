"""Tables: a file of records in our own columns, as JSON lines or as Parquet.

Both are strict: what does not fit a column is an error that names the line. A file is rewritten
whole and atomically, never in place; lines that no change touches keep their bytes.
"""

import hashlib
import io

import polars as pl

from memops.errors import Corrupt
from memops.schema import conform
from memops.stores.base import Content, FileStore, Lines, last_read
from memops.stores.formats import lines_of, packed, parsed, unpacked


class Jsonl(FileStore):
    """A file of JSON lines; absent fields take their defaults, unknown ones are an error."""

    kind = "jsonl"
    file = "records.jsonl"

    def table(self, data: bytes, where: str) -> pl.DataFrame:
        """Return the lines as a table."""
        return parsed(data, where)

    def content(self, data: bytes, where: str) -> Content:
        """Return what the lines say, of which only those are parsed that are new."""
        lines = lines_of(data)
        digests = pl.Series("line", map(_digest, lines), pl.Binary)
        before = last_read(self.kind)
        if before and (known := _as_before(lines, digests, before, where)):
            return known
        return super().content(data, where)._replace(lines=digests)

    def lines(self, data: bytes, where: str) -> Lines:
        """Return the lines as they stand."""
        return dict(
            zip(self._known(data, where).order, map(bytes.decode, lines_of(data)), strict=True)
        )

    def written(self, lines: Lines) -> bytes:
        """Return the lines, each with its end."""
        out = io.BytesIO()
        out.writelines(f"{line}\n".encode() for line in lines.values())
        return out.getvalue()


class Parquet(FileStore):
    """A Parquet file with page checksums, verified when it is read."""

    kind = "parquet"
    file = "records.parquet"

    def table(self, data: bytes, where: str) -> pl.DataFrame:
        """Return the file's table."""
        return unpacked(data, where)

    def written(self, lines: Lines) -> bytes:
        """Return a table of what the lines say, in their order."""
        rows = conform(parsed("\n".join(lines.values()).encode(), "records"))
        order = pl.DataFrame({"id": list(lines)}, schema={"id": pl.String()})
        return packed(order.join(rows, on="id", maintain_order="left"))


def _as_before(
    lines: list[bytes], digests: pl.Series, before: Content, where: str
) -> Content | None:
    """What lines say of which most stood in the file that was read last; None if it must be read whole."""
    places = before.records["id"].search_sorted(before.order)
    known = pl.DataFrame({"line": before.lines, "at": places})
    at = digests.to_frame().join(known, on="line", how="left", maintain_order="left")["at"]
    fresh = at.is_null()
    if fresh.sum() * 2 > len(lines):
        return None
    try:
        new = parsed(b"\n".join(lines[nth] for nth in fresh.arg_true()), where)
        records = pl.concat([before.records[at.drop_nulls()], conform(new, where)]).sort("id")
    except Corrupt:  # which names its line among the new ones only
        return None
    if records["id"].is_duplicated().any():
        return None
    order = pl.Series("id", before.records["id"].gather(at), pl.String)
    order = order.scatter(fresh.arg_true(), new["id"])
    return Content(records, order, digests)


def _digest(line: bytes) -> bytes:
    """A digest of a line, which nobody can make another line have."""
    return hashlib.blake2b(line, digest_size=16).digest()
