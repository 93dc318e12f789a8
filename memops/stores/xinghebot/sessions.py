"""XingheBot's sessions are among its memories, as far as they are kept at all."""

import polars as pl

from memops.stores.xinghebot import XingheBot


def turns(store: XingheBot) -> tuple[pl.DataFrame, list[str]]:
    """Return the records of sessions; none is unreadable."""
    return store.read().filter(pl.col("kind") == "session"), []
