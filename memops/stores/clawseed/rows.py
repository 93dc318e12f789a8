"""Rows of clawseed's `memories` table as records, and what a change to a record does to its row.

Which columns there are depends on the release that last opened the store, so everything goes by
`columns`. `extra` keeps the native values of the small columns; they are what compare-and-set
rests on. Bytes that are no UTF-8 are shown with replacement characters and never written back.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any, ClassVar

import polars as pl

from memops.errors import Corrupt
from memops.schema import DEFAULTS, INSTANT, KINDS, RECORDS, RETIRED, conform, empty, instant
from memops.stores.sqlite import columns_in, text_of
from memops.stores.sqlite.table import Field, Row, Table, is_text, plain

TABLE = "memories"
INDEX_CHECK = "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)"
REBUILD = "INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')"
HOLDS = {
    "id": "id", "key": "key", "text": "content", "created_at": "created_at",
    "updated_at": "updated_at", "scope": "namespace", "importance": "importance",
    "superseded_by": "superseded_by",
}  # fmt: skip
"""The record columns that the table has, each with its native one."""
UNMODELLED = "key:"
"""Stands before the key in `superseded_by` when no row has that key."""

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_quoted: Callable[[str], str] = json.encoder.encode_basestring  # what that makes of a string
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_UNKNOWN = "\ufffd"  # stands for bytes that are no UTF-8
_KIND = {"core": "fact", "daily": "note", "conversation": "session"}
_CATEGORY = {"session": "conversation"}
_ROLE = {"core": "curated", "daily": "daily", "conversation": "session"}
_SOURCES = (
    (re.compile(r"user_msg$|webhook_msg_"), "channel"),
    (re.compile(r"daily_\d{4}-\d\d-\d\d_|core_[0-9a-f]{8}-[0-9a-f]{4}-"), "consolidation"),
)


_TRIGGERS = {
    "memories_ai": ("afterinsertonmemories", "values(new.rowid"),
    "memories_ad": ("afterdeleteonmemories", "'delete',old.rowid"),
    "memories_au": ("afterupdateonmemories", "'delete',old.rowid", "values(new.rowid"),
}
_UNFINISHED = (
    "clawseed's hydration left it unfinished and it cannot open it: with clawseed stopped, run "
    "`memops store doctor STORE --repair schema --approve`"
)


def kind_of(category: str) -> str:
    """Return the kind of a category; a custom one may be named after a kind."""
    own = category.lower()
    return _KIND.get(category) or (own if own in KINDS else "note")


def tier_of(category: str) -> str:
    """Return the tier of a category."""
    return "core" if category == "core" else "working"


def role_of(category: str) -> str:
    """Return what a category is for; a custom one is a subject's."""
    return _ROLE.get(category, "topic")


def subject_of(key: str | None) -> str | None:
    """Return what a row is said of: the key, where the agent chose it and no code made it."""
    made = not key or not key.strip() or key.startswith(own_key("")) or source_of(key) is not None
    return None if made else key


def category_for(kind: str, tier: str) -> str:
    """Return the category of a new row: what recall prefers for core, else the kind's name."""
    return "core" if tier == "core" else _CATEGORY.get(kind, kind)


def content_hash(text: str) -> str:
    """Return clawseed's hash of a content: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def local(at: datetime) -> str:
    """Return an instant as clawseed writes it: local offset, never Z."""
    return at.astimezone().isoformat(timespec="microseconds")


class Memories(Table):
    """clawseed's table of memories, whatever columns it has."""

    name: ClassVar[str] = TABLE
    fields: ClassVar[Mapping[str, Field]] = {name: Field(column) for name, column in HOLDS.items()}
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
        if not whole:
            return frame(rows, self.columns, self._id_of, self.where)
        id_at, key_at = (1 + self.columns.index(name) for name in ("id", "key"))
        known = {row[key_at]: row[id_at] for row in rows if row[id_at] is not None}
        return frame(rows, self.columns, known.get, self.where)

    def projected(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what these records read as; a row that is there already keeps its category."""
        query, ids = f"SELECT id, category FROM {TABLE}", records["id"].unique().to_list()
        rows = [
            (text_of(id_), "" if category is None else text_of(category))
            for id_, category in self.of_ids(query, ids)
        ]
        schema = {"id": pl.String, "_category": pl.String}
        known = pl.DataFrame(rows, schema=schema, orient="row").unique("id")
        return _projected(records.join(known, on="id", how="left"), self.columns)

    def altered(self, before: Mapping[str, Any], after: Mapping[str, Any], now: datetime) -> Row:
        """Return the native columns that turn one record into another.

        New content brings its time and hash and drops the vector in the same statement.
        """
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
            "key": record["key"] if record["key"] is not None else own_key(record["id"]),
            "content": record["text"],
            "category": category_for(record["kind"], record["tier"]),
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
        return kind_of(str(category))

    def placed(self, row: Row) -> tuple[Row, str]:
        """Return a new row, under a key of its own where its own is taken."""
        if self.has("key", row["key"]):
            row["key"] = own_key(row["id"])
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
                raise Corrupt(
                    f"{self.where}: without trigger {name} its search index would fall behind",
                    _UNFINISHED if cache and "accessed_at" not in cache else "start clawseed once",
                )

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


def frame(
    rows: Sequence[Sequence[Any]], columns: Sequence[str], id_of: Callable[[Any], Any], where: str
) -> pl.DataFrame:
    """Return rows (rowid first, as `select` gives them) as records.

    `id_of` finds the id of the row that has a key, both in bytes.
    """
    if not rows:
        return empty()
    rowids, *values = zip(*rows, strict=True)
    of = dict(zip(columns, values, strict=True))
    blank = (None,) * len(rowids)
    categories, keys, texts = (_texts(of[n]) for n in ("category", "key", "content"))
    made: dict[str, Any] = {
        "id": _ids(rowids, of["id"]),
        "scope": ["default" if v is None else text_of(v) for v in of.get("namespace", blank)],
        "key": keys,
        "subject": [*map(subject_of, keys)],
        "role": _each(role_of, categories),
        "kind": _each(kind_of, categories),
        "text": texts,
        "tier": _each(tier_of, categories),
        "importance": [*map(_importance, of.get("importance", blank))],
        "created_at": _instants(of["created_at"]),
        "updated_at": _instants(of["updated_at"]),
        "superseded_by": [_link(v, id_of) for v in of.get("superseded_by", blank)],
        "source": [*map(source_of, keys)],
        "origin": [f"{TABLE}/{n}" for n in rowids],
        "extra": _extras(of, keys, texts),
    }  # fmt: skip
    return conform(
        pl.DataFrame({n: pl.Series(n, v, dtype=RECORDS[n]) for n, v in made.items()}), where
    )


def _projected(records: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """What a read would give for these records; `_category` is that of rows already there."""

    def each(column: str | pl.Expr, of: Callable[[Any], str | None]) -> pl.Expr:
        told = pl.col(column) if isinstance(column, str) else column
        return told.map_elements(of, return_dtype=pl.String, skip_nulls=False)

    category = each(pl.struct("kind", "tier"), lambda row: category_for(row["kind"], row["tier"]))
    keyed = records.with_columns(
        _category=pl.coalesce("_category", category), key=pl.coalesce("key", each("id", own_key))
    )
    held = [name for name, column in HOLDS.items() if column in columns]
    given = {name: pl.col(name) for name in (*held, "origin", "extra")} | {
        "kind": each("_category", kind_of), "tier": each("_category", tier_of),
        "role": each("_category", role_of), "source": each("key", source_of),
        "subject": each("key", subject_of),
    }  # fmt: skip
    blank = {name: pl.lit(DEFAULTS.get(name), dtype) for name, dtype in RECORDS.items()}
    out = keyed.select(**{name: given.get(name, blank[name]) for name in RECORDS})
    return conform(out.with_columns(pl.col("importance").clip(0, 1)))


def own_key(id_: str) -> str:
    """Return the key of a record that brings none, or whose key is taken."""
    return f"memops_{id_}"


def source_of(key: str | None) -> str | None:
    """Return where a row comes from, as far as its key tells."""
    for pattern, source in _SOURCES:
        if key and pattern.match(key):
            return source
    return None


def _texts(values: Sequence[Any]) -> list[str]:
    return [*map(text_of, values)]


def _ids(rowids: Sequence[int], values: Sequence[Any]) -> list[str]:
    """Ids as text; a row without one, or with one that is no UTF-8, goes by its number."""
    texts = _texts(values)
    for nth, (text, value) in enumerate(zip(texts, values, strict=True)):
        if value is None or (_UNKNOWN in text and not is_text(value)):
            texts[nth] = f"rowid:{rowids[nth]}"
    return texts


def _each(of: Callable[[str], Any], texts: Sequence[str]) -> list[Any]:
    """What a function makes of each text, asked once of every different one."""
    known = {text: of(text) for text in set(texts)}
    return [known[text] for text in texts]


def _importance(value: Any) -> float:
    return min(max(float(value), 0.0), 1.0) if isinstance(value, int | float) else 0.5


def _extras(of: Mapping[str, Sequence[Any]], keys: list[str], texts: list[str]) -> list[str]:
    """The small native columns of each row as one line of JSON, its names in order."""
    shown = {
        "embedding_bytes" if name == "embedding" else name: values
        for name, values in of.items()
        if name not in ("id", "key", "content")
    }
    parts = [
        [None if value is None else f'"{name}": {_json(value)}' for value in shown[name]]
        for name in sorted(shown)
    ]
    lines = [f"{{{', '.join(filter(None, row))}}}" for row in zip(*parts, strict=True)]
    for nth, (key, text) in enumerate(zip(keys, texts, strict=True)):
        if _UNKNOWN in key or _UNKNOWN in text:
            lines[nth] = _with_damage(
                lines[nth], {"key": of["key"][nth], "content": of["content"][nth]}
            )
    return lines


def _with_damage(line: str, values: Mapping[str, Any]) -> str:
    damaged = {name: plain(value) for name, value in values.items() if not is_text(value)}
    return _JSON({**json.loads(line), "not_utf8": damaged}) if damaged else line


def _json(value: Any) -> str:
    if not isinstance(value, bytes):
        return repr(value) if type(value) is float and isfinite(value) else _JSON(value)
    try:
        return _quoted(value.decode("utf-8"))
    except UnicodeDecodeError:
        return _JSON(plain(value))


def _link(native: Any, id_of: Callable[[Any], Any]) -> str | None:
    if native is None or (text := text_of(native)) in RETIRED:
        return None if native is None else text
    found = id_of(native)
    return text_of(found) if found is not None else f"{UNMODELLED}{text}"


def _instants(values: Sequence[Any]) -> pl.Series:
    """Times as clawseed writes them; null for what is no instant."""
    micros = _each(_micros, _texts(values))
    return pl.Series(micros, dtype=pl.Int64).cast(INSTANT)


def _micros(text: str) -> int | None:
    at = instant(text)
    return None if at is None else (at - _EPOCH) // _MICROSECOND
