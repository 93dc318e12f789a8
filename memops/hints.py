"""Hints: what each of many texts may hold, found in one pass over all before any is read."""

from collections.abc import Sequence
from functools import cache

import polars as pl

from memops.cues import cue_words
from memops.prefilter import possible
from memops.values_readers import READERS


def hints(plains: Sequence[str]) -> list[tuple[int, bool]]:
    """Return for each text in NFKC the readers of values that may fit (bits), and if it has a cue."""
    lower = pl.Series("text", plains, dtype=pl.String).str.to_lowercase()
    may = possible(lower, _patterns())
    cued = lower.str.contains_any(cue_words())
    return list(zip(may.to_list(), cued.to_list(), strict=True))


@cache
def _patterns() -> tuple[str, ...]:
    return tuple(pattern.pattern for pattern, _, _ in READERS)
