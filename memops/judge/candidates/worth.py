"""Worth: which candidates are judged at all, by rules or by a model, and how near they are."""

import polars as pl

from memops.judge.candidates.similarity import SIGNALS
from memops.judge.places import kept_apart, of_one_subject
from memops.language.text import language
from memops.policy import Conflicts, Policy

WORTH = pl.Schema(
    {"a": pl.UInt32(), "b": pl.UInt32()}
    | dict.fromkeys((*SIGNALS, "vectors"), pl.Float64())
    | {"ruled": pl.Boolean(), "across": pl.Boolean(), "rank": pl.UInt32()}
)
"""Pairs that are judged: by rules (`ruled`) or a model alone, whether of two languages, and how near
they are to each other."""


def combined(weights: Conflicts) -> pl.Expr:
    """Return the seed's similarity, by default 0.4 Jaccard + 0.4 cosine + 0.2 BM25."""
    parts = (getattr(weights, name) * pl.col(name) for name in SIGNALS)
    return pl.sum_horizontal(*parts)


def worth_reading(
    pairs: pl.DataFrame, table: pl.DataFrame, policy: Policy, asked: int = 0
) -> pl.DataFrame:
    """Return the pairs that could be judged, as WORTH.

    `ruled`, which rules may judge: of one subject and alike enough.
    With `asked` also those of the others that are among the so many nearest of either (`nearest`),
    of which a model is asked.
    """
    alike_enough = combined(policy.conflicts) >= policy.candidates.least
    told = pairs.with_columns(ruled=of_one_subject(pairs, table) & alike_enough)
    told = told.filter(pl.col("ruled") | ~kept_apart(pairs, table) if asked else pl.col("ruled"))
    across = _across(told, table) if asked else pl.lit(False)
    told = told.with_columns(across=across, rank=0).select(*WORTH)
    return nearest(told.cast(WORTH), policy, asked)


def _across(pairs: pl.DataFrame, table: pl.DataFrame) -> pl.Series:
    """Which of the pairs are of two languages."""
    spoken = table.select(language(pl.col("text"))).to_series()
    one, two = (spoken.gather(table["statement"].search_sorted(pairs[side])) for side in ("a", "b"))
    return one != two


def nearest(pairs: pl.DataFrame, policy: Policy, asked: int) -> pl.DataFrame:
    """Return the pairs with their `rank`, of those that rules do not judge only the nearest.

    The rank is the place of one among the nearest of the other, by terms or, of its own language
    or of others, by vectors, whichever is the best. Pairs come in order, as equal ones rank by it; of
    pairs chosen so from parts, the same are chosen again.
    """
    if not asked:
        return pairs
    terms, vectors = combined(policy.conflicts).round(9), pl.col("vectors").round(9)
    both = [(terms, []), (vectors, ["across"])]
    ranks = [
        value.rank("ordinal", descending=True).over(side, *apart)
        for value, apart in both
        for side in ("a", "b")
    ]
    least = pl.min_horizontal(*ranks, pl.lit(asked + 1))
    ranked = pairs.with_columns(rank=least.cast(pl.UInt32))
    return ranked.filter(pl.col("ruled") | (pl.col("rank") <= asked))
