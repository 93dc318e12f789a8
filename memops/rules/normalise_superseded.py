"""Records that clawseed calls superseded in their text alone, so that recall still finds them."""

from typing import Any

import polars as pl

from memops.context import Context
from memops.plan import edit, retire
from memops.schema import LIVE

MARK = r"(?s)^\[SUPERSEDED by '(.*?)'\] "
"""What clawseed puts before the text; the name is the key of the record that replaced it."""

_MOST_LINKS = 32


def normalise_superseded(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Link a record whose text begins with a superseded mark to the record that replaced it.

    Marks are followed to the live record at their end. A mark whose record is gone retires its
    record. The text stays as it is, mark and all: it is hidden, and the agent may still look it
    up by key. A mark that leads back to its own record says nothing and is left alone.
    """
    keys = (
        records.drop_nulls("key")
        .select("key", named="id")
        .sort("named")
        .unique("key", keep="first")
    )
    mark = pl.col("text").str.extract(MARK, 1)
    marked = (
        records.filter(LIVE & ctx.at_rest())
        .with_columns(_key=mark)
        .filter(pl.col("_key").is_not_null())
        .join(keys, left_on="_key", right_on="key", how="left", maintain_order="left")
    )
    replaced = _ends(marked, records)
    linked = replaced.filter(pl.col("end").is_not_null())
    gone = replaced.filter(pl.col("named").is_null())
    end: dict[str, Any] = {
        "superseded_by": pl.col("end"),
        "evidence": pl.concat_list("end"),
        "risk": "low",
    }
    steps = [
        edit(linked, "supersede", "link.marked", **end),
        retire(gone, ctx.now, "link.marked_gone", risk="medium"),
    ]
    return pl.concat(steps).sort("id")


def _ends(marked: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """The marked records with the live, unmarked record at the end of their links, if any."""
    by_column = records.filter(~LIVE).select("id", next="superseded_by")
    by_mark = marked.select("id", next="named").drop_nulls()
    links = pl.concat([by_column, by_mark])
    ends = marked.select("id", at="named")
    for _ in range(_MOST_LINKS):
        step = ends.join(links, left_on="at", right_on="id", how="left", maintain_order="left")
        if step["next"].null_count() == step.height:
            break
        ends = step.select("id", at=pl.coalesce("next", "at"))
    standing = records.filter(LIVE).join(marked.select("id"), on="id", how="anti")
    found = ends.join(standing.select(at="id"), on="at", how="semi").select("id", end="at")
    return marked.join(found, on="id", how="left", maintain_order="left")
