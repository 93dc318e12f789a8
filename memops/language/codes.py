"""Codes: the tokens of `language.text` as 64-bit numbers, made many times faster than as strings.

A code is a polynomial hash of a token's code points, the same on every machine. `codes` gives for
each text what `language.text.tokens` gives, Han bigrams and all; a text of its own is a word.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from memops.language.text import folded

Array = Any
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_CHUNK = 1_000_000  # characters at a time: what stays in the cache takes half the time
_SLICE = 500_000
_LONGEST = 4096
_LONG = 64  # code points; longer runs are few, and coded one by one
_KINDS = (np.uint32, np.uint64, np.uint64, np.uint8)
_BREAK, _WORD, _HAN = 0, 1, 2
WORD, PAIR, LONE, WITHIN = range(4)


class Codes(NamedTuple):
    """One entry a token: its text's place, its code, and what it is made of.

    Words come in reading order, and what Han runs give in no order between them.

    `kind` is WORD, PAIR (two Han characters), LONE (one by itself) or WITHIN (one of a longer
    run); `bare` is the code of a word without its final s, 0 where there is none.
    """

    rows: Array
    codes: Array
    bare: Array
    kind: Array

    def slices(self) -> Iterator["Codes"]:
        """Yield the entries some at a time, so that what is made of them stays in the cache."""
        for at in range(0, len(self.codes), _SLICE):
            yield Codes(*(column[at : at + _SLICE] for column in self))


def codes(texts: pl.Series, unigrams: bool = False) -> Codes:
    """Return the codes of the tokens of each text; with `unigrams` Han characters too."""
    clean = texts.rename("text").to_frame().select(folded(pl.col("text").fill_null("")))
    lines = clean.to_series().str.replace_all("\n", " ", literal=True)
    ends = (lines.str.len_chars().cast(pl.Int64) + 1).cum_sum().to_numpy()
    last = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(_CHUNK, last, _CHUNK))
    bounds = np.unique(np.concatenate([[0], cuts, [len(lines)]])).tolist()
    parts = [part for a, b in pairwise(bounds) for part in _coded(lines[a:b], a, unigrams)]
    columns = [list(column) for column in zip(*parts, strict=True)] or [[]] * len(_KINDS)
    sizes = [len(rows) for rows in columns[0]]
    del parts
    return Codes(*(_joined(columns.pop(0), sizes, kind) for kind in _KINDS))


def code_of(words: list[str]) -> Array:
    """Return the code of each of some single tokens; 0 for what is not just one token."""
    found = codes(pl.Series("text", words, dtype=pl.String))
    out = np.zeros(len(words), np.uint64)
    out[found.rows] = found.codes
    return np.where(np.bincount(found.rows, minlength=len(words)) == 1, out, np.uint64(0))


def numbered(numbers: Array) -> Array:
    """Return a code for each of some numbers."""
    return _mixed(numbers.astype(np.uint64) + np.uint64(1))


def _joined(parts: list[Any], sizes: list[int], kind: Any) -> Array:
    """Parts of a column, each an array or one value, as one array."""
    out, at = np.empty(sum(sizes), kind), 0
    for part, size in zip(parts, sizes, strict=True):
        out[at : at + size] = part
        at += size
    return out


def _coded(lines: pl.Series, first: int, unigrams: bool) -> list[tuple[Any, ...]]:
    """The columns of words, of pairs and of single Han characters; one value is for all."""
    points = np.frombuffer(("\n".join(lines.to_list()) + "\n").encode("utf-32-le"), np.uint32)
    kind = _kinds(points)
    bounds = np.concatenate([[0], np.flatnonzero(kind[1:] != kind[:-1]) + 1, [len(kind)]])
    runs = kind[bounds[:-1]] != _BREAK
    at, size = bounds[:-1][runs], np.diff(bounds)[runs]
    line = np.cumsum(points == 10, dtype=np.uint32) + np.uint32(first)
    inside = kind == _HAN
    whole = ~inside[at] | (size == 1)
    at, size = at[whole], size[whole]
    pair = np.flatnonzero(inside[:-1] & inside[1:])
    found, bare = _words(points, at, size)
    parts: list[tuple[Any, ...]] = [
        (line[at], found, bare, np.where(inside[at], np.uint8(LONE), np.uint8(WORD)))
    ]
    parts.append((line[pair], _mixed(points[pair] * _PRIME + points[pair + 1]), 0, PAIR))
    if unigrams:
        one = np.flatnonzero(inside & (np.r_[False, inside[:-1]] | np.r_[inside[1:], False]))
        parts.append((line[one], _mixed(points[one].astype(np.uint64)), 0, WITHIN))
    return parts


def _words(points: Array, at: Array, size: Array) -> tuple[Array, Array]:
    """The code of each run, and without a final s: code points times powers of a prime."""
    size = np.minimum(size, _LONGEST)
    plural = (points[at + size - 1] == ord("s")) & (size > 2)
    order = np.argsort(-size, kind="stable")
    at, size, plural = at[order], size[order], plural[order]
    out, bare = np.zeros(len(at), np.uint64), np.zeros(len(at), np.uint64)
    longer = len(at) - np.cumsum(np.bincount(size, minlength=_LONG + 1))
    few = int(longer[_LONG])
    with np.errstate(over="ignore"):
        for n in range(min(_LONG, int(size[0])) if len(size) else 0):
            left = int(longer[n])
            ends = np.flatnonzero((size[:left] == n + 1) & plural[:left])
            bare[ends] = _mixed(out[ends])
            out[:left] = out[:left] * _PRIME + points[at[:left] + n]
        for run in range(few):
            letters = points[at[run] : at[run] + size[run]].astype(np.uint64)
            before = _powers()[-size[run] + 1 :] @ letters[:-1]
            bare[run] = _mixed(before) if plural[run] else 0
            out[run] = before * _PRIME + letters[-1]
    made = np.empty((2, len(at)), np.uint64)
    made[0, order], made[1, order] = _mixed(out), bare
    return made[0], made[1]


@cache
def _powers() -> Array:
    """The powers of the prime by which the code points of a long run are multiplied, down to 1."""
    with np.errstate(over="ignore"):
        return np.cumprod(np.r_[np.uint64(1), np.full(_LONGEST, _PRIME)])[::-1]


def _mixed(codes: Array) -> Array:
    with np.errstate(over="ignore"):
        codes = (codes ^ (codes >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        return codes ^ (codes >> np.uint64(29))


def _kinds(points: Array) -> Array:
    """What each code point is: a break, part of a word, or a Han character."""
    most = int(points.max()) + 1
    table, seen = np.zeros(most, np.uint8), np.zeros(most, bool)
    seen[points] = True
    held = np.flatnonzero(seen)
    said = pl.Series("c", [chr(c) for c in held], dtype=pl.String)
    table[held[said.str.contains(r"^[\p{L}\p{N}\p{M}]").to_numpy()]] = _WORD
    table[held[said.str.contains(r"^\p{Han}").to_numpy()]] = _HAN
    return table[points]
