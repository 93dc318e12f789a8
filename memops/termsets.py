"""Term sets: the terms of statements, which are words and the concepts behind them, as codes.

Concepts let wordings and languages meet; what they are a kind of, and the pair of opposites that
they are in, count as terms too. Words of grammar, negation and change say nothing of the subject.
"""

import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from memops.codes import LONE, PAIR, WORD, Codes, code_of, codes, numbered
from memops.lexicon import lexicon
from memops.near import bits_of, sets
from memops.vocabulary import words

Array = Any
_GRAMMAR = ("function", "negation", "quantifier", "change")
_PAIRS = 200_000
_ALONE = ("thing", "single", "multi")


class _Known(NamedTuple):
    """Words of the lexicons, sorted by code: what each means (0 for nothing), and if it is grammar."""

    codes: Array
    meaning: Array
    silent: Array
    alone: Array


def term_sets(found: Codes, scopes: pl.Series) -> tuple[Array, Array]:
    """Return (rows, items) of the term sets, as `memops.near.sets`; terms of scopes are apart.

    `found` holds the codes of the texts, Han characters by themselves too.
    """
    known, place = _known(), _place(found.codes)
    held = place >= 0
    concept = np.where(held, known.meaning[place], 0).astype(np.uint64)
    silent = held & known.silent[place]
    lone = (found.kind >= LONE) & ~(held & known.alone[place])
    word = ~silent & ~lone
    term = np.where(concept > 0, concept, found.codes)
    bare = np.flatnonzero((found.bare != 0) & ~held)
    under = _place(found.bare[bare])
    under, bare = under[under >= 0], bare[under >= 0]
    plural = ~known.silent[under] & (known.meaning[under] > 0)
    rows = [found.rows[word], found.rows[bare][plural]]
    items = [term[word], known.meaning[under][plural]]
    low, high = _wider()
    for row, item in list(zip(rows, items, strict=True)):
        begin, end = (np.searchsorted(low, item, side=side) for side in ("left", "right"))
        many = np.flatnonzero(end > begin)
        count = (end - begin)[many]
        at = np.repeat(begin[many] - (np.cumsum(count) - count), count) + np.arange(count.sum())
        rows.append(np.repeat(row[many], count))
        items.append(high[at])
    where = scopes.rank("dense").cast(pl.UInt64).to_numpy()
    row, item = np.concatenate(rows), np.concatenate(items)
    with np.errstate(over="ignore"):
        return sets(
            row, item ^ (numbered(where)[row] if len(where) and where.max() > 1 else 0), len(scopes)
        )


def _place(found: Array) -> Array:
    """The place of each code among the known words, or -1; most are found out by 16 bits."""
    known = _known().codes
    maybe = np.zeros(1 << 16, bool)
    maybe[(known >> np.uint64(48)).astype(np.int64)] = True
    out = np.full(len(found), -1, np.int64)
    look = np.flatnonzero(maybe[(found >> np.uint64(48)).astype(np.int64)])
    at = np.minimum(np.searchsorted(known, found[look]), len(known) - 1)
    right = known[at] == found[look]
    out[look[right]] = at[right]
    return out


@cache
def _known() -> _Known:
    number, listed = _concepts(), words()
    whole = dict(zip(listed, code_of(list(listed)).tolist(), strict=True))
    table = {word: meaning for word, meaning in listed.items() if whole[word]}
    found = np.array([whole[word] for word in table], np.uint64)
    order = np.argsort(found)
    kinds = [kind for _, kind in table.values()]
    return _Known(
        found[order],
        np.array([number[concept] for concept, _ in table.values()], np.uint64)[order],
        np.array([kind in _GRAMMAR for kind in kinds])[order],
        np.array([kind in _ALONE for kind in kinds])[order],
    )


@cache
def _concepts() -> dict[str, int]:
    """Each concept, and each pair of opposites, with a code of its own."""
    named = {concept for concept, _ in words().values()} | {
        name for pair in _broader() for name in pair
    }
    made = numbered(np.arange(1, len(named) + 1, dtype=np.uint64) << np.uint64(21))
    return dict(zip(sorted(named), made.tolist(), strict=True))


def _broader() -> list[tuple[str, str]]:
    """Concepts with what they are a kind of, and with the pair of opposites that they are in."""
    conflict = lexicon("conflict")
    above = [(low, high) for high, below in conflict["kind_of"].items() for low in below]
    for n, pair in enumerate(conflict["opposites"]["alone"]):
        names = pair.replace("|", " ").split()
        names += [low for low, high in above if high in names]
        above += [(name, f"pair {n}") for name in names]
    return sorted(set(above))


@cache
def _wider() -> tuple[Array, Array]:
    number = _concepts()
    pairs = np.array([(number[low], number[high]) for low, high in _broader()], np.uint64)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    return pairs[:, 0], pairs[:, 1]


def additions(found: Codes, a: Array, b: Array, n: int) -> Array:
    """Return which pairs of the n texts differ only in that one adds words that no lexicon knows.

    Such a pair neither says the same nor excludes each other: the added words are values or names
    that the other lacks, and nothing of the other is denied or replaced. Han characters are
    never strange, as any may be a word.
    """
    from scipy.sparse import csr_matrix

    if not len(a):
        return np.zeros(0, bool)
    used, at = np.unique(np.concatenate([a, b]), return_inverse=True)
    a, b = at[: len(a)], at[len(a) :]
    place = np.full(n, -1)
    place[used] = np.arange(len(used))
    atoms = (found.kind != PAIR) & (place[found.rows] >= 0)
    rows, items = sets(place[found.rows[atoms]], found.codes[atoms], len(used))
    known, columns = np.unique(items, return_inverse=True)
    usual = np.concatenate([_familiar(), found.codes[atoms & (found.kind != WORD)]])
    strange = ~np.isin(known, usual >> np.uint64(64 - bits_of(len(used))))
    shape = (len(used), len(known))
    binary = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape)
    size, odd = np.diff(binary.indptr), binary @ strange.astype(np.float32)
    out = np.zeros(len(a), bool)
    for start in range(0, len(a), _PAIRS):
        x, y = a[start : start + _PAIRS], b[start : start + _PAIRS]
        shared = binary[x].multiply(binary[y]).tocsr()
        both, known_odd = np.diff(shared.indptr), shared @ strange.astype(np.float32)
        more = size[x] + size[y] - 2 * both
        inside = (size[x] == both) | (size[y] == both)
        out[start : start + _PAIRS] = (
            inside & (more > 0) & (odd[x] + odd[y] - 2 * known_odd == more)
        )
    return out


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
