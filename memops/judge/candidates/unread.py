"""Unread: pairs of which reading would make nothing, told from their words alone.

Most candidates share words and no more. Reading takes far longer than finding them, so what a
look at the words can tell is told here, for all pairs at once.
"""

import re
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from memops.judge.candidates.near import bits_of, held_in, sets
from memops.judge.candidates.openings import marked, subjects
from memops.language import packs
from memops.language.codes import LONE, PAIR, Codes, code_of, codes
from memops.language.lexicon import lexicon
from memops.language.vocabulary import words
from memops.ordered import Seen, distinct, place_in, within
from memops.progress import tracked

Array = Any
_NUMBER = r"[\p{L}\p{N}\p{M}&&\P{Han}]*\p{N}[\p{L}\p{N}\p{M}&&\P{Han}]*"
_PAIRS = 200_000


class Looked:
    """Looks at pairs of some scopes' texts, at each pair of texts once in a plan's rounds."""

    def __init__(self) -> None:
        self._seen, self._told = Seen(), np.empty(0, bool)

    def unread(self, found: Codes, texts: pl.Series, a: Array, b: Array) -> Array:
        """Return what `unread` does."""
        keys = self._seen.keys(texts.to_list(), a, b)
        at = self._seen.places(keys)
        new = at < 0
        told = np.zeros(len(a), bool)
        told[~new] = self._told[at[~new]]
        told[new] = unread(found, texts, a[new], b[new])
        self._seen.note(keys)
        self._told = told
        return told


def unread(found: Codes, texts: pl.Series, a: Array, b: Array) -> Array:
    """Return which pairs of texts can neither say the same nor exclude each other.

    One only adds words that no lexicon knows, and no number; or no lexicon knows a word of either
    but a denial, so that nothing says what is told of what, and what denies says something else;
    or each opens with words that no lexicon knows and that the other lacks, so that they speak of
    different things. Han characters are never strange, as any may be a word.
    """
    from scipy.sparse import csr_matrix

    if not len(a):
        return np.zeros(0, bool)
    told = np.zeros(len(texts), bool)
    told[a] = told[b] = True
    used = np.flatnonzero(told)
    place = np.where(told, np.cumsum(told, dtype=np.int32) - 1, np.int32(-1))
    a, b = place[a], place[b]
    atoms = (found.kind != PAIR) & (place[found.rows] >= 0)
    rows, items = sets(place[found.rows[atoms]], found.codes[atoms], len(used))
    binary, known = held_in(rows, items, len(used))
    shift = np.uint64(64 - bits_of(len(used)))
    said = texts.gather(used)
    usual = distinct(np.concatenate([_familiar(), _numbers(said), _characters(found)]) >> shift)
    strange = ~within(known, usual)
    size, odd = np.diff(binary.indptr), binary @ strange.astype(np.float32)
    bare = size - odd == binary @ np.isin(known, _denying() >> shift).astype(np.float32)
    row, entry, whole = subjects(found, said, place, usual << shift, ~np.uint64(0) << shift)
    column = place_in(known << shift, found.codes[entry] >> shift << shift)
    before = csr_matrix((np.ones(len(row), np.float32), (row, column)), binary.shape)
    before.data[:] = 1
    marks = marked(found, said, place)
    related = marks.relates & ~marks.excludes
    plain = related & whole & ~marks.denies
    out = np.zeros(len(a), bool)
    for start in tracked("looking at pairs", range(0, len(a), _PAIRS)):
        x, y = a[start : start + _PAIRS], b[start : start + _PAIRS]
        shared = binary[x].multiply(binary[y]).tocsr()
        both, known_odd = np.diff(shared.indptr), shared @ strange.astype(np.float32)
        more = size[x] + size[y] - 2 * both
        inside = (size[x] == both) | (size[y] == both)
        adds = inside & (more > 0) & (odd[x] + odd[y] - 2 * known_odd == more)
        denied = (marks.denies[x] & (odd[x] == known_odd)) | (
            marks.denies[y] & (odd[y] == known_odd)
        )
        unsaid = bare[x] & bare[y] & ~denied & (more > 0)
        some = adds | unsaid
        for other, sure in ((binary, related), (before, plain)):
            left = np.flatnonzero(~some & sure[x] & sure[y])
            some[left] = _apart(before, other, x[left], y[left])
        out[start : start + _PAIRS] = some
    return out


def _apart(subject: Any, other: Any, x: Array, y: Array) -> Array:
    """Which pairs have each a subject that is not among the other's words."""
    size = np.diff(subject.indptr)
    shared = (subject[i].multiply(other[j]) for i, j in ((x, y), (y, x)))
    one, two = (np.diff(both.tocsr().indptr) for both in shared)
    return np.asarray((size[x] > one) & (size[y] > two))


def _numbers(texts: pl.Series) -> Array:
    """The codes of the words that hold a digit: they are values, wherever they stand."""
    held = texts.str.extract_all(_NUMBER).explode(empty_as_null=True).drop_nulls().unique()
    return codes(held).codes


def _characters(found: Codes) -> Array:
    """The codes of Han characters by themselves."""
    parts = (part.codes[part.kind >= LONE] for part in found.slices())
    return np.concatenate([np.empty(0, np.uint64), *map(distinct, parts)])


@cache
def _denying() -> Array:
    return code_of([word for word, (_, kind) in words().items() if kind == "negation"])


def _usual(pack: packs.Pack) -> list[str]:
    """The words around values; a city is a name."""
    return [word for word, roles in pack.words.items() if "city" not in roles]


@cache
def _familiar() -> Array:
    """Codes of every word that stands in a lexicon of meaning, and of its usual endings."""
    listed: list[str] = []
    heap: list[Any] = [lexicon(name) for name in ("concepts", "conflict")]
    heap += [word for code in packs.codes() for word in _usual(packs.pack(code))]
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
    return np.unique(codes(pl.Series([*(words | ends | cut)])).codes)
