"""Listed: the judged pairs of a store with their probabilities, as a person is shown them."""

import numpy as np
import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import statements
from memops.judge.cascade import SAID
from memops.judge.comparing import read_once
from memops.judge.conflicts import compared, judged
from memops.judge.decision import DUPLICATE, conflict, likely
from memops.statements.readings import readings

_SCORED = pl.Schema(dict.fromkeys(("duplicate_score", "conflict_score"), pl.Float64()))
_STEP = 200_000


def scored(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the judged pairs of a store's statements.

    Columns: a_id, b_id (the first record that says each), jaccard, cosine, bm25, score, conflict,
    duplicate (bool), opposes, conflict_score, duplicate_score (probabilities), verdict and effect
    (of a decider, else null).
    """
    pairs, said = judged(records, ctx), statements(records, ctx)
    first = said.members.group_by("statement").agg(pl.col("id").min())
    named = (
        pairs.join(first.rename({"statement": "a", "id": "a_id"}), on="a")
        .join(first.rename({"statement": "b", "id": "b_id"}), on="b")
        .sort("a", "b")
    )
    told = named.with_columns(conflict=conflict(ctx.policy), duplicate=DUPLICATE)
    found = _scores(told, said.table["text"], ctx)
    told = pl.concat([told, found], how="horizontal")
    if "verdict" not in told.columns:
        told = told.with_columns(pl.lit(None, kind).alias(n) for n, kind in SAID.items())
    return told.select(
        "a_id", "b_id", "jaccard", "cosine", "bm25", "score", "conflict", "duplicate", "opposes",
        "conflict_score", "duplicate_score", "verdict", "effect",
    )  # fmt: skip


def chosen(pairs: pl.DataFrame, what: str, least: float = 0.0) -> pl.DataFrame:
    """Return the pairs that are judged conflict or duplicate and at least so similar."""
    return pairs.filter(pl.col(what) & (pl.col("score") >= least)).sort(
        "score", "a_id", "b_id", descending=[True, False, False]
    )


def borderline(pairs: pl.DataFrame, what: str, count: int) -> pl.DataFrame:
    """Return the pairs whose probability lies nearest to a half, on either side of it.

    Those come first on which a judge said otherwise than the rules.
    """
    distance = (pl.col(f"{what}_score") - 0.5).abs()
    return pairs.sort(pl.col("effect").is_null(), distance, "a_id", "b_id").head(count)


def _scores(pairs: pl.DataFrame, texts: pl.Series, ctx: Context) -> pl.DataFrame:
    """How probable each verdict is of pairs (a, b: places in `texts`)."""
    if pairs.is_empty():
        return _SCORED.to_frame()
    used, at = np.unique(pairs.select("a", "b").to_numpy(), return_inverse=True)
    taken, rows = read_once(texts.gather(used), ctx)
    said, at = readings(taken[rows]), at.reshape(-1, 2)
    steps = (at[start : start + _STEP] for start in range(0, len(at), _STEP))
    read = (compared(said, *s.T) for s in steps)
    return pl.concat(likely(found).select(_SCORED.names()) for found in read)
