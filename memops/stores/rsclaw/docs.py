"""rsclaw's documents: the bytes of a row, the JSON in them, and the records that they mean.

A row is a u32 count, that many f32, and the UTF-8 JSON of a document. What serde would not accept
(a lower-case tier, a float where an integer belongs, a lone surrogate) is no document here either,
because the gateway does not see it. `document` and `to_records` are each other's inverse, so what
a store can hold of a record is what comes back from the two.
"""

import json
import math
import re
import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, NamedTuple

import polars as pl
import xxhash

from memops.schema import KINDS, MODEL, QUARANTINE, TOMBSTONE, empty, from_rows
from memops.stores.base import RowStore
from memops.stores.formats import no_constant

DOCS = "memory_docs"
ARCHIVES = {QUARANTINE: "memops_quarantine", TOMBSTONE: "memops_tombstone"}
"""Tables of ours in the same file: rsclaw opens memory_docs only, so it cannot recall these."""

SUPERSEDED = "tag:superseded"
"""What a row with rsclaw's own tag `superseded` reads as: it does not say by what."""

FIELDS = (
    "id", "scope", "kind", "text", "created_at", "accessed_at", "access_count", "importance",
    "tier", "abstract_text", "overview_text", "tags", "pinned",
)  # fmt: skip
_REQUIRED = set(FIELDS[:8])
_KNOWN = set(FIELDS)
_TEXT = {str, type(None)}
_TIERS = ("Core", "Working", "Peripheral")
_NEAREST = {"compaction_fact": "fact", "session_summary": "summary"}
_SOURCES = {"remember": "user", "compaction_fact": "compaction", "session_summary": "compaction"}
_MARKS_OF = (
    "pinned", "crystallized", "superseded", "quarantined", "extracted", "remembered", MODEL,
)  # fmt: skip
"""Tags that say what rsclaw or memops did with a document, not what it is about."""
_MACHINES = re.compile(r":(cron|heartbeat|system)$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEARS = (-62_135_596_800, 253_402_300_799)  # seconds that a datetime can hold
_MARKS = {table: mark for mark, table in ARCHIVES.items()}


class Row(NamedTuple):
    """One row as it lies in the file."""

    table: str
    key: bytes
    value: bytes


class Doc(NamedTuple):
    """One document: the table and key it stands under, and its fields."""

    table: str
    key: str
    fields: dict[str, Any]


def unpacked(value: bytes) -> tuple[bytes, dict[str, Any]] | None:
    """Return a row's vector bytes and document, or None for what rsclaw skips."""
    if len(value) < 4:
        return None
    at = 4 + 4 * struct.unpack_from("<I", value)[0]
    if at > len(value):
        return None
    fields = _loaded(value[at:])
    return None if fields is None else (value[4:at], fields)


def packed(fields: Mapping[str, Any], vector: bytes = b"") -> bytes:
    """Return a row's bytes; no vector makes rsclaw embed the text when it next starts."""
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return struct.pack("<I", len(vector) // 4) + vector + text.encode()


def acceptable(fields: Any) -> bool:
    """Return whether rsclaw would load such a document."""
    if not isinstance(fields, dict) or not fields.keys() >= _REQUIRED:
        return False
    tags = fields.get("tags", ())
    return (
        {type(fields[name]) for name in FIELDS[:4]} == {str}
        and _is_int64(fields["created_at"])
        and _is_int64(fields["accessed_at"])
        and _is_int64(fields["access_count"])
        and (type(fields["importance"]) is float or _is_int64(fields["importance"]))
        and fields.get("tier", "Working") in _TIERS
        and {type(fields.get("abstract_text")), type(fields.get("overview_text"))} <= _TEXT
        and ("tags" not in fields or type(tags) is list)
        and all(type(tag) is str for tag in tags)
        and type(fields.get("pinned", False)) is bool
    )


def to_records(docs: Iterable[Doc], where: str = "records") -> pl.DataFrame:
    """Return documents as records."""
    found = list(docs)
    live = {doc.key for doc in found if doc.table == DOCS}
    rows = [_record(doc, doc.table != DOCS and doc.key in live) for doc in found]
    return from_rows(rows, where) if rows else empty()


def document(record: Mapping[str, Any]) -> Doc:
    """Return the document that a record becomes.

    A superseded one is tagged, unpinned, peripheral and of importance 0.3 at most, as rsclaw does
    it; a quarantined or tombstoned one moves, as it is, to a table that rsclaw does not open.
    """
    extra = json.loads(record["extra"] or "{}")
    extra = extra if isinstance(extra, dict) else {}
    link, text = record["superseded_by"], record["text"]
    own = extra if extra.get("of") == _digest(text) else {}
    native = extra.get("kind")
    replaced = link is not None and link not in ARCHIVES and link != SUPERSEDED
    tags = [t for t in record["tags"] if t != "superseded" and not (replaced and t == "pinned")]
    importance = min(record["importance"], 0.3) if replaced else record["importance"]
    unknown = extra.get("fields")
    own_kind = isinstance(native, str) and _kind(native) == record["kind"]
    fields = {
        "id": extra.get("doc_id", record["id"]),
        "scope": record["scope"],
        "kind": native if own_kind else record["kind"],
        "text": text,
        "created_at": _seconds(record["created_at"], extra.get("created_at")),
        "accessed_at": _seconds(record["accessed_at"], extra.get("accessed_at")),
        "access_count": record["access_count"],
        "importance": single(importance),
        "tier": "Peripheral" if replaced else record["tier"].capitalize(),
        "abstract_text": own.get("abstract", abstract(text)),
        "overview_text": own.get("overview", overview(text)),
        "tags": tags + ["superseded"] * (link is not None and link not in ARCHIVES),
        "pinned": record["pinned"] and not replaced,
    }
    if isinstance(unknown, dict):
        fields |= {name: value for name, value in unknown.items() if name not in FIELDS}
    return Doc(ARCHIVES.get(link, DOCS), record["id"], fields)


def abstract(text: str) -> str | None:
    """Return the first sentence (to the first ". ", else "。"), or 150 characters (memory.rs)."""
    end = text.find(". ") + 1 or text.find("。") + 1 or 150
    return text[:end].strip() or None


def overview(text: str) -> str | None:
    """Return the first three whole sentences, or 200 characters where there is none (memory.rs)."""
    ends = [found.end() for found in re.finditer(r"\.(?= )|。", text)][:3]
    return text[: ends[-1] if ends else 200].strip() or None


def widths(rows: Iterable[Row]) -> dict[int, int]:
    """Return how many vectors there are of each width; several widths mean re-embedding."""
    sound = (row.value for row in rows if len(row.value) >= 4)
    return dict(sorted(Counter(struct.unpack_from("<I", value)[0] for value in sound).items()))


def single(value: float) -> float:
    """Return the shortest decimal of a number in single precision, which is what rsclaw keeps."""
    if not math.isfinite(value):
        return 0.0
    packed_ = struct.pack("<f", max(-3.4e38, min(value, 3.4e38)))
    exact = struct.unpack("<f", packed_)[0]
    tries = (float(f"{exact:.{digits}g}") for digits in range(1, 10))
    return next(t for t in tries if struct.pack("<f", t) == packed_)


def _record(doc: Doc, again: bool) -> dict[str, Any]:
    fields = doc.fields
    text, native, tags = fields["text"], fields["kind"], fields.get("tags", [])
    created, accessed = _instant(fields["created_at"]), _instant(fields["accessed_at"])
    mark = SUPERSEDED if "superseded" in tags else None
    return {
        "id": f"{doc.key}@{doc.table}" if again else doc.key,
        "scope": fields["scope"],
        "subject": " ".join(t for t in tags if t not in _MARKS_OF) or None,
        "role": _role(fields["scope"], _kind(native)),
        "kind": _kind(native),
        "text": text,
        "tier": fields.get("tier", "Working").lower(),
        "importance": float(fields["importance"]),
        "pinned": fields.get("pinned", False),
        "access_count": fields["access_count"],
        "created_at": created,
        "accessed_at": accessed,
        "superseded_by": _MARKS.get(doc.table, mark),
        "source": "system" if _MACHINES.search(fields["scope"]) else _SOURCES.get(native),
        "origin": f"{doc.table}#{doc.key}",
        "tags": [tag for tag in tags if tag != "superseded"],
        "extra": _extra(doc, created, accessed),
    }


def _extra(doc: Doc, created: datetime | None, accessed: datetime | None) -> str:
    """What the columns do not say: only where it differs from what would be written anyway."""
    fields, extra = doc.fields, dict[str, Any]()
    text, native = fields["text"], fields["kind"]
    if native not in KINDS:
        extra["kind"] = native
    if fields["id"] != doc.key:
        extra["doc_id"] = fields["id"]
    for name, known in (("created_at", created), ("accessed_at", accessed)):
        if known is None and fields[name] != 0:
            extra[name] = fields[name]
    if fields.get("abstract_text") != abstract(text):
        extra["abstract"] = fields.get("abstract_text")
    if fields.get("overview_text") != overview(text):
        extra["overview"] = fields.get("overview_text")
    if "abstract" in extra or "overview" in extra:
        extra["of"] = _digest(text)
    if not fields.keys() <= _KNOWN:
        extra["fields"] = {name: value for name, value in fields.items() if name not in _KNOWN}
    return json.dumps(extra, ensure_ascii=False, sort_keys=True) if extra else "{}"


def _kind(native: str) -> str:
    return native if native in KINDS else _NEAREST.get(native, "note")


def _role(scope: str, kind: str) -> str:
    if _MACHINES.search(scope):
        return "machine"
    return "session" if kind in ("session", "summary") else "topic"


def _instant(seconds: int) -> datetime | None:
    if seconds == 0 or not _YEARS[0] <= seconds <= _YEARS[1]:
        return None
    return _EPOCH + timedelta(seconds=seconds)


def _seconds(at: datetime | None, raw: Any) -> int:
    if at is not None:
        return (at - _EPOCH) // timedelta(seconds=1)
    return raw if _is_int64(raw) and _instant(raw) is None else 0


def _is_int64(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def _digest(text: str) -> str:
    return xxhash.xxh3_64_hexdigest(text.encode())


class _Repeated(dict[str, Any]):
    """An object in which a name of a document's field stands twice, which serde refuses."""


def _loaded(raw: bytes) -> dict[str, Any] | None:
    try:
        fields = _DECODER.decode(raw.decode("utf-8"))
        if b"\\ud" in raw or b"\\uD" in raw:
            json.dumps(fields, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return None if isinstance(fields, _Repeated) or not acceptable(fields) else fields


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    names = Counter(name for name, _ in pairs)
    return _Repeated(made) if any(names[name] > 1 for name in FIELDS) else made


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=no_constant)


class Gateway(RowStore):
    """The documents of one rsclaw gateway."""

    kind: ClassVar[str] = "rsclaw"
    capabilities: ClassVar[frozenset[str]] = frozenset(("snapshot", "live_read"))
    holds: ClassVar[frozenset[str]] = frozenset(
        ("id", "scope", "kind", "text", "tier", "importance", "pinned", "access_count", "tags",
         "created_at", "accessed_at", "extra")
    )  # fmt: skip

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what a document gives back of each record."""
        return to_records(document(row) for row in records.to_dicts())
