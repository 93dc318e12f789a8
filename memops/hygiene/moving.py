"""Moving: a line goes to an undated file as a new record, and the old one steps back behind it.

No text is cut: the new record says what the old one said, with all that was known of it.
"""

import uuid
from collections.abc import Mapping
from typing import Any

import polars as pl

from memops.plan import NO_ARGS, arguments, edit, nothing, put

_SPACE = uuid.UUID("0f3c9e52-6a0b-5b7e-8f1d-2c5a4d9b7e10")  # namespace of moved records' ids


def moved(
    rows: pl.DataFrame, intent: str, code: str, args: Mapping[str, Any] = NO_ARGS
) -> pl.DataFrame:
    """Propose that each record stands in the undated file of its kind; code and args say why.

    Two records of one scope and kind that say the same become one.
    """
    if rows.is_empty():
        return nothing()
    said = rows.select("scope", "kind", "text").rows()
    ids = pl.Series("moved", [str(uuid.uuid5(_SPACE, "\x1f".join(row))) for row in said])
    old = rows.with_columns(ids, told=arguments(**args))  # before the id becomes another
    first = old.unique("moved", keep="first", maintain_order=True)
    new = first.with_columns(
        old_id="id", id="moved", origin=pl.format("memops/{}.md", "kind"), extra=pl.lit("{}")
    )
    came = [pl.concat_list("old_id")] * 2
    behind: dict[str, Any] = {"evidence": pl.concat_list("moved"), "risk": "low"}
    return pl.concat(
        [
            put(new, code, pl.col("told"), evidence=came[0], derived_from=came[1], risk="low"),
            edit(old, intent, code, pl.col("told"), superseded_by=pl.col("moved"), **behind),
        ]
    )
