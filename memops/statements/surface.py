"""Surface: the tokens of a text as they stand, whatever they mean: words, figures, names."""

import re
from collections.abc import Sequence
from itertools import pairwise

from memops.language.tokens import Keys, Numbers, keys_of

SURFACE = ("tokens", "joined", "figures", "named")
"""Families of what stands in a text: words (of a script without spaces, characters), two such
characters side by side, runs of digits, and words that begin with a capital within a sentence."""
_TOKENS = re.compile(r"[\u2e80-\u9fff]+|\d+|[^\W\d_\u2e80-\u9fff]+")
_NAMED = re.compile(r"(?<=[^\W.!?:] )[^\W\d_a-z\u2e80-\u9fff]\w+")
_HAN = "\u2e80"


def surface(plains: Sequence[str], items: Numbers[str]) -> dict[str, Keys]:
    """Return the families of SURFACE for texts of one script and width."""
    found = [_TOKENS.findall(text.casefold()) for text in plains]
    return {
        "tokens": keys_of(((n, _words(said)) for n, said in enumerate(found)), items),
        "joined": keys_of(((n, _joined(said)) for n, said in enumerate(found)), items),
        "figures": keys_of(
            (
                (n, {f"#{one}" for one in said if one[0].isdecimal()})
                for n, said in enumerate(found)
            ),
            items,
        ),
        "named": keys_of(((n, {*_NAMED.findall(text)}) for n, text in enumerate(plains)), items),
    }


def _words(found: Sequence[str]) -> set[str]:
    words: set[str] = set()
    for one in found:
        if one[0] >= _HAN:
            words.update(one)
        elif not one[0].isdecimal():
            words.add(one)
    return words


def _joined(found: Sequence[str]) -> set[str]:
    runs = (one for one in found if one[0] >= _HAN)
    return {a + b for one in runs for a, b in pairwise(one)}
