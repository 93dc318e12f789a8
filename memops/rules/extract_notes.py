"""Raw notes that tell something lasting."""

from typing import Any

import polars as pl

from memops.context import Context
from memops.extract.verdicts import extracted, judged_notes
from memops.plan import edit, put, retire
from memops.schema import LIVE, MODEL


def extract_notes(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Turn what notes tell into typed, keyed records in the third person, and retire the notes.

    A fact that is a live record already gains the uses of its notes; one that was forgotten
    (tombstoned, quarantined) is not brought back.
    """
    told, _ = judged_notes(records, ctx)
    facts = extracted(records, ctx)
    known = facts.join(
        records.select("id", was="superseded_by", had="access_count", live=LIVE),
        on="id",
        how="left",
        maintain_order="left",
    )
    fresh = known.filter(
        pl.col("live").is_null() | (~pl.col("live") & ~pl.col("was").str.starts_with("memops:"))
    )
    again = known.filter(pl.col("live").fill_null(False), pl.col("source") != MODEL)
    notes, uses = pl.col("derived_from"), pl.col("had") + pl.col("access_count") + 1
    by_model = pl.when(pl.col("source") == MODEL).then(pl.lit("model.fact"))
    code = by_model.otherwise(pl.lit("note.fact"))
    about: dict[str, Any] = {"derived_from": notes, "evidence": notes, "risk": "low"}
    why, made = (pl.col("code"), pl.col("args")), pl.col("made").list.sort()
    return pl.concat(
        [
            put(fresh, code, {"notes": notes.list.len()}, **about),
            edit(again, "update", "note.again", access_count=uses, **about),
            retire(_spent(told, facts), ctx.now, *why, evidence=made, risk="low"),
        ]
    )


def _spent(told: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """The notes that were read, each with the facts that were `made` of it."""
    made = facts.explode("derived_from").group_by("derived_from").agg(pl.col("id").alias("made"))
    return told.filter(pl.col("verdict") == "extract").join(
        made, left_on="id", right_on="derived_from", how="left", maintain_order="left"
    )
