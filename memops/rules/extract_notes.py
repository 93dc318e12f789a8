"""Raw notes that tell something lasting."""

import polars as pl

from memops.context import Context
from memops.extract.verdicts import extracted, judged_notes
from memops.plan import edit, put
from memops.schema import LIVE, MODEL, TOMBSTONE


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
    return pl.concat(
        [
            put(
                fresh,
                pl.when(pl.col("source") == MODEL)
                .then(pl.lit("model.fact"))
                .otherwise(pl.lit("note.fact")),
                {"notes": pl.col("derived_from").list.len()},
                derived_from=pl.col("derived_from"),
                evidence=pl.col("derived_from"),
                risk="low",
            ),
            edit(
                again,
                "update",
                "note.again",
                access_count=pl.col("had") + pl.col("access_count") + 1,
                derived_from=pl.col("derived_from"),
                evidence=pl.col("derived_from"),
                risk="low",
            ),
            edit(
                _spent(told, facts),
                "tombstone",
                pl.col("code"),
                pl.col("args"),
                superseded_by=TOMBSTONE,
                valid_to=ctx.now,
                evidence=pl.col("made").list.sort(),
                risk="low",
            ),
        ]
    )


def _spent(told: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """The notes that were read, each with the facts that were `made` of it."""
    made = facts.explode("derived_from").group_by("derived_from").agg(pl.col("id").alias("made"))
    return told.filter(pl.col("verdict") == "extract").join(
        made, left_on="id", right_on="derived_from", how="left", maintain_order="left"
    )
