"""Swings: preferences that go to and fro, of which the last value is not yet sure to stay.

What was said of a preference is told by the live records and by those that stepped back behind
them, so a night counts what the nights before it have hidden.
"""

import polars as pl

from memops.context import Context
from memops.judge.confirmations import alike, behind
from memops.schema import only

_NONE = pl.Schema({"old": pl.String(), "new": pl.String(), "swings": pl.UInt32()})


def swinging(edges: pl.DataFrame, records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return those of the edges (old, new) that must wait, and how often the value has changed.

    They lead to a value that replaced another, gave way to it and is back: from so many changes
    on it must be said so often before it replaces the other again.
    """
    policy = ctx.policy.lifecycles
    said = _said(edges, records)
    if said.height <= policy.swings:
        return _NONE.to_frame()
    said = alike(said, ctx)
    group = said.select("id", "group")
    pairs = (
        edges.select("old", "new")
        .join(group.rename({"id": "old", "group": "a"}), on="old")
        .join(group.rename({"id": "new", "group": "b"}), on="new")
        .filter(pl.col("a") != pl.col("b"))
    )
    course = (
        pairs.select("a", "b").unique()
        .with_columns(group=pl.concat_list("a", "b")).explode("group")
        .join(said.select("id", "group", "at"), on="group")
        .sort("a", "b", "at", "id")
        .with_columns(turn=(pl.col("group") != pl.col("group").shift(1)).fill_null(False).cum_sum().over("a", "b"))
    )  # fmt: skip
    last = course.filter(pl.col("turn") == pl.col("turn").max().over("a", "b"))
    unsure = (
        last.group_by("a", "b")
        .agg(swings=pl.col("turn").first().cast(pl.UInt32), times=pl.len(), new="id")
        .filter((pl.col("swings") >= policy.swings) & (pl.col("times") < policy.repeats))
        .explode("new")
    )
    return pairs.join(unsure, on=["a", "b", "new"]).select(*_NONE).sort("old", "new")


def _said(edges: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """The preferences of the edges, and those that stepped back behind them, with their time."""
    prefs = records.filter(pl.col("kind") == "preference").with_columns(
        at=pl.coalesce("valid_from", "created_at")
    )
    ids = pl.concat([edges["old"], edges["new"].rename("old")]).unique()
    mine = pl.concat([ids.rename("id"), behind(ids, records)["id"]])
    return only(prefs, mine).filter(pl.col("at").is_not_null())
