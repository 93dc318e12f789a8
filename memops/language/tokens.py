"""Tokens: the words of many texts as one table, so that the sets of all texts are made at once.

A set of items for each text is a sorted array of keys, the text's number before the item's, so
that union and difference are of whole arrays. What a word does is asked once for each distinct
word, however often it stands.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from memops.language.vocabulary import CONTENT, Word, bigrams, is_run
from memops.ordered import distinct, within

Array = Any
T = TypeVar("T")
Keys = Any
"""Sorted numbers, each once: a text's number in the high half, an item's in the low half."""
_HALF = np.int64(32)
_LOW = np.int64((1 << 32) - 1)


class Numbers(dict[T, int]):
    """A number for each distinct thing, in the order of their first occurrence."""

    def __missing__(self, thing: T) -> int:
        self[thing] = number = len(self)
        return number


class Words:
    """Distinct words, each a concept, a class and how it is written, and what they are."""

    def __init__(self, words: Sequence[Word], items: Numbers[str]) -> None:
        self.words = words
        self.classes: Numbers[str] = Numbers()
        self.kind = np.array([self.classes[kind] for _, kind, _ in words], np.int64)
        self.concept = np.array([items[concept] for concept, _, _ in words], np.int64)
        self.run = np.array([is_run(concept) for concept, _, _ in words], bool)
        self.letter = np.array([len(surface) == 1 for _, _, surface in words], bool)

    def of(self, kinds: Iterable[str]) -> Array:
        """Return which words are of some classes."""
        listed = np.zeros(len(self.classes) + 1, bool)
        listed[[self.classes[kind] for kind in kinds if kind in self.classes]] = True
        return listed[self.kind]

    @cached_property
    def ascii(self) -> Array:
        """Which words are of ASCII alone."""
        return np.array([surface.isascii() for _, _, surface in self.words], bool)

    @cached_property
    def _low(self) -> tuple[dict[str, int], Array]:
        """The surfaces in lower case, and which each word has."""
        low: Numbers[str] = Numbers()
        return low, np.array([low[surface.lower()] for _, _, surface in self.words], np.int64)

    def said(self, spelt: Iterable[str]) -> Array:
        """Return which words are written in one of some ways, whatever their case."""
        low, of = self._low
        return _among(low, spelt)[of]

    @cached_property
    def _heads(self) -> tuple[dict[str, int], Array]:
        """What surfaces in lower case begin with, up to a space, and what each word does."""
        low, of = self._low
        heads: Numbers[str] = Numbers()
        return heads, np.array([heads[said.partition(" ")[0]] for said in low], np.int64)[of]

    def headed(self, test: Callable[[str], Any]) -> Array:
        """Return which words begin with what passes a test, in lower case, up to a space."""
        heads, of = self._heads
        return np.array([*map(bool, map(test, heads))], bool)[of]


class Tokens:
    """The tokens of texts, one row each in the texts' order: text, word, clause.

    Masks are arrays of bool, one a token; a mask for each text is said so.
    """

    def __init__(
        self, n: int, row: Array, word: Array, clause: Array, words: Words, items: Numbers[str]
    ) -> None:
        self.n, self.row, self.word, self.clause = n, row, word, clause
        self.words, self.items = words, items
        self.concept = words.concept[word]
        self.begin = np.searchsorted(row, np.arange(n))
        self.at = np.arange(len(row))

    def only(self, mask: Array) -> "Tokens":
        """Return the tokens of a mask."""
        return Tokens(
            self.n, self.row[mask], self.word[mask], self.clause[mask], self.words, self.items
        )

    def renamed(self, concepts: Mapping[str, str]) -> "Tokens":
        """Return the tokens with other concepts in place of some."""
        if concepts.keys().isdisjoint(self.items):
            return self
        words = [(concepts.get(w[0], w[0]), w[1], w[2]) for w in self.words.words]
        named = Words(words, self.items)
        return Tokens(self.n, self.row, self.word, self.clause, named, self.items)

    def where(
        self, test: Callable[[str, str, str], Any], *kinds: str, letters: bool = False
    ) -> Array:
        """Return which tokens pass a test of concept, class and surface.

        Only those of some classes are asked, where any are given; with `letters` only those of
        one character.
        """
        asked = self.words.of(kinds) if kinds else np.ones(len(self.words.words), bool)
        return self._passed(test, asked & self.words.letter if letters else asked)

    def those(self, mask: Array, test: Callable[[str, str, str], Any]) -> Array:
        """Return which tokens of a mask pass a test of concept, class and surface; no other is asked."""
        return mask & self._passed(test, _held(self.word[mask], len(self.words.words)))

    def _passed(self, test: Callable[[str, str, str], Any], asked: Array) -> Array:
        """Which tokens pass a test, of the words (a mask) that are asked."""
        passed = np.zeros(len(asked), bool)
        at = np.flatnonzero(asked).tolist()
        passed[at] = [bool(test(*self.words.words[w])) for w in at]
        return passed[self.word]

    def headed(self, test: Callable[[str], Any]) -> Array:
        """Return which tokens begin with what passes a test, in lower case, up to a space."""
        return self.words.headed(test)[self.word]

    def said(self, spelt: Iterable[str]) -> Array:
        """Return which tokens are written in one of some ways, whatever their case."""
        return self.words.said(spelt)[self.word]

    def kinds(self, *kinds: str) -> Array:
        """Return which tokens are of some classes."""
        return self.words.of(kinds)[self.word]

    def means(self, concepts: Iterable[str]) -> Array:
        """Return which tokens have one of some concepts."""
        return _among(self.items, concepts)[self.concept]

    @cached_property
    def solid(self) -> Array:
        """Which tokens have content."""
        return self.kinds(*CONTENT)

    def keys(self, mask: Array) -> Keys:
        """Return for each text the concepts of the tokens of a mask."""
        return keyed(self.row[mask], self.concept[mask])

    def parted(self, mask: Array) -> Keys:
        """Return for each text the parts of the tokens of a mask (`vocabulary.bigrams`)."""
        run = self.words.run[self.word] & mask
        return union(self.keys(mask & ~run), self._told(run, self.parts, self.word[run]))

    @cached_property
    def parts(self) -> tuple[Array, Array]:
        """The parts of each word that is an unknown run: how many, and all of them one after the other."""
        told = [
            bigrams(word[0]) if run else ()
            for word, run in zip(self.words.words, self.words.run, strict=True)
        ]
        flat = np.fromiter(map(self.items.__getitem__, chain.from_iterable(told)), np.int64)
        return np.array([*map(len, told)], np.int64), flat

    def spread(self, mask: Array, items_of: Callable[[str, str, str], Sequence[str]]) -> Keys:
        """Return for each text the items that the words of a mask stand for."""
        held = _held(self.word[mask], len(self.words.words))
        place = (np.cumsum(held) - 1)[self.word[mask]]
        told = [items_of(*self.words.words[w]) for w in np.flatnonzero(held).tolist()]
        flat = np.fromiter(map(self.items.__getitem__, chain.from_iterable(told)), np.int64)
        size = np.array(list(map(len, told)), np.int64)
        return self._told(mask, (size, flat), place)

    def _told(self, mask: Array, listed: tuple[Array, Array], place: Array) -> Keys:
        """For each text the listed items (how many each, all of them) of what the tokens of a mask stand for."""
        size, flat = listed
        count = size[place]
        first = (np.cumsum(size) - size)[place] - (np.cumsum(count) - count)
        return keyed(
            np.repeat(self.row[mask], count), flat[np.repeat(first, count) + np.arange(count.sum())]
        )

    def texts(self, mask: Array) -> Array:
        """Return which texts hold a token of a mask."""
        return np.bincount(self.row[mask], minlength=self.n) > 0

    def count(self, mask: Array) -> Array:
        """Return how many tokens of a mask each text holds."""
        return np.bincount(self.row[mask], minlength=self.n)

    def first(self, mask: Array) -> Array:
        """Return for each text the place of its first token of a mask, or the number of tokens."""
        out = np.full(self.n, len(self.row))
        at = np.flatnonzero(mask)[::-1]
        out[self.row[at]] = at
        return out

    def before(self, mask: Array) -> Array:
        """Return for each token how many of a mask stand before it in its text."""
        total = np.concatenate([[0], np.cumsum(mask)])
        return total[:-1] - total[self.begin][self.row]

    def behind(self, mask: Array) -> Array:
        """Return which tokens stand right behind one of a mask in their text."""
        return np.append(False, mask)[: len(mask)] & (self.at > self.begin[self.row])

    def ahead(self, mask: Array) -> Array:
        """Return which tokens stand right before one of a mask in their text."""
        return np.append(mask[1:] & (self.row[1:] == self.row[:-1]), False)[: len(mask)]

    def following(self, mask: Array) -> Array:
        """Return for each token, and behind the last, where the next of a mask stands, or their number."""
        places = np.append(np.where(mask, self.at, len(self.at)), len(self.at))
        return np.minimum.accumulate(places[::-1])[::-1]

    @cached_property
    def nth_clause(self) -> Array:
        """For each token the number of its clause among those of all texts."""
        same = (self.row[1:] == self.row[:-1]) & (self.clause[1:] == self.clause[:-1])
        return np.cumsum(np.append(False, ~same)[: len(self.row)])

    def in_clause(self, mask: Array) -> Array:
        """Return for each token how many of a mask stand before it in its clause."""
        before = np.cumsum(mask) - mask
        first = np.flatnonzero(np.diff(self.nth_clause, prepend=-1))
        return before - before[first][self.nth_clause]

    def of(self, keys: Keys, names: Iterable[str]) -> Array:
        """Return which keys are of items with some names."""
        return _among(self.items, names)[keys & _LOW]


def _held(numbers: Array, n: int) -> Array:
    """Which of n things are among some numbers."""
    held = np.zeros(n, bool)
    held[numbers] = True
    return held


def _among(known: Mapping[str, int], names: Iterable[str]) -> Array:
    """Which of the numbered things are among some names."""
    out = np.zeros(len(known), bool)
    out[[known[name] for name in names if name in known]] = True
    return out


def tokens_of(
    said: Sequence[Sequence[Word]], clauses: Sequence[Sequence[int]], items: Numbers[str]
) -> Tokens:
    """Return the table of the words of texts and their clauses; concepts get numbers among the items."""
    row = np.repeat(np.arange(len(said)), np.fromiter(map(len, said), np.int64, len(said)))
    words: Numbers[Word] = Numbers()
    word = np.fromiter(map(words.__getitem__, chain.from_iterable(said)), np.int64, len(row))
    clause = np.fromiter(chain.from_iterable(clauses), np.int64, len(row))
    return Tokens(len(said), row, word, clause, Words(list(words), items), items)


def keyed(rows: Array, items: Array) -> Keys:
    """Return the sets that entries make up, each entry a text's number and an item's."""
    return distinct((rows.astype(np.int64) << _HALF) | items)


def keys_of(entries: Iterable[tuple[int, Iterable[str]]], items: Numbers[str]) -> Keys:
    """Return the sets of (text's number, items); new items get numbers."""
    rows, numbers, number = list[int](), list[int](), items.__getitem__
    for row, told in entries:
        before = len(numbers)
        numbers += map(number, told)
        rows += [row] * (len(numbers) - before)
    return keyed(np.array(rows, np.int64), np.array(numbers, np.int64))


def mapped(keys: Keys, items: Numbers[str], other: Callable[[str], str]) -> Keys:
    """Return for each text what its items are in another view."""
    rows, numbers = divided(keys)
    used, place = np.unique(numbers, return_inverse=True)
    names = list(items)
    made = np.array([items[other(names[n])] for n in used.tolist()], np.int64)
    return keyed(rows, made[place])


def in_order(sets: Mapping[str, Keys], codes: Array) -> dict[str, tuple[Array, Array]]:
    """Return of each set the texts' numbers and the codes of items, in the order of both."""
    order = np.argsort(codes)
    rank, known = np.empty(len(codes), np.int64), codes[order]
    rank[order] = np.arange(len(codes))
    out = {}
    for name, keys in sets.items():
        rows, items = divided(keys)
        rows, ranks = divided(keyed(rows, rank[items]))
        out[name] = rows, known[ranks]
    return out


def divided(keys: Keys) -> tuple[Array, Array]:
    """Return the texts' numbers and the items' of keys."""
    return keys >> _HALF, keys & _LOW


def union(*sets: Keys) -> Keys:
    """Return what is in one of some sets."""
    return distinct(np.concatenate(sets))


def minus(keys: Keys, other: Keys) -> Keys:
    """Return what is in the first set and not in the other."""
    return keys[~within(keys, other)]


def of_texts(keys: Keys, texts: Array) -> Keys:
    """Return the keys of some texts (a mask of texts)."""
    return keys[texts[keys >> _HALF]]
