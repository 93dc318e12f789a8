"""Impact: facts that do harm when they are wrong or lost, about money, health and access."""

import re
from functools import cache

import polars as pl

from memops.language.lexicon import lexicon


def impact() -> pl.Expr:
    """Return the topic of a record's text: money, health or access; null for any other."""
    topics = [
        pl.when(pl.col("text").str.contains(pattern)).then(pl.lit(topic))
        for topic, pattern in _patterns().items()
    ]
    return pl.coalesce(topics)


def high_impact(texts: pl.Series) -> pl.Series:
    """Return whether each text has such a topic."""
    return texts.str.contains("|".join(_patterns().values())).fill_null(False)


@cache
def _patterns() -> dict[str, str]:
    """By topic. Word boundaries are spelt out: those of the engine take eight times as long."""
    made = {}
    for topic, words in lexicon("impact").items():
        latin = "|".join(re.escape(w) for w in words if w.isascii())
        wide = "|".join(w for w in words if not w.isascii())
        made[topic] = rf"(?i:(?:^|\W)(?:{latin})s?(?:\W|$)|{wide})"
    return made
