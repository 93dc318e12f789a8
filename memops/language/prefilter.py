"""Prefilter: which texts may fit which of many patterns, found in one pass over the texts.

A pattern can only match where one of a few literal strings stands, and those are read off the
pattern itself (the idea of RE2's FilteredRE2). All literals of all patterns are looked for at once
(Aho and Corasick 1975), so a text that holds none of them never meets a regular expression.
"""

import math
import re
from collections import deque
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path

import polars as pl

from memops.language.keeping import beside
from memops.language.text import sought

_MOST = 800  # strings that a sequence is followed into; more are no better than a part of them
_WORDS = 12_000  # literals of one pattern
_REMEMBERED = 50_000
_TOKEN = re.compile(
    r"\(\?-u:\\b\)|\(\?[a-z]*:|\\p\{\w+\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\w ]+(?![?*+{])|.",
    re.S,
)
_CLASS = re.compile(r"\\[a-z](?:\{.*)?")
_COMMON = re.compile(
    "[ #-]*(?:a|all|an|and|any|are|as|at|be|by|can|do|for|from|have|if|in|is|it|not|now|of|off|on"
    "|one|or|that|the|then|there|this|to|use|user|was|will|with|you|your)?[ #-]*"
)

Words = set[str] | None
"""A set of strings, or None: not known, or too many."""


@cache
def literals(pattern: str) -> frozenset[str]:
    """Return lower case strings of which every match of a pattern holds one; empty: unknown.

    Read are the parts of Rust's syntax that lexicons use; classes are not nested in each other.
    """
    return frozenset(least(_branches(deque(_TOKEN.findall(pattern.lower())))[1] or ()))


def least(words: Iterable[str]) -> list[str]:
    """Return the words that neither begin nor end with another: what holds any word holds one of them."""
    backwards = _shortest(word[::-1] for word in _shortest(words))
    return [word[::-1] for word in backwards]


def possible(texts: pl.Series, patterns: Sequence[str]) -> pl.Series:
    """Return, for each text of a lower case column, the patterns it may fit, as bits by their order.

    At most 64 patterns; an empty one is taken to be possible everywhere.
    """
    words, bits, unknown = _table(tuple(patterns))
    found = (
        texts.to_frame("text")
        .with_row_index("row")
        .select("row", word=pl.col("text").str.extract_many(sought(words, texts), overlapping=True))
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
    words, bits, unknown = beside("words", [Path(__file__)], partial(_needed, patterns), patterns)
    return words, pl.Series(bits, dtype=pl.UInt64), unknown


def _needed(patterns: Sequence[str]) -> tuple[list[str], list[int], int]:
    bits: dict[str, int] = {}
    unknown = 0
    for nth, pattern in enumerate(patterns):
        for word in literals(pattern):
            bits[word] = bits.get(word, 0) | 1 << nth
        unknown |= 0 if literals(pattern) else 1 << nth
    words = sorted(bits)
    return words, [bits[word] for word in words], unknown


def _shortest(words: Iterable[str]) -> list[str]:
    """The words that do not begin with another one."""
    kept: list[str] = []
    for word in sorted(words):
        if not (kept and word.startswith(kept[-1])):
            kept.append(word)
    return kept


def _branches(tokens: deque[str]) -> tuple[Words, Words]:
    """All strings that alternatives match, and strings of which each match holds one."""
    parts = [_sequence(tokens)]
    while tokens and tokens.popleft() == "|":  # else the group's end
        parts.append(_sequence(tokens))
    return _united([exact for exact, _ in parts]), _united([held for _, held in parts])


def _sequence(tokens: deque[str]) -> tuple[Words, Words]:
    """The same for a sequence: strings that stand side by side are joined as far as it goes."""
    runs: list[set[str]] = [{""}]
    needed: list[set[str]] = []
    whole = True
    while tokens and tokens[0] not in ("|", ")"):
        for exact, held in _repeated(_element(tokens), tokens):
            if exact is not None and len(exact) * len(runs[-1]) <= _MOST:
                runs[-1] = {a + b for a in runs[-1] for b in exact}
                continue
            whole = False
            needed += [held] if held else []
            runs.append({""} if exact is None else exact)
    every = [*runs, *needed]
    best = min(every, key=_share) if len(every) > 1 else every[0]
    return (runs[0] if whole else None), (None if "" in best else best)


def _element(tokens: deque[str]) -> tuple[Words, Words]:
    """The same for a group, a class, an anchor or characters."""
    token = tokens.popleft()
    if token.startswith("(") and token != r"(?-u:\b)":
        return _branches(tokens)
    if token in ("^", "$", r"\b", r"(?-u:\b)"):
        return {""}, None
    escaped = token[0] == "\\" and _CLASS.fullmatch(token)
    if escaped or token == "." or token[0] == "[":
        return _members(token), None
    return {token.removeprefix("\\")}, None


def _repeated(element: tuple[Words, Words], tokens: deque[str]) -> list[tuple[Words, Words]]:
    """An element as often as its quantifier says, and what follows if that may be more."""
    low, high = 1, "1"
    if tokens and (tokens[0] in ("?", "*", "+") or (tokens[0][0] == "{" and tokens[0] != "{")):
        token = {"?": "{0,1}", "*": "{0,}", "+": "{1,}"}.get(tokens[0], tokens[0])[1:-1]
        low, high = int(token.split(",")[0]), token.split(",")[-1]
        tokens.popleft()
        if tokens and tokens[0] == "?":  # lazy
            tokens.popleft()
    if (low, high) == (0, "1") and element[0] is not None:
        return [(element[0] | {""}, None)]
    return [element] * min(low, 8) + ([] if high == str(min(low, 8)) else [(None, None)])


def _members(token: str) -> Words:
    """The characters of an escape or of a small class."""
    if token in (r"\n", r"\t"):
        return {"\n" if token == r"\n" else "\t"}
    inside = re.sub(r"\\(.)", r"\1", token[1:-1]).replace("0-9", "0123456789")
    listed = token[0] == "[" and not re.match(r"\^|.*[^-]-[^-]|.*\\[pswdnt]", token[1:-1], re.S)
    digits = token in (r"\d", "[0-9]")
    return set("0123456789") if digits else set(inside) if listed and len(inside) <= 12 else None


def _united(sets: list[Words]) -> Words:
    """The union, if all are known and it is small enough."""
    known = [words for words in sets if words is not None]
    every = set().union(*known)
    return every if len(known) == len(sets) and len(every) <= _WORDS else None


def _share(words: set[str]) -> float:
    """About how often one of the strings stands at a place of a text."""
    return sum(map(_frequency, words)) if "" not in words else 1.0


@lru_cache(_REMEMBERED)
def _frequency(word: str) -> float:
    return 0.01 if _COMMON.fullmatch(word) else 1 / math.prod(map(_rarity, word))


@cache
def _rarity(char: str) -> int:
    return 500 if ord(char) > 0x2E7F else 12 if char.isalpha() or char == " " else 50
