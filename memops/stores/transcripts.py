"""Transcripts: what was said, as far as a store's agent has kept it, to extract from again.

Agents cut what they store, clawseed at some fifty bytes; the whole turn may still stand beside
the store.
"""

from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import MemopsError
from memops.schema import LIVE
from memops.settings import Settings
from memops.stores import open_store

_MARK = r"\s*(?:…|\.\.\.)\s*$"
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


def pieces(text: str, most: int) -> list[str]:
    """Cut a text of more than `most` bytes by heading, paragraph and line (clawseed's chunker)."""
    from memops.stores.clawseed.chunks import chunks

    if len(text.encode()) <= most:
        return [text]
    made = chunks(text, max(1, most // 4))
    return [*dict.fromkeys(content for _, content in made)]  # it gives a lone heading twice


def _squeezed(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(r"\s+", " ").str.strip_chars()


def _agent() -> pl.Expr:
    """The scope, where `main` and `agent:main` are one."""
    return pl.when(pl.col("scope") == "main").then(pl.lit("agent:main")).otherwise("scope")


def _turns(store: Any) -> tuple[pl.DataFrame, list[str]]:
    path: Any = getattr(store, "path", None)
    if store.kind == "clawseed":
        from memops.stores.clawseed.sessions import chats

        return chats(path.parent.parent), []
    if store.kind == "rsclaw" and isinstance(path, Path):
        from memops.stores.rsclaw.transcripts import transcripts

        folder = path.resolve().parent
        inside = folder.parts[-3:] == ("var", "data", "memory")
        return transcripts(folder.parents[2] if inside else folder)
    if store.kind == "openclaw":
        from memops.stores.openclaw.sessions import sessions

        return sessions(path)
    if store.kind == "xinghebot":
        records = store.read()
        return records.filter(pl.col("kind") == "session"), []
    hint = "clawseed, rsclaw (a file), openclaw and xinghebot have them"
    raise MemopsError(f"{store.address}: no transcripts are kept beside it", hint)
