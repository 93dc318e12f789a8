"""Hints: what each of many texts may hold, found in one pass over all before any is read."""

import re
from collections.abc import Sequence
from functools import cache

import polars as pl

from memops.language.prefilter import possible
from memops.language.values_readers import READERS
from memops.statements.cues import cue_words


def hints(plains: Sequence[str]) -> list[tuple[int, bool]]:
    """Return for each text in NFKC the readers of values that may fit (bits), and if it has a cue."""
    lower = pl.Series("text", plains, dtype=pl.String).str.to_lowercase()
    may = possible(lower, _patterns())
    cued = lower.str.contains_any(cue_words())
    return list(zip(may.to_list(), cued.to_list(), strict=True))


@cache
def _patterns() -> tuple[str, ...]:
    return tuple(_plainer(pattern.pattern) for pattern, _, _ in READERS)


_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<?[=!]|\(\?P<\w+>|\(\?:|\(|\)|.", re.S)


def _plainer(pattern: str) -> str:
    """A pattern without what only looks around, and without the names of its groups."""
    out, depth = [], 0
    for part in _PARTS.findall(pattern):
        if depth or part in _LOOKS:
            depth += part.startswith("(") - (part == ")")
        else:
            out.append("(?:" if part.startswith("(") else part)
    return "".join(out)
