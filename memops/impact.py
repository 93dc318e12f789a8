"""Impact: facts that do harm when they are wrong or lost, about money, health and access."""

import re
from functools import cache

import polars as pl

from memops.lexicon import lexicon


def impact() -> pl.Expr:
    """Return the topic of a record's text: money, health or access; null for any other."""
    topics = [
        pl.when(pl.col("text").str.contains(pattern)).then(pl.lit(topic))
        for topic, pattern in _patterns().items()
    ]
    return pl.coalesce(topics)


def high_impact(texts: pl.Series) -> pl.Series:
    """Return whether each text has such a topic; a cheap first look passes over most of them."""
    words = [word for listed in lexicon("impact").values() for word in listed]
    maybe = texts.str.contains_any(words, ascii_case_insensitive=True).fill_null(False)
    some = texts.filter(maybe).rename("text").to_frame()
    found = some.select(impact().is_not_null()).to_series()
    at = maybe.arg_true().filter(found)
    return (
        pl.Series(texts.name, [False], pl.Boolean).new_from_index(0, len(texts)).scatter(at, True)
    )


@cache
def _patterns() -> dict[str, str]:
    made = {}
    for topic, words in lexicon("impact").items():
        latin = "|".join(re.escape(w) for w in words if w.isascii())
        wide = "|".join(w for w in words if not w.isascii())
        made[topic] = rf"(?i)\b(?:{latin})s?\b|{wide}"
    return made
