"""Rows of clawseed's `memories` table as records.

`extra` keeps the native values of the small columns; they are what compare-and-set rests on. Bytes
that are no UTF-8 are shown with replacement characters and never written back.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

import polars as pl

from memops.schema import INSTANT, KINDS, RECORDS, RETIRED, conform, empty, instant
from memops.stores.sqlite.table import is_text, plain
from memops.stores.sqlite.values import text_of

TABLE = "memories"
UNMODELLED = "key:"
"""Stands before the key in `superseded_by` when no row has that key."""

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_quoted: Callable[[str], str] = json.encoder.encode_basestring  # what that makes of a string
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_UNKNOWN = "\ufffd"  # stands for bytes that are no UTF-8


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


_KIND = {"core": "fact", "daily": "note", "conversation": "session"}
_CATEGORY = {"session": "conversation"}
_ROLE = {"core": "curated", "daily": "daily", "conversation": "session"}
_SOURCES = (
    (re.compile(r"user_msg$|webhook_msg_"), "channel"),
    (re.compile(r"daily_\d{4}-\d\d-\d\d_|core_[0-9a-f]{8}-[0-9a-f]{4}-"), "consolidation"),
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


def own_key(id_: str) -> str:
    """Return the key of a record that brings none, or whose key is taken."""
    return f"memops_{id_}"


def source_of(key: str | None) -> str | None:
    """Return where a row comes from, as far as its key tells."""
    for pattern, source in _SOURCES:
        if key and pattern.match(key):
            return source
    return None
