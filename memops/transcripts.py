"""Transcripts: what was said, as far as a store's agent has kept it, to extract from again."""

from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import MemopsError
from memops.settings import Settings
from memops.stores import open_store


def turns(name: str, settings: Settings) -> tuple[pl.DataFrame, list[str]]:
    """Return the turns that the agent of a store has kept, as records, and what was unreadable.

    Raises MemopsError for a kind of store beside which nothing is kept, StoreNotFound where it
    should be but is not.
    """
    store = open_store(settings.store(name).address)
    path: Any = getattr(store, "path", None)
    if store.kind == "clawseed":
        from memops.stores.clawseed_sessions import chats

        return chats(path.parent.parent), []
    if store.kind == "rsclaw" and isinstance(path, Path):
        from memops.stores.rsclaw_transcripts import transcripts

        folder = path.resolve().parent
        inside = folder.parts[-3:] == ("var", "data", "memory")
        return transcripts(folder.parents[2] if inside else folder)
    if store.kind == "openclaw":
        from memops.stores.openclaw_sessions import sessions

        return sessions(path)
    if store.kind == "xinghebot":
        records = store.read()
        return records.filter(pl.col("kind") == "session"), []
    hint = "clawseed, rsclaw (a file), openclaw and xinghebot have them"
    raise MemopsError(f"{store.address}: no transcripts are kept beside it", hint)
