"""Labelled pairs, judged one by one: what the duplicate and conflict judges say of two texts."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from memops.judge.cascade import settled_by
from memops.judge.conflicts import features
from memops.judge.decision import CONFLICT, DUPLICATE, probable
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
    told = probable(read, limits).drop("duplicate_at", "conflict_at")
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
        "same", "opposes", "firm_a", "firm_b", "veto_same", "veto_conflict",
        rank=pl.col("jaccard").rank(descending=True),
    ).with_columns(**sides)  # fmt: skip
    out = settled_by(judge, known, texts, limits.judge)
    word = {"duplicate": pl.col("verdict") == SAME, "conflict": pl.col("verdict").is_in(AGAINST)}
    moved = out.select(
        duplicate=DUPLICATE,
        conflict=CONFLICT,
        newer="later",
        **{f"{name}_word": said for name, said in word.items()},
    )
    before = told.rename({name: f"{name}_text" for name in ("duplicate", "conflict", "newer")})
    both = pl.concat([before, moved], how="horizontal")
    scored = {f"{n}_score": (pl.col(f"{n}_score") + pl.col(f"{n}_word")) / 2 for n in word}
    newer = pl.coalesce("newer", "newer_text")
    return both.with_columns(**scored, newer=newer).select(told.columns)
