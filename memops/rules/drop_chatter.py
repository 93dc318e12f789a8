"""Retire what says nothing: greetings, acknowledgements, signs of life, tool output."""

import polars as pl

from memops.chatter import chatter
from memops.context import Context
from memops.plan import edit
from memops.schema import LIVE, TOMBSTONE

_ASKED_FOR = ("remember", "lesson", "procedure", "preference")


def drop_chatter(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Retire greetings, acknowledgements, signs of life and tool output.

    Pinned and core records stay, and kinds that somebody asked to have kept; so do files that the
    agent is still writing.
    """
    loose = (
        LIVE & ~pl.col("pinned") & (pl.col("tier") != "core") & ~pl.col("kind").is_in(_ASKED_FOR)
    )
    small = records.filter(loose & ~pl.col("id").is_in(list(ctx.fresh)))
    said = small.with_columns(why=chatter(small["text"])).filter(pl.col("why").is_not_null())
    reason = pl.format("it is {}", "why")
    return edit(said, reason, (), superseded_by=pl.lit(TOMBSTONE), evidence=[], risk="low")
