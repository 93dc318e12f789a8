"""Prefilter: which texts may fit which of many patterns, found in one pass over the texts.

A pattern can only match where one of a few literal strings stands, and those are read off the
pattern itself (the idea of RE2's FilteredRE2). All literals of all patterns are looked for at once
(Aho and Corasick 1975), so a text that holds none of them never meets a regular expression.
"""

import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Sequence
from functools import cache
from typing import Any

import polars as pl

_MOST = 1500  # literals of one pattern: more are no better than a shorter string they share


@cache
def literals(pattern: str) -> frozenset[str]:
    """Return lower case strings of which every match of a pattern holds one; empty: unknown."""
    plain = pattern.replace("(?-u:\\b)", "").replace("\\p{Han}", "[\u4e00-\u9fff]")
    return frozenset(_needed(parser.parse(plain))[1] or ())


def possible(texts: pl.Series, patterns: Sequence[str]) -> pl.Series:
    """Return, for each text of a lower case column, the patterns it may fit, as bits by their order.

    At most 64 patterns.
    """
    words, bits, unknown = _table(tuple(patterns))
    found = (
        texts.to_frame("text")
        .with_row_index("row")
        .select("row", word=pl.col("text").str.extract_many(words, overlapping=True))
        .filter(pl.col("word").list.len() > 0)
        .explode("word")
        .with_columns(pl.col("word").cast(pl.Enum(words)).to_physical())
    )
    masks = found.select("row", mask=bits.gather(found["word"])).group_by("row").agg(
        pl.col("mask").bitwise_or()
    )  # fmt: skip
    rows = pl.DataFrame({"row": pl.Series(range(len(texts)), dtype=pl.UInt32)})
    joined = rows.join(masks, on="row", how="left", maintain_order="left")["mask"].fill_null(0)
    return (joined | unknown).rename("mask")


@cache
def _table(patterns: tuple[str, ...]) -> tuple[list[str], pl.Series, int]:
    """All literals, for each the patterns that need it, and the patterns of which none is known."""
    bits: dict[str, int] = {}
    unknown = 0
    for nth, pattern in enumerate(patterns):
        for word in literals(pattern):
            bits[word] = bits.get(word, 0) | 1 << nth
        unknown |= 0 if literals(pattern) else 1 << nth
    words = sorted(bits)
    return words, pl.Series([bits[word] for word in words], dtype=pl.UInt64), unknown


def _needed(parsed: Any) -> tuple[set[str] | None, set[str] | None]:
    """All strings that a sequence matches (None: too many), and strings of which it holds one."""
    runs: list[set[str]] = [{""}]
    needed: list[set[str]] = []
    for op, value in parsed:
        exact, held = _element(op, value)
        longer = {a + b for a in runs[-1] for b in exact} if exact is not None else None
        if longer is not None and len(longer) <= _MOST:
            runs[-1] = longer
            continue
        needed += [held] if held else []
        runs.append(exact if exact is not None and len(exact) <= _MOST else {""})
    best = max([*runs, *needed], key=_worth)
    return (runs[0] if len(runs) == 1 else None), (best if "" not in best else None)


def _element(op: Any, value: Any) -> tuple[set[str] | None, set[str] | None]:
    """The same for one element of a sequence."""
    if op is codes.LITERAL:
        return {chr(value).lower()}, None
    if op is codes.AT:
        return {""}, None
    if op is codes.IN:
        return _members(value), None
    if op is codes.SUBPATTERN:
        return _needed(value[-1])
    if op is codes.BRANCH:
        parts = [_needed(branch) for branch in value[1]]
        exact = [e for e, _ in parts]
        every = None if any(e is None for e in exact) else set().union(*(e or set() for e in exact))
        held = [h for _, h in parts]
        some = None if any(h is None for h in held) else set().union(*(h or set() for h in held))
        return (every if every is None or len(every) <= _MOST else None), some
    if op in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        low, high, inner = value
        exact_, held_ = _needed(inner)
        if (low, high) == (0, 1) and exact_ is not None:
            return exact_ | {""}, None
        return None, held_ if low > 0 else None
    return None, None


def _members(value: Any) -> set[str] | None:
    """The characters of a small class."""
    if value == [(codes.RANGE, (ord("0"), ord("9")))]:
        return set("0123456789")
    if len(value) <= 6 and all(op is codes.LITERAL for op, _ in value):
        return {chr(code).lower() for _, code in value}
    return None


def _worth(words: set[str]) -> tuple[int, int]:
    """Long strings are rare; a Han character says as much as three letters."""
    return min(sum(3 if ord(c) > 0x2E7F else 1 for c in word) for word in words), -len(words)
