"""Openings: the words before what a text relates them to, found for many texts at once.

What stands before the relation is what a text speaks of. Only openings in Latin letters are
looked at, as where a Chinese name ends needs a reading.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from memops.judge.candidates.termsets import known_words, place_of, relates
from memops.language.codes import WORD, Codes, code_of
from memops.language.lexicon import lexicon
from memops.language.text import wordlist
from memops.language.vocabulary import phrases, words
from memops.ordered import listed_in, within
from memops.statements.opposites import excludes

Array = Any
_WORDS = r"[A-Za-z]+(?:(?: +| *的 *)[A-Za-z]+)*"
_OPENING = rf"^\s*({_WORDS})(?:[\s,.;:!?，。；：！？、]|\p{{Han}}|$)"
_FIRST = 12  # words of an opening that are looked at
_THEN = rf"^\s*{_WORDS}\s*(\p{{Han}}+)"


class Marked(NamedTuple):
    """What texts hold: a denial, a change or state that excludes another, a relation without role."""

    denies: Array
    excludes: Array
    relates: Array


class _Words(NamedTuple):
    """For each known word what it does in a sentence."""

    denies: Array
    excludes: Array
    names: Array
    copula: Array
    helps: Array


def marked(found: Codes, texts: pl.Series, place: Array) -> Marked:
    """Return what each text holds; `place` is the number of each row of `found` among them, or -1."""
    n, lower = len(texts), texts.str.to_lowercase()
    none = (np.empty(0, np.int64),) * 2
    parts = [_known(part, place) for part in found.slices()]
    row, word = (np.concatenate(side) for side in zip(none, *parts, strict=True))
    does = _words()
    deny, exclude, relate, name = (
        np.bincount(row[mark[word]], minlength=n) > 0
        for mark in (does.denies, does.excludes, known_words().relates, does.names)
    )
    relating, naming = (
        lower.str.contains_any(wordlist(listed)).to_numpy() for listed in _telling()
    )
    return Marked(deny, exclude, (relate | relating) & ~name & ~naming)


def _known(found: Codes, place: Array) -> tuple[Array, Array]:
    """The texts and the places among the known words of those entries that are known."""
    row = place[found.rows]
    some = np.flatnonzero(row >= 0)
    at = _places(found, some)
    return row[some][at >= 0], at[at >= 0]


def subjects(
    found: Codes, texts: pl.Series, place: Array, usual: Array, mask: Array
) -> tuple[Array, Array, Array]:
    """Return (rows, entries) of the strange words before the first that relates, and which rows end so.

    Strange is a word that is not among the codes `usual` (as far as `mask` shows them), and a given
    name. A word whose meaning is not sure ends the search.
    """
    n = len(texts)
    opening = texts.str.extract(_OPENING, 1).fill_null("")
    many = opening.str.count_matches("[A-Za-z]+").to_numpy().astype(np.int64)
    most = np.minimum(many, _FIRST)
    some = np.flatnonzero((found.kind == WORD) & (place[found.rows] >= 0))
    row = place[found.rows[some]]
    begin = np.searchsorted(row, np.arange(n))
    nth = np.arange(len(row)) - begin[row]
    first = nth < most[row]
    row, nth, some = row[first], nth[first], some[first]
    at, code = _places(found, some), found.codes[some]
    held, does = at >= 0, _words()
    unknown = ~held & (~listed_in(usual, code & mask) | within(code, _given()))
    begins = within(code, _phrased()[0])
    copula = held & does.copula[at]
    equates = np.bincount(row[copula & (nth > 0)], minlength=n) > 0
    verbal = (held & known_words().relates[at]) | begins
    turns = copula | (held & does.helps[at]) | (verbal & ~equates[row])
    ends = turns | (~held & ~unknown & ~within(code, _phrased()[1]))
    stop = most.copy()
    np.minimum.at(stop, row[ends], nth[ends])
    before = unknown & (nth < stop[row])
    whole = np.zeros(n, bool)
    whole[row[turns & (nth == stop[row]) & ~begins]] = True
    alone = np.flatnonzero((stop == many) & (many > 0) & ~whole)
    then = texts.gather(alone).str.extract(_THEN, 1).str.contains_any(wordlist(_relating()))
    whole[alone] = then.fill_null(False).to_numpy()
    return row[before], some[before], whole


@cache
def _words() -> _Words:
    listed, codes = words(), known_words().codes

    def those(names: list[str]) -> Array:
        return np.isin(codes, code_of([name for name in names if name.isalnum()]))

    return _Words(
        denies=those([w for w, (_, kind) in listed.items() if kind == "negation"]),
        excludes=those([w for w, m in listed.items() if m[1] == "change" or excludes(w, m[0])]),
        names=those([w for w, (concept, _) in listed.items() if concept in _roles()]),
        copula=those([w for w, (concept, _) in listed.items() if concept == "copula"]),
        helps=those([w for w, (concept, _) in listed.items() if concept == "aux"]),
    )


@cache
def _phrased() -> tuple[Array, Array]:
    """The codes of words that begin a phrase, and of words that stand in one."""
    every = {word for rest in phrases().values() for parts, _ in rest for word in parts}
    return np.sort(code_of(sorted(phrases()))), np.sort(code_of(sorted(every)))


@cache
def _telling() -> tuple[list[str], list[str]]:
    """The phrases that relate, and those that give a role or a name."""
    listed = [(" ".join(parts), *meaning) for rest in phrases().values() for parts, meaning in rest]
    return (
        [phrase for phrase, concept, kind in listed if relates(concept, kind)],
        [phrase for phrase, concept, _ in listed if concept in _roles()],
    )


@cache
def _roles() -> frozenset[str]:
    return frozenset({*lexicon("concepts")["use"]["role"], "called"})


def _places(found: Codes, some: Array) -> Array:
    """The places of some entries among the known words, without their plural if need be."""
    at, bare = place_of(found.codes[some]), found.bare[some]
    more = np.flatnonzero((at < 0) & (bare != 0))
    at[more] = place_of(bare[more])
    return at


@cache
def _given() -> Array:
    return np.sort(code_of(lexicon("concepts")["use"]["given"].split()))


@cache
def _relating() -> list[str]:
    """The Chinese words that relate, of two characters or more, and the copula."""
    return [
        w for w, (concept, kind) in words().items()
        if not w.isascii() and relates(concept, kind) and (len(w) > 1 or concept == "copula")
    ]  # fmt: skip
