"""Term sets: the terms of statements, which are words and the concepts behind them, as codes.

Concepts let wordings and languages meet; what they are a kind of, and the states that they exclude,
count as terms too. Words of grammar, negation and change say nothing of the subject.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from memops.judge.candidates.near import bits_of, sets
from memops.language.codes import LONE, Codes, code_of, numbered
from memops.language.lexicon import lexicon
from memops.language.vocabulary import words

Array = Any
_GRAMMAR = ("function", "negation", "quantifier", "change")

_REST = np.uint64(44)
_ALONE = ("thing", "single", "multi")


class Known(NamedTuple):
    """Words of the lexicons, sorted by code: what each means (0 for nothing), and what it does.

    It may be grammar (`silent`), stand by itself in Chinese (`alone`), or relate a subject to
    what is said of it (`relates`).
    """

    codes: Array
    meaning: Array
    silent: Array
    alone: Array
    relates: Array


def term_sets(found: Codes, scopes: pl.Series) -> tuple[Array, Array]:
    """Return (rows, items) of the term sets, as `near.sets`; terms of scopes are apart.

    `found` holds the codes of the texts, Han characters by themselves too. Items are in the order
    of scopes first, so what is made of a scope is the same whichever scopes are beside it.
    """
    return tagged(untagged(found, len(scopes)), scopes)


def untagged(found: Codes, n: int) -> tuple[Array, Array]:
    """Return (rows, items) of the term sets of n texts, as `sets`, whatever their scopes.

    `found` holds the codes of the texts, Han characters by themselves too.
    """
    parts = [_terms(part) for part in found.slices()]
    none = np.empty(0, found.rows.dtype), np.empty(0, np.uint64)
    rows, items = (np.concatenate(side) for side in zip(none, *parts, strict=True))
    return sets(rows, items, n)


def tagged(held: tuple[Array, Array], scopes: pl.Series) -> tuple[Array, Array]:
    """Return term sets with the place of its scope before each term, so that scopes are apart.

    Items are in the order of scopes first: what is made of a scope is the same whichever are beside it.
    """
    row, item = held
    where = scopes.rank("dense").to_numpy().astype(np.uint64) - np.uint64(1)
    return row, item | (where[row] << np.uint64(bits_of(len(scopes))))


def _terms(found: Codes) -> tuple[Array, Array]:
    """The rows and terms of codes."""
    known, place = known_words(), place_of(found.codes)
    held = place >= 0
    concept = np.where(held, known.meaning[place], 0).astype(np.uint64)
    silent = held & known.silent[place]
    lone = (found.kind >= LONE) & ~(held & known.alone[place])
    word = ~silent & ~lone
    term = np.where(concept > 0, concept, found.codes)
    bare = np.flatnonzero((found.bare != 0) & ~held)
    under = place_of(found.bare[bare])
    under, bare = under[under >= 0], bare[under >= 0]
    plural = ~known.silent[under] & (known.meaning[under] > 0)
    row = np.concatenate([found.rows[word], found.rows[bare][plural]])
    item = np.concatenate([term[word], known.meaning[under][plural]])
    low, high = _wider()
    many = np.flatnonzero(_maybe(low)[(item >> _REST).astype(np.int64)])
    first, last = (np.searchsorted(low, item[many], side=side) for side in ("left", "right"))
    count = last - first
    at = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(count.sum())
    return np.concatenate([row, np.repeat(row[many], count)]), np.concatenate([item, high[at]])


def place_of(found: Array) -> Array:
    """Return the place of each code among the known words, or -1; 20 bits find out nearly all."""
    known = known_words().codes
    out = np.full(len(found), -1, np.int64)
    look = np.flatnonzero(_maybe(known)[(found >> _REST).astype(np.int64)])
    at = np.minimum(np.searchsorted(known, found[look]), len(known) - 1)
    right = known[at] == found[look]
    out[look[right]] = at[right]
    return out


def _maybe(codes: Array) -> Array:
    """A table of what codes begin with."""
    table = np.zeros(1 << 20, bool)
    table[(codes >> _REST).astype(np.int64)] = True
    return table


@cache
def known_words() -> Known:
    """Return the single words of the lexicons by their codes."""
    number, listed = _concepts(), words()
    whole = dict(zip(listed, code_of(list(listed)).tolist(), strict=True))
    table = {word: meaning for word, meaning in listed.items() if whole[word]}
    found = np.array([whole[word] for word in table], np.uint64)
    order = np.argsort(found)
    kinds = [kind for _, kind in table.values()]
    return Known(
        found[order],
        np.array([number[concept] for concept, _ in table.values()], np.uint64)[order],
        np.array([kind in _GRAMMAR for kind in kinds])[order],
        np.array([kind in _ALONE for kind in kinds])[order],
        np.array([relates(*meaning) for meaning in table.values()])[order],
    )


def relates(concept: str, kind: str) -> bool:
    """Return whether a word of that meaning relates a subject to what is said of it."""
    return kind in ("single", "multi", "change") or concept in ("copula", "aux")


@cache
def _concepts() -> dict[str, int]:
    """Each concept, and each pair of states, with a code of its own."""
    named = {concept for concept, _ in words().values()} | {
        name for pair in _broader() for name in pair
    }
    made = numbered(np.arange(1, len(named) + 1, dtype=np.uint64) << np.uint64(21))
    return dict(zip(sorted(named), made.tolist(), strict=True))


def _broader() -> list[tuple[str, str]]:
    """Concepts with what they are a kind of, and states with the pair that they are in."""
    conflict = lexicon("conflict")
    above = [(low, high) for high, below in conflict["kind_of"].items() for low in below]
    for n, pair in enumerate(conflict["opposites"]["pairs"]):
        names = pair.replace("|", " ").split()
        if not {*names}.isdisjoint(conflict["opposites"]["states"]):
            above += [(name, f"pair {n}") for name in names]
    return sorted(set(above))


@cache
def _wider() -> tuple[Array, Array]:
    number = _concepts()
    pairs = np.array([(number[low], number[high]) for low, high in _broader()], np.uint64)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    return pairs[:, 0], pairs[:, 1]
