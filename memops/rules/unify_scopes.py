"""One agent's scope under two names."""

import polars as pl

from memops.context import Context
from memops.plan import edit
from memops.schema import LIVE


def unify_scopes(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Give records of the scope `ID` the scope `agent:ID` where the store knows both.

    rsclaw writes `agent:<id>` for chat and the bare id from its tool. A channel's scope
    (`agent:<id>:cron`) and shared ones (`global`, `default`, `public`) stay apart.
    """
    named = records["scope"].unique()
    agents = named.filter(named.str.contains(r"^agent:[^:]+$"))
    bare = agents.str.replace("^agent:", "").to_list()
    apart = ("global", "default", "public", "")
    split = records.filter(LIVE, pl.col("scope").is_in(bare), ~pl.col("scope").is_in(apart))
    return edit(
        split, "update", "place.scope", {"agent": pl.col("scope")},
        scope=pl.format("agent:{}", "scope"), evidence=[], risk="low",
    )  # fmt: skip
