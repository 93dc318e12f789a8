"""Hints: which values each of many texts may hold, found in one pass over all before any is read."""

import re
from collections.abc import Sequence
from functools import cache

import polars as pl

from memops.language.prefilter import possible
from memops.language.values_readers import READERS


def hints(plains: Sequence[str]) -> list[int]:
    """Return for each text in NFKC the readers of values that may fit, as bits by their order."""
    lower = pl.Series("text", plains, dtype=pl.String).str.to_lowercase()
    return possible(lower, _patterns()).to_list()


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
