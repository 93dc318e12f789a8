"""Rows of clawseed's `memories` table, with the columns of the release that last opened the store."""

import hashlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

import polars as pl

from memops.errors import Corrupt
from memops.schema import DEFAULTS, RECORDS, RETIRED, conform, instant
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
HOLDS = {
    "id": "id", "key": "key", "text": "content", "created_at": "created_at",
    "updated_at": "updated_at", "scope": "namespace", "importance": "importance",
    "superseded_by": "superseded_by",
}  # fmt: skip
"""The record columns that the table has, each with its native one."""
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
    """Return an instant as clawseed writes it: local offset, never Z."""
    return at.astimezone().isoformat(timespec="microseconds")


_READ: dict[str, Callable[[Any], Any]] = {
    "importance": lambda n: min(max(float(n), 0.0), 1.0) if isinstance(n, int | float) else 0.5,
    "created_at": lambda at: instant(str(at)),
    "updated_at": lambda at: instant(str(at)),
}
"""What is read of a column that is no text; no instant is null."""


class Memories(Table):
    """clawseed's table of memories, whatever columns it has."""

    name: ClassVar[str] = TABLE
    fields: ClassVar[Mapping[str, Field]] = {
        name: Field(column, _READ.get(name, str)) for name, column in HOLDS.items()
    }
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
    key: ClassVar[str] = "key"
    scope: ClassVar[str] = "namespace"
    category: ClassVar[str] = "category"
    link: ClassVar[str] = "superseded_by"

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
        rows = [(text_of(id_), text_of(named or "")) for id_, named in self.of_ids(query, ids)]
        schema = {"id": pl.String, "_category": pl.String}
        known = pl.DataFrame(rows, schema=schema, orient="row").unique("id")
        return _projected(records.join(known, on="id", how="left"), self.columns)

    def altered(self, before: Mapping[str, Any], after: Mapping[str, Any], now: datetime) -> Row:
        """Return the native columns that turn one record into another."""
        new: Row = {}
        if after["text"] != before["text"]:
            new |= {"content": after["text"], "embedding": None, "updated_at": local(now)}
            new["embedding_content_hash"] = content_hash(after["text"])
        for name in ("importance", "scope", "key", "created_at", "updated_at"):
            if after[name] != before[name] and after[name] is not None:
                value = after[name]
                new[HOLDS[name]] = local(value) if isinstance(value, datetime) else value
        if after["superseded_by"] != before["superseded_by"]:
            new["superseded_by"] = self._native_link(after["superseded_by"])
        return {name: value for name, value in new.items() if name in self.columns}

    def inserted(self, record: Mapping[str, Any], now: datetime) -> Row:
        """Return the row of a record that the plan adds."""
        made = record["created_at"] or now
        row = {
            "id": record["id"],
            "key": record["key"] if record["key"] is not None else categories.own_key(record["id"]),
            "content": record["text"],
            "category": categories.category_for(record["kind"], record["tier"]),
            "created_at": local(made),
            "updated_at": local(record["updated_at"] or made),
            "namespace": record["scope"],
            "importance": record["importance"],
            "superseded_by": self._native_link(record["superseded_by"]),
            "embedding_content_hash": content_hash(record["text"]),
        }
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


def _projected(records: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """What a read would give for these records; `_category` is that of rows already there."""

    def each(column: str | pl.Expr, of: Callable[[Any], str | None]) -> pl.Expr:
        told = pl.col(column) if isinstance(column, str) else column
        return told.map_elements(of, return_dtype=pl.String, skip_nulls=False)

    category = each(
        pl.struct("kind", "tier"), lambda row: categories.category_for(row["kind"], row["tier"])
    )
    keyed = records.with_columns(
        _category=pl.coalesce("_category", category),
        key=pl.coalesce("key", each("id", categories.own_key)),
    )
    held = [name for name, column in HOLDS.items() if column in columns]
    given = {name: pl.col(name) for name in (*held, "origin", "extra")} | {
        "kind": each("_category", categories.kind_of), "tier": each("_category", categories.tier_of),
        "role": each("_category", categories.role_of), "source": each("key", categories.source_of),
        "subject": each("key", categories.subject_of),
    }  # fmt: skip
    blank = {name: pl.lit(DEFAULTS.get(name), dtype) for name, dtype in RECORDS.items()}
    out = keyed.select(**{name: given.get(name, blank[name]) for name in RECORDS})
    return conform(out.with_columns(pl.col("importance").clip(0, 1)))
