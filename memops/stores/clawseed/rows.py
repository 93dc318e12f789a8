"""Rows of clawseed's `memories` table, with the columns of the release that last opened the store."""

import hashlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

import polars as pl

from memops.errors import Corrupt
from memops.schema import RETIRED, instant
from memops.stores.clawseed import categories
from memops.stores.sqlite import columns_in
from memops.stores.sqlite.fields import Field
from memops.stores.sqlite.table import Row, Table
from memops.stores.sqlite.values import is_text, text_of

TABLE = "memories"
UNMODELLED = "key:"
"""Stands before the key in `superseded_by` when no row has that key."""
INDEX_CHECK = "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)"
REBUILD = "INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')"
_TRIGGERS = {
    "memories_ai": ("afterinsertonmemories", "values(new.rowid"),
    "memories_ad": ("afterdeleteonmemories", "'delete',old.rowid"),
    "memories_au": ("afterupdateonmemories", "'delete',old.rowid", "values(new.rowid"),
}
_UNFINISHED = (
    "clawseed's hydration left it unfinished and it cannot open it: with clawseed stopped, run "
    "`memops store doctor STORE --repair schema --approve`"
)


def check_index(connection: sqlite3.Connection, where: object) -> None:
    """Raise Corrupt for a search index that does not say what the table says."""
    try:
        connection.execute(INDEX_CHECK)
    except sqlite3.DatabaseError as error:
        raise Corrupt(f"{where}: the search index is damaged", "restore a snapshot") from error


def content_hash(text: str) -> str:
    """Return clawseed's hash of a content: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def local(at: datetime) -> str:
    """Return an instant as clawseed writes it: local offset, never Z; UTC's at the ends of the calendar."""
    try:
        return at.astimezone().isoformat(timespec="microseconds")
    except OverflowError:
        return at.isoformat(timespec="microseconds")


def _weight(native: Any) -> float:
    return min(max(float(native), 0.0), 1.0) if isinstance(native, int | float) else 0.5


def _at(column: str) -> Field:
    """The field of a column of times; a text that is no instant is null."""
    return Field(column, lambda at: instant(str(at)), local)


class Memories(Table):
    """clawseed's table of memories, whatever columns it has."""

    name: ClassVar[str] = TABLE
    fields: ClassVar[Mapping[str, Field]] = {
        "id": Field("id", str), "key": Field("key", str), "text": Field("content", str),
        "created_at": _at("created_at"), "updated_at": _at("updated_at"),
        "scope": Field("namespace", str), "importance": Field("importance", _weight),
        "superseded_by": Field("superseded_by", str),
    }  # fmt: skip
    shown: ClassVar[Mapping[str, Field]] = {
        "subject": Field("key", categories.subject_of), "source": Field("key", categories.source_of),
        "kind": Field("category", categories.kind_of), "tier": Field("category", categories.tier_of),
        "role": Field("category", categories.role_of),
    }  # fmt: skip
    needed: ClassVar[tuple[str, ...]] = (
        "id", "key", "content", "category", "created_at", "updated_at",
    )  # fmt: skip
    content: ClassVar[tuple[str, ...]] = (
        "key", "content", "category", "namespace", "importance", "superseded_by", "updated_at",
    )  # fmt: skip
    identical: ClassVar[tuple[str, ...]] = (
        "content", "category", "namespace", "importance", "superseded_by",
    )  # fmt: skip
    stamped: ClassVar[tuple[str, ...]] = ("updated_at",)
    derived: ClassVar[tuple[str, ...]] = ("embedding", "embedding_content_hash")
    large: ClassVar[tuple[str, ...]] = ("embedding",)
    category: ClassVar[str] = "category"
    _find: Callable[[Any], Any]

    def records(self, rows: Sequence[Sequence[Any]], whole: bool = False) -> pl.DataFrame:
        """Return rows as records; where all of them are there, links are found among them."""
        id_at, key_at = (1 + self.columns.index(name) for name in ("id", "key"))
        known = {row[key_at]: row[id_at] for row in rows if row[id_at] is not None}
        self._find = known.get if whole else self._id_of
        return super().records(rows, whole)

    def told(
        self, of: Mapping[str, Sequence[Any]], rowids: Sequence[int]
    ) -> dict[str, Sequence[Any]]:
        """Return columns of records; a row without a readable id goes by its number."""
        said, links = super().told(of, rowids), of.get("superseded_by", ())
        named = zip(rowids, of["id"], said["id"], strict=True)
        said["id"] = [id_ if is_text(own) else f"rowid:{n}" for n, own, id_ in named]
        return said | {"superseded_by": [*map(self._link, links)]} if links else said

    def projected(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what these records read as; a row that is there already keeps its category."""
        query, ids = f"SELECT id, category FROM {TABLE}", records["id"].unique().to_list()
        rows = self.of_ids(query, ids)
        known = {text_of(id_): text_of(named or "") for id_, named in rows}
        native = pl.Series("_category", [known.get(id_) for id_ in records["id"]], pl.String)
        self._find = lambda link: link
        return super().projected(records.with_columns(native))

    def altered(self, before: Mapping[str, Any], after: Mapping[str, Any], now: datetime) -> Row:
        """Return the native columns that turn one record into another."""
        held = super().altered(before, after, now)
        new = {name: value for name, value in held.items() if value is not None}
        if self.link in held:
            new[self.link] = self._native_link(after["superseded_by"])
        if self.text in new:
            hash_ = content_hash(after["text"])
            made = {"embedding": None, "embedding_content_hash": hash_, "updated_at": local(now)}
            new = made | new
        return {name: value for name, value in new.items() if name in self.columns}

    def inserted(self, record: Mapping[str, Any], now: datetime) -> Row:
        """Return the row of a record that the plan adds."""
        made = record["created_at"] or now
        times = {"created_at": made, "updated_at": record["updated_at"] or made}
        row = self._row({**record, **times})
        row |= {"superseded_by": self._native_link(record["superseded_by"])}
        row |= {"embedding_content_hash": content_hash(record["text"])}
        return {name: value for name, value in row.items() if name in self.columns}

    def kind_of(self, category: Any) -> str:
        """Return the kind of a category."""
        return categories.kind_of(str(category))

    def placed(self, row: Row) -> tuple[Row, str]:
        """Return a new row, under a key of its own where its own is taken."""
        if self.has("key", row["key"]):
            row["key"] = categories.own_key(row["id"])
        return super().placed(row)

    def stands(self, link: str) -> bool:
        """Tell whether the record is there that a link names, or was not there before."""
        return link in RETIRED or link.startswith(UNMODELLED) or self._key_of(link) is not None

    def refuse_writing(self) -> None:
        """Raise Corrupt unless the triggers that keep the search index in step are there."""
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
        there = {
            bytes(name).decode(): "".join(bytes(sql).decode("utf-8", "replace").lower().split())
            for name, sql in self.connection.execute(query, [TABLE])
        }
        for name, parts in _TRIGGERS.items():
            if not all(part in there.get(name, "") for part in parts):
                cache = columns_in(self.connection, "embedding_cache")
                unfinished = cache and "accessed_at" not in cache
                said = f"{self.where}: without trigger {name} its search index would fall behind"
                raise Corrupt(said, _UNFINISHED if unfinished else "start clawseed once")

    def _row(self, record: Mapping[str, Any]) -> Row:
        row, known = super()._row(record), record.get("_category")
        key = categories.own_key(record["id"]) if row["key"] is None else row["key"]
        named = categories.category_for(record["kind"], record["tier"]) if known is None else known
        return row | {"key": key, "category": named}

    def _link(self, native: Any) -> str | None:
        if native is None or (text := text_of(native)) in RETIRED:
            return None if native is None else text
        found = self._find(native)
        return text_of(found) if found is not None else f"{UNMODELLED}{text}"

    def _id_of(self, key: bytes) -> Any:
        """The id of the row that has a key; None if there is none."""
        query = f"SELECT id FROM {TABLE} WHERE key = CAST(? AS TEXT)"
        found = self.connection.execute(query, [bytes(key)]).fetchone()
        return found and found[0]

    def _key_of(self, id_: str) -> str | None:
        query = f"SELECT key FROM {TABLE} WHERE id = ?"
        found = self.connection.execute(query, [id_]).fetchone()
        return None if found is None else bytes(found[0]).decode("utf-8", "replace")

    def _native_link(self, link: str | None) -> str | None:
        if link is None or link in RETIRED:
            return link
        own = link.startswith(UNMODELLED)
        return link.removeprefix(UNMODELLED) if own else self._key_of(link)
