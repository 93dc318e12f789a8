"""Unread: pairs of which reading would make nothing, told from their words alone.

Most candidates share words and no more. Reading takes far longer than finding them, so what a
look at the words can tell is told here, for all pairs at once.
"""

import re
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from memops.codes import PAIR, WORD, Codes, code_of, codes
from memops.lexicon import lexicon
from memops.near import bits_of, sets
from memops.termsets import known_words, place_of
from memops.vocabulary import words

Array = Any
_NUMBER = r"[\p{L}\p{N}\p{M}&&\P{Han}]*\p{N}[\p{L}\p{N}\p{M}&&\P{Han}]*"
_PAIRS = 200_000
_OPENING = r"^(?:(?i:the|an?|our|my|this|that)\s+)?([A-Za-z]{3,})(?:\s|\p{Han})"


def unread(found: Codes, texts: pl.Series, a: Array, b: Array) -> Array:
    """Return which pairs of texts can neither say the same nor exclude each other.

    One only adds words that no lexicon knows, and no number; or no lexicon knows a word of either, so that
    nothing says what is told of what; or each opens with a word that no lexicon knows and that
    the other lacks, so that they speak of different things. Han characters are never strange, as
    any may be a word.
    """
    from scipy.sparse import csr_matrix

    n = len(texts)
    if not len(a):
        return np.zeros(0, bool)
    used, at = np.unique(np.concatenate([a, b]), return_inverse=True)
    a, b = at[: len(a)], at[len(a) :]
    place = np.full(n, -1)
    place[used] = np.arange(len(used))
    atoms = (found.kind != PAIR) & (place[found.rows] >= 0)
    rows, items = sets(place[found.rows[atoms]], found.codes[atoms], len(used))
    known, columns = np.unique(items, return_inverse=True)
    shift = np.uint64(64 - bits_of(len(used)))
    said = texts.gather(used)
    listed = [_familiar(), _numbers(said), found.codes[atoms & (found.kind != WORD)]]
    usual = np.unique(np.concatenate(listed) >> shift)
    strange = ~np.isin(known, usual)
    shape = (len(used), len(known))
    binary = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape)
    size, odd = np.diff(binary.indptr), binary @ strange.astype(np.float32)
    bare = size == odd
    subject = _subjects(found, said, place)
    column = np.minimum(np.searchsorted(known, subject >> shift), len(known) - 1)
    told = (subject > 0) & strange[column] & (known[column] == subject >> shift)
    out = np.zeros(len(a), bool)
    for start in range(0, len(a), _PAIRS):
        x, y = a[start : start + _PAIRS], b[start : start + _PAIRS]
        shared = binary[x].multiply(binary[y]).tocsr()
        both, known_odd = np.diff(shared.indptr), shared @ strange.astype(np.float32)
        more = size[x] + size[y] - 2 * both
        inside = (size[x] == both) | (size[y] == both)
        adds = inside & (more > 0) & (odd[x] + odd[y] - 2 * known_odd == more)
        apart = told[x] & told[y] & ~_held(binary, y, column[x]) & ~_held(binary, x, column[y])
        out[start : start + _PAIRS] = adds | apart | (bare[x] & bare[y])
    return out


def _held(binary: Any, rows: Array, columns: Array) -> Array:
    """Which rows hold which column."""
    return np.asarray(binary[rows, columns]).ravel() > 0


def _numbers(texts: pl.Series) -> Array:
    """The codes of the words that hold a digit: they are values, wherever they stand."""
    held = texts.str.extract_all(_NUMBER).explode(empty_as_null=True).drop_nulls().unique()
    return codes(held).codes


def _subjects(found: Codes, texts: pl.Series, place: Array) -> Array:
    """The code of the word that opens a text as what is spoken of, or 0 where that is not sure.

    Sure it is in a sentence that relates it to something, and gives nobody a role or a name.
    """
    first = texts.str.extract(_OPENING, 1).fill_null("")
    opening = code_of(first.to_list())
    at = place_of(found.codes)
    held = np.flatnonzero((at >= 0) & (place[found.rows] >= 0))
    row, word = place[found.rows[held]], at[held]
    relating = np.bincount(row[known_words().relates[word]], minlength=len(texts)) > 0
    naming = np.bincount(row[_naming()[word]], minlength=len(texts)) > 0
    return np.where(relating & ~naming, opening, np.uint64(0))


@cache
def _naming() -> Array:
    """Which known words name a role that somebody has, or say what somebody is called."""
    roles = {*lexicon("concepts")["use"]["role"], "called"}
    listed = [word for word, (concept, _) in words().items() if concept in roles]
    return np.isin(known_words().codes, code_of(listed))


@cache
def _familiar() -> Array:
    """Codes of every word that stands in a lexicon of meaning, and of its usual endings."""
    listed: list[str] = []
    heap: list[Any] = [lexicon(name) for name in ("concepts", "conflict", "values")]
    while heap:
        entry = heap.pop()
        if isinstance(entry, dict):
            heap += [*entry.keys(), *entry.values()]
        elif isinstance(entry, list):
            heap += entry
        elif isinstance(entry, str):
            listed += re.findall(r"\w+", entry.replace("_", " ").lower())
    words = {w for w in listed if w.isascii()}
    ends = {w + end for w in words for end in ("s", "es", "d", "ed", "ing", "er", "r", "ly", "t")}
    cut = {w[:-1] + end for w in words for end in ("ing", "ies", "ied", "es", "ed") if len(w) > 3}
    return np.unique(codes(pl.Series(sorted(words | ends | cut))).codes)
