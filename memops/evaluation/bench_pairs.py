"""Labelled pairs, judged one by one: what the duplicate and conflict judges say of two texts."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from memops.judge.conflicts import features
from memops.judge.judgement import apart, barred, flipped, modified, newer, told_apart
from memops.judge.scorer import Table, scores, share
from memops.policy import Policy


def judge_pairs(
    pairs: list[dict[str, Any]], policy: Policy | None = None
) -> Iterator[dict[str, Any]]:
    """Yield {id, duplicate, conflict, duplicate_score, conflict_score, newer} for each {id, a, b}.

    `newer` is the side whose text says that it replaces the other, or None. One threshold a
    language; the language is read from the texts.
    """
    if not pairs:
        return
    rows = decided(features(pairs), policy or Policy()).iter_rows(named=True)
    for pair, row in zip(pairs, rows, strict=True):
        yield {"id": pair.get("id"), **row}


def decided(read: pl.DataFrame, limits: Policy, fitted: Table | None = None) -> pl.DataFrame:
    """Return duplicate, conflict, both scores and newer for rows of features (`conflicts.features`).

    `fitted` are coefficients in place of those that are shipped (`memops.judge.scorer`).
    """
    judged = scores(read, fitted).with_columns(
        read.select(
            "han",
            "numbered_differ",
            long=share("long", fitted),
            newer=newer(),
            apart=apart(),
            modified=modified(),
            clashing=(told_apart() & ~flipped()) | pl.col("opposes").is_not_null(),
            barred=barred(share("long", fitted) < 1).fill_null(False),
        )
    )
    zh = pl.col("han") > 0
    at = {
        "duplicate": pl.when(zh).then(limits.duplicates.zh).otherwise(limits.duplicates.en),
        "conflict": pl.when(zh).then(limits.conflicts.zh).otherwise(limits.conflicts.en),
    }
    both = judged.with_columns(
        pl.col(f"{name}_score").ge(least).alias(name) for name, least in at.items()
    )
    short, other = pl.col("long") < 1, pl.col("apart") | pl.col("modified")
    clash = both.with_columns(
        conflict=pl.col("conflict")
        & pl.col("clashing")
        & ~(short & other & (pl.col("numbered_differ") > 0))
    )
    sooner = pl.col("conflict") & (pl.col("conflict_score") > pl.col("duplicate_score"))
    kept = ~(short & (sooner | other)) & ~pl.col("barred")
    told = clash.with_columns(duplicate=pl.col("duplicate") & kept)
    return told.select("duplicate", "conflict", "duplicate_score", "conflict_score", "newer")
