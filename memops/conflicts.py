"""Conflicts: pairs of live statements that cannot both hold, judged, with their signals.

Everything is computed per statement and per pair of statements, then spread to the records that
make them. `conflicts` and `duplicates` list; the rules decide what may happen unattended.
"""

from typing import Any

import numpy as np
import polars as pl

from memops.context import Context
from memops.judgement import asserted, opposes, same
from memops.readings import Readings, differences, readings
from memops.similarity import candidates, combined, statements


def judged(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Return the candidate pairs of statements with their signals and what they are.

    Columns: a, b (numbers of statements, a < b), jaccard, cosine, bm25, score (the seed's
    similarity), same (bool), opposes (why, or null), firm_a, firm_b (asserted as standing fact).
    """
    key = ("judged", id(statements(records, ctx)))
    return ctx.once(key, lambda: _judged(records, ctx))


def features(pairs: list[dict[str, Any]]) -> pl.DataFrame:
    """Return the features of pairs, with what the strict judgement makes of them."""
    texts = sorted({text for pair in pairs for text in (pair["a"], pair["b"])})
    place = {text: n for n, text in enumerate(texts)}
    said = readings(texts)
    a, b = (np.array([place[pair[side]] for pair in pairs]) for side in ("a", "b"))
    read = differences(said, a, b)
    return read.with_columns(
        same=same(), opposes=opposes(), firm_a=asserted("a"), firm_b=asserted("b")
    )


def _judged(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    pairs = candidates(records, ctx)
    if pairs.is_empty():
        return pairs.with_columns(
            score=pl.lit(0.0), same=pl.lit(False), opposes=pl.lit(None, pl.String),
            firm_a=pl.lit(False), firm_b=pl.lit(False),
        )  # fmt: skip
    table = statements(records, ctx).table
    used = np.unique(np.concatenate([pairs["a"].to_numpy(), pairs["b"].to_numpy()]))
    said = _read(table["text"].gather(used).to_list(), ctx)
    at = {name: np.searchsorted(used, pairs[name].to_numpy()) for name in ("a", "b")}
    features = differences(said, at["a"], at["b"])
    verdict = features.select(
        same=same(), opposes=opposes(), firm_a=asserted("a"), firm_b=asserted("b")
    )
    return pl.concat([pairs, verdict], how="horizontal").with_columns(
        score=combined(ctx.policy.conflicts)
    )


def _read(texts: list[str], ctx: Context) -> Readings:
    """Read each text once in the life of the context; later rounds need fewer of them."""
    known: Readings | None = ctx.cache.get("readings")
    place = {text: n for n, text in enumerate(known.texts)} if known else {}
    if known is None or not all(text in place for text in texts):
        ctx.cache["readings"] = made = readings(texts)
        return made
    return known.only(np.array([place[text] for text in texts]))
