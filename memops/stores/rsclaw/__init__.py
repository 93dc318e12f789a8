"""rsclaw: a gateway's `memory.redb`, read while it runs and rebuilt while it stands still.

Reading takes no lock and touches nothing. rsclaw keeps every document in memory and offers no way
to change one, so writing means: the gateway is stopped (its lock on the file is free), the whole
file is built anew, verified, and put in place of the old one in one step. Rows that no change
touches keep their bytes, rows that rsclaw cannot parse too, and tables that are not ours as well.

What the gateway makes of a change: a superseded row it knows itself (its own tag), and ranks low;
a quarantined or tombstoned one it does not see at all, as it lies in a table that rsclaw never
opens, bytes and vector kept, until it is released or deleted; a changed text has no vector, which
it embeds when it next starts. Its full-text index beside the store (`var/data/search`) and
`workspace/MEMORY.md` may still hold the old text until it rebuilds them.
"""

import json
from base64 import b64encode
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from memops.errors import Corrupt
from memops.schema import only
from memops.stores import Keep, Undo, Usual, Work, Written
from memops.stores.disk import put_aside, replace_whole, sweep
from memops.stores.rsclaw import redb
from memops.stores.rsclaw.disk import alone, back_up, forget, install
from memops.stores.rsclaw.docs import (
    ARCHIVES,
    DOCS,
    Doc,
    Gateway,
    Row,
    to_records,
    unpacked,
    widths,
)
from memops.stores.rsclaw.redb_build import build
from memops.stores.rsclaw.write import FILE, Rows, changed, reverted

_TABLES = (DOCS, *ARCHIVES.values())


class Rsclaw(Gateway):
    """A gateway's memory: `rsclaw:PATH/memory.redb`, or its API, `rsclaw:http://HOST:PORT`."""

    paths: ClassVar[tuple[str, ...]] = ("PATH/memory.redb", "http://HOST:PORT")
    usual: ClassVar[Usual] = (
        "RSCLAW_BASE_DIR", ("~/.rsclaw", "~/.rsclaw-*"), "var/data/memory/memory.redb",
    )  # fmt: skip
    capabilities: ClassVar[frozenset[str]] = Gateway.capabilities | {
        "insert", "update", "supersede", "delete", "redact", "purge", "restore",
    }  # fmt: skip

    def __new__(cls, path: str) -> Any:
        """Return the store for a file, or the one for an API."""
        if path.startswith(("http://", "https://")):
            from memops.stores.rsclaw.http import RsclawApi

            return RsclawApi(path)
        return super().__new__(cls)

    def __init__(self, path: str) -> None:
        found = Path(path).expanduser().absolute()
        self.path = found if found.suffix == ".redb" else found / FILE
        self.address = f"{self.kind}:{path}"

    def place(self) -> Path:
        """Return where the file is, or would be."""
        return self.path.resolve()

    def identity(self) -> dict[str, str]:
        """Return kind, path and the types of the table of documents."""
        _, database = redb.read(self.path)
        docs = _docs(database, self.path)
        schema = (docs.key_type + b" to " + docs.value_type).decode().replace("\x01", "")
        return {"kind": self.kind, "path": str(self.path.resolve()), "schema": f"redb v3, {schema}"}

    def copy(self, into: Path) -> dict[str, Any]:
        """Write the bytes that verified; the notes count what is in them."""
        data, database = redb.read(self.path)
        _docs(database, self.path)
        replace_whole(into / FILE, data)
        rows = list(_rows(database))
        lost = sorted(row.key.decode(errors="replace") for row in rows if _doc(row) is None)
        return {
            "consistency": "checksummed",
            "format": "redb v3",
            "transaction": database.transaction,
            "recovery_required": database.recovery_required,
            "tables": {name: len(table.rows) for name, table in database.tables.items()},
            "rows": len(rows) - len(lost),
            "unparsed": len(lost),
            "unparsed_ids": lost[:100],
            "vector_widths": {str(n): count for n, count in widths(rows).items()},
        }

    def load(self, raw: Path, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the records of such a copy."""
        return only(_records(redb.read(raw / FILE)[1], raw / FILE), ids)

    def read(self, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the live store's records; rows that rsclaw cannot parse are in `copy`'s notes."""
        return only(_records(redb.read(self.path)[1], self.path), ids)

    def write(self, work: Work) -> list[Written]:
        """Rebuild the file with one batch of changes, if no gateway has it open."""
        with alone(self.path):
            _, database = redb.read(self.path)
            old, live = _values(database), _records(database, self.path)
            answers, undo, new = changed(old, live, work)
            if undo:
                data = build(_tables(database, new))
                work.keep(undo)
                back_up(self.path, _lines(database), work.now)
                install(self.path, data)
        return answers

    def revert(self, undo: list[Undo]) -> list[Written]:
        """Give rows their exact bytes back where what stands there is still ours."""
        with alone(self.path):
            _, database = redb.read(self.path)
            values = _values(database)
            answers = [reverted(values, entry) for entry in undo]
            if any(answer.state == "applied" for answer in answers):
                install(self.path, build(_tables(database, values)))
        return answers

    def settle(self) -> None:
        """Remove the draft of a file that was to be installed."""
        sweep(self.path)

    def restore(self, raw: Path, keep: Keep) -> dict[str, int]:
        """Put the copy in place of the file, which no gateway has open from before it is kept."""
        data, _ = redb.read(raw / FILE)
        if not self.path.exists():
            keep(None)
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            install(self.path, data)
            return {}
        with alone(self.path):
            try:
                keep(self.copy)
            except Corrupt:
                put_aside(self.path)
                keep(None)
            install(self.path, data)
        return {}

    def purge(self, ids: Collection[str], texts: Collection[str] = ()) -> None:
        """Rebuild the file without these rows and forget their text around it.

        The backups lose their lines; rsclaw's full-text index and a copy that it made of an older
        file go whole if need be (it makes the index anew). What the agent wrote elsewhere, in
        `workspace/MEMORY.md` and its transcripts, is not this store's.
        """
        self.settle()
        with alone(self.path):
            data, gone = _without(self.path, ids)
            # What lies around goes first: it is found by what the file says.
            keys = {origin.split("#", 1)[1] for origin in gone["origin"]} | {*ids}
            forget(self.path, keys, {*gone["text"], *texts})
            install(self.path, data)

    def forget(self, raw: Path, ids: Collection[str]) -> None:
        """Rebuild a copy without these rows."""
        install(raw / FILE, _without(raw / FILE, ids)[0])


def _docs(database: redb.Database, path: Path) -> redb.Table:
    """The table of documents; an empty one for a store that has none yet."""
    table = database.tables.get(DOCS, redb.Table(b"\x01&str", b"\x01&[u8]", []))
    if table.sort != redb.PLAIN or table.key_width is not None or table.value_width is not None:
        raise Corrupt(f"{path}: its table {DOCS!r} is not rsclaw's", "check the address")
    return table


def _rows(database: redb.Database) -> Iterator[Row]:
    for name in _TABLES:
        if name in database.tables:
            yield from (Row(name, key, value) for key, value in database.tables[name].rows)


def _doc(row: Row) -> Doc | None:
    found = unpacked(row.value)
    try:
        return None if found is None else Doc(row.table, row.key.decode(), found[1])
    except UnicodeDecodeError:
        return None


def _records(database: redb.Database, path: Path) -> pl.DataFrame:
    _docs(database, path)
    docs = (_doc(row) for row in _rows(database))
    return to_records((doc for doc in docs if doc is not None), str(path))


def _lines(database: redb.Database) -> Iterator[bytes]:
    """A backup's lines: each document's JSON as it lies there; what does not parse, in base64."""
    for row in _rows(database):
        lost = {"key": row.key.decode(errors="replace"), "value": b64encode(row.value).decode()}
        found = unpacked(row.value)
        yield json.dumps(found[1] if found else lost, ensure_ascii=False).encode()


def _without(path: Path, ids: Collection[str]) -> tuple[bytes, pl.DataFrame]:
    """The file built anew without these documents, and the documents."""
    _, database = redb.read(path)
    gone = _records(database, path).filter(pl.col("id").is_in(list(ids)))
    places = {tuple(origin.split("#", 1)) for origin in gone["origin"]}
    kept = {at: value for at, value in _values(database).items() if at not in places}
    return build(_tables(database, kept)), gone


def _values(database: redb.Database) -> Rows:
    return {
        (row.table, row.key.decode(errors="surrogateescape")): row.value for row in _rows(database)
    }


def _tables(database: redb.Database, values: Rows) -> dict[str, redb.Table]:
    """All tables of the file, with these values in those that hold documents."""
    own: dict[str, list[redb.Row]] = {name: [] for name in _TABLES}
    for (table, key), value in values.items():
        own[table].append((key.encode(errors="surrogateescape"), value))
    like = database.tables.get(DOCS, redb.Table(b"\x01&str", b"\x01&[u8]", []))
    made = {
        name: replace(database.tables.get(name, like), rows=sorted(rows))
        for name, rows in own.items()
        if rows or name == DOCS
    }
    return {k: t for k, t in database.tables.items() if k not in _TABLES} | made
