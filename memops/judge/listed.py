"""Listed pairs: what was judged of a store's pairs, for a person who looks through them."""

import numpy as np
import polars as pl

from memops.context import Context
from memops.judge.candidates.similarity import statements
from memops.judge.cascade import SAID
from memops.judge.conflicts import judged_among
from memops.judge.decision import DUPLICATE, conflict, decided, likely
from memops.statements.readings import differences, read_all

_SCORED = pl.Schema(dict.fromkeys(("duplicate_score", "conflict_score"), pl.Float64()))
_STEP = 200_000


def judged_pairs(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the judged pairs of a store's statements, those of which nothing comes too.

    Columns: a_id, b_id (the first record that says each), jaccard, cosine, bm25, score, conflict,
    duplicate (bool), opposes, conflict_score, duplicate_score (probabilities), verdict and effect
    (of a decider, else null).
    """
    said = statements(records, ctx)
    pairs = judged_among(said, records, ctx, lambda every: every)
    first = said.members.group_by("statement").agg(pl.col("id").min())
    named = (
        pairs.join(first.rename({"statement": "a", "id": "a_id"}), on="a")
        .join(first.rename({"statement": "b", "id": "b_id"}), on="b")
        .sort("a", "b")
    )
    told = named.with_columns(conflict=conflict(ctx.policy), duplicate=DUPLICATE)
    told = pl.concat([told, _scores(told, said.table["text"])], how="horizontal")
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


def _scores(pairs: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """How probable each verdict is of pairs (a, b: places in `texts`)."""
    if pairs.is_empty():
        return _SCORED.to_frame()
    used, at = np.unique(pairs.select("a", "b").to_numpy(), return_inverse=True)
    said, at = read_all(texts.gather(used).to_list()), at.reshape(-1, 2)
    steps = (at[start : start + _STEP] for start in range(0, len(at), _STEP))
    read = (decided(differences(said, s[:, 0], s[:, 1])) for s in steps)
    return pl.concat(likely(found).select(_SCORED.names()) for found in read)
