"""Cut out of a turn what the agent's own software put before somebody's words."""

import polars as pl

from memops.context import Context
from memops.judge.places import placed, touchable
from memops.plan import edit
from memops.safety.hostile import unwrapped
from memops.schema import LIVE, only


def unwrap_turns(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Cut out of a turn what the agent's own software put before a person's message, which stays.

    Only blocks that are known from their first word to their last, where the mark follows with
    which a channel begins a message: whatever else stands in a turn somebody may have said. A turn
    that is nothing but such text is no turn: `quarantine_injected` hides it.
    """
    said = placed() & (pl.col("role") == "session") & (pl.col("source") == "user")
    turns = (
        only(records, ctx.changed).filter(LIVE, touchable(), said).with_columns(left=unwrapped())
    )
    cut = turns.filter(pl.col("left") != pl.col("text"))
    return edit(
        cut, "update", "turn.wrapped", text=pl.col("left"), evidence=[], risk="medium"
    ).sort("id")
