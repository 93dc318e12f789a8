"""Alignment: where the words of two statements begin to part, and where they meet again.

Words that say nothing of the subject are left out (the user, light verbs, words of change), so
that "the cache uses Redis" and "the cache was moved to Valkey" differ in one place.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate

from memops.lexicon import lexicon
from memops.vocabulary import CONTENT, Token, parts

_LONGEST = 16  # words of a statement that are aligned


def edges(tokens: Sequence[Token], signs: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the beginnings and the endings of a statement, of one word and more.

    Two statements share as many of `opens` as they have first words in common, and of `closes` as
    last ones. `steps` are both; `solid` those whose word at that place is no value; `refused` are the
    words that the statement denies.
    """
    kept = [
        (t, sign)
        for t, sign in zip(tokens, signs, strict=True)
        if t.kind in CONTENT and t.concept not in _light()
    ][:_LONGEST]
    words = [t.concept for t, _ in kept]
    opens = list(accumulate(words, "{}|{}".format, initial="<"))[1:]
    closes = list(accumulate(reversed(words), "{}|{}".format, initial=">"))[1:]
    solid = [t.kind not in ("value", "qualifier") for t, _ in kept]
    ways = [*zip(opens, solid, strict=True), *zip(closes, reversed(solid), strict=True)]
    return {
        "opens": frozenset(opens),
        "closes": frozenset(closes),
        "steps": frozenset(opens + closes),
        "solid": frozenset(way for way, is_solid in ways if is_solid),
        "refused": frozenset(
            part
            for is_solid, (t, sign) in zip(solid, kept, strict=True)
            if is_solid and sign == "-"
            for part in parts(t)
        ),
    }


@cache
def _light() -> frozenset[str]:
    return frozenset(lexicon("conflict")["alignment"]["light"])
