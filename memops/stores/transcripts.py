"""Transcripts: turns that an agent has kept whole, of which its store may keep some fifty bytes."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl

from memops.errors import MemopsError
from memops.schema import LIVE, STORES, instant
from memops.settings import Settings
from memops.stores import Store, inside, open_store, part

_MARK = r"\s*(?:…|\.\.\.)\s*$"
_SURROGATES = re.compile("[\ud800-\udfff]")
_LATEST = 253_402_300_799
_STEM = 8  # characters of a cut text that must be left to tell its turn


def turns(name: str, settings: Settings) -> tuple[pl.DataFrame, list[str]]:
    """Return the turns that the agent of a store has kept, as records, and what was unreadable.

    Raises MemopsError for a kind of store beside which nothing is kept, StoreNotFound where it
    should be but is not.
    """
    return _turns(open_store(settings.store(name).address))


def whole(records: pl.DataFrame, address: str) -> pl.DataFrame:
    """Return the full text (id, text) of notes that a store holds cut off.

    A note is cut if it ends in an ellipsis; its text is that of the one turn of the user, in the
    note's scope where turns have one, that begins as the note does. Nothing is returned for a
    store without readable transcripts.
    """
    notes = records.filter(LIVE, pl.col("kind") == "note", pl.col("text").str.contains(_MARK))
    stem = _squeezed(pl.col("text").str.replace(_MARK, ""))
    notes = notes.select("id", "scope", stem=stem).filter(pl.col("stem").str.len_chars() >= _STEM)
    none = pl.DataFrame(schema={"id": pl.String, "text": pl.String})
    if notes.is_empty():
        return none
    store = open_store(address)
    try:
        said, _ = _turns(store)
    except MemopsError:
        return none
    turns_ = said.filter(pl.col("source") == "user").select(
        "text", flat=_squeezed(pl.col("text")), where=_agent()
    )
    start = pl.col("flat").str.head(_STEM).alias("start")
    pairs = (
        notes.with_columns(start=pl.col("stem").str.head(_STEM), mine=_agent())
        .join(turns_.with_columns(start), on="start")
        .filter(
            pl.col("flat").str.starts_with(pl.col("stem")),
            pl.col("flat").str.len_chars() > pl.col("stem").str.len_chars(),
            pl.lit(store.kind == "clawseed") | (pl.col("where") == pl.col("mine")),
        )
    )
    one = pairs.group_by("id").agg(pl.col("text").first(), turns=pl.col("flat").n_unique())
    return one.filter(pl.col("turns") == 1).select("id", "text").sort("id")


def _squeezed(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(r"\s+", " ").str.strip_chars()


def _agent() -> pl.Expr:
    """The scope, where `main` and `agent:main` are one."""
    return pl.when(pl.col("scope") == "main").then(pl.lit("agent:main")).otherwise("scope")


def turn(
    id: str, session: str, source: str, text: str, at: datetime | None, origin: str
) -> dict[str, Any]:
    """Return the record of one turn: its role is the source, `extra` names the session."""
    return {
        "id": id, "kind": "session", "role": "session", "text": text, "source": source,
        "created_at": at, "origin": origin, "extra": json.dumps({"session": session}),
    }  # fmt: skip


def text_in(content: Any, typed: bool = False) -> str | None:
    """Return a message's text: itself, or its text blocks, a line each; None where it has none."""
    if isinstance(content, list):
        blocks = [b for b in content if isinstance(b, Mapping)]
        said = [b.get("text") for b in blocks if not typed or b.get("type") == "text"]
        content = "\n".join(text for text in said if isinstance(text, str)) or None
    return whole_text(content) if isinstance(content, str) else None


def whole_text(text: str) -> str:
    """Return a text with what is no character of Unicode replaced."""
    return _SURROGATES.sub("\ufffd", text)


def moment(value: Any) -> datetime | None:
    """Return the instant of a text, of seconds, or of milliseconds where seconds lie beyond 5138."""
    if isinstance(value, str):
        return instant(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    seconds = value / 1000 if abs(value) >= 1e11 else value
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds <= _LATEST else None


def _turns(store: Store) -> tuple[pl.DataFrame, list[str]]:
    if own := part(store.kind, "sessions"):
        found: tuple[pl.DataFrame, list[str]] = own.turns(inside(store))
        return found
    able = ", ".join(kind for kind in STORES if part(kind, "sessions"))
    raise MemopsError(f"{store.address}: no transcripts are kept beside it", f"{able} have them")
