"""Labelled pairs, judged one by one: what the duplicate and conflict judges say of two texts."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from memops.judge.cascade import settled_by
from memops.judge.conflicts import features
from memops.judge.judgement import apart, barred, flipped, modified, newer, told_apart
from memops.judge.scorer import Table, scores, share
from memops.judge.vetoes import veto_conflict, veto_same
from memops.policy import Policy
from memops.verdicts import AGAINST, SAME, Decider


def judge_pairs(
    pairs: list[dict[str, Any]], policy: Policy | None = None, judge: Decider | None = None
) -> Iterator[dict[str, Any]]:
    """Yield {id, duplicate, conflict, duplicate_score, conflict_score, newer} for each {id, a, b}.

    `newer` is the side whose text says that it replaces the other, or None. One threshold a
    language; the language is read from the texts. With a judge what a night would do with it.
    """
    if not pairs:
        return
    limits, read = policy or Policy(), features(pairs)
    told = decided(read, limits)
    if judge is not None:
        told = _settled(pairs, read, told, judge, limits)
    for pair, row in zip(pairs, told.iter_rows(named=True), strict=True):
        yield {"id": pair.get("id"), **row}


def _settled(
    pairs: list[dict[str, Any]],
    read: pl.DataFrame,
    told: pl.DataFrame,
    judge: Decider,
    limits: Policy,
) -> pl.DataFrame:
    """What a night does with pairs of which a judge is asked; a word of its moves the scores."""
    texts = pl.Series(sorted({pair[side] for pair in pairs for side in "ab"}))
    at = {text: n for n, text in enumerate(texts)}
    sides = {side: pl.Series([at[pair[side]] for pair in pairs], dtype=pl.UInt32) for side in "ab"}
    known = read.select(
        "same", "opposes", "firm_a", "firm_b",
        veto_same=veto_same(), veto_conflict=veto_conflict(),
        rank=pl.col("jaccard").rank(descending=True),
    ).with_columns(**sides)  # fmt: skip
    out = settled_by(judge, known, texts, limits.judge)
    firm, clash = pl.col("firm_a") & pl.col("firm_b"), pl.col("opposes").is_not_null()
    word = {"duplicate": pl.col("verdict") == SAME, "conflict": pl.col("verdict").is_in(AGAINST)}
    moved = out.select(
        duplicate=firm & pl.col("same") & ~clash,
        conflict=firm & clash & ~pl.col("same"),
        newer="later",
        **{f"{name}_word": said for name, said in word.items()},
    )
    before = told.rename({name: f"{name}_text" for name in ("duplicate", "conflict", "newer")})
    both = pl.concat([before, moved], how="horizontal")
    scored = {f"{n}_score": (pl.col(f"{n}_score") + pl.col(f"{n}_word")) / 2 for n in word}
    newer = pl.coalesce("newer", "newer_text")
    return both.with_columns(**scored, newer=newer).select(told.columns)


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
