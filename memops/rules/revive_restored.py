"""Records that were hidden, and that their agent has written again since."""

import polars as pl

from memops.context import Context
from memops.plan import edit
from memops.schema import LIVE


def revive_restored(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Show a record again whose key the agent stored anew after it was hidden.

    An agent that keeps records by key writes the new text into the hidden row, where nobody would
    ever see it. What it says now is for the rules after this one to judge.
    """
    again = records.filter(~LIVE, pl.col("id").is_in(sorted(ctx.restored)))
    return edit(
        again, "update", "place.restored",
        clears=["superseded_by", "valid_to"], evidence=pl.concat_list("id"), risk="low",
    )  # fmt: skip
