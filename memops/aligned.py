"""Alignment: where the words of two statements begin to part, and where they meet again.

Words that say nothing of the subject are left out (the user, light verbs, words of change), so
that "the cache uses Redis" and "the cache was moved to Valkey" differ in one place.
"""

from functools import cache
from typing import Any

import numpy as np

from memops.codes import numbered
from memops.lexicon import lexicon
from memops.tokens import Keys, Tokens, in_order, keyed

Array = Any
_LONGEST = 16  # words of a statement that are aligned


def edges(t: Tokens, code: Array) -> dict[str, tuple[Array, Array]]:
    """Return the beginnings and the endings of each statement, of one word and more.

    Two statements share as many of `opens` as they have first words in common, and of `closes` as
    last ones. `steps` are both; `solid` those whose word at that place is no value. Each is of
    texts' numbers and codes, in their order; `code` is that of each item.
    """
    kept = aligned(t)
    row, solid = t.row[kept], ~t.kinds("value", "qualifier")[kept]
    nth = t.before(kept)[kept]
    size = np.bincount(row, minlength=t.n)
    words = np.zeros((t.n, _LONGEST), np.uint64)
    words[row, nth] = code[t.concept[kept]]
    opens = _running(words, 1)[row, nth]
    words[row, size[row] - 1 - nth] = code[t.concept[kept]]
    closes = _running(words, 2)[row, size[row] - 1 - nth]
    known, number = np.unique(np.concatenate([opens, closes]), return_inverse=True)
    first, last = np.split(number, 2)
    twice, both = np.concatenate([row, row]), np.concatenate([solid, solid])
    sets = {
        "opens": keyed(row, first),
        "closes": keyed(row, last),
        "steps": keyed(twice, number),
        "solid": keyed(twice[both], number[both]),
    }
    return in_order(sets, known)


def aligned(t: Tokens) -> Array:
    """Return which tokens are laid side by side: the first with content that are not light."""
    told = t.solid & ~t.means(_light())
    return told & (t.before(told) < _LONGEST)


def refused(t: Tokens, denied: Array) -> Keys:
    """Return the parts of the aligned words that a statement denies, other than values."""
    return t.parted(aligned(t) & denied & ~t.kinds("value", "qualifier"))


def _running(words: Array, seed: int) -> Array:
    """The code of all words up to each place, row by row."""
    out = np.empty_like(words)
    last = numbered(np.full(len(words), seed))
    for place in range(words.shape[1]):
        last = out[:, place] = numbered(last ^ words[:, place])
    return out


@cache
def _light() -> frozenset[str]:
    return frozenset(lexicon("conflict")["alignment"]["light"])
