"""Numbering: the numbers and letters that tell one thing from its like (locker 12, server B, A 组)."""

import re
from collections.abc import Sequence

from memops.language.tokens import Array, Tokens
from memops.language.vocabulary import Token

_VERBAL = ("single", "multi", "change")


def numbering(tokens: Sequence[Token]) -> set[str]:
    """Return the noun with its number or letter, where one tells the thing from its like.

    It stands beside its noun, right before the verb or 的: what follows is said of that thing.
    Without a token that `numbers` there is none.
    """
    row = [t for t in tokens if t.surface.lower().rstrip(".") not in _NUMBER_WORDS]
    out = set()
    for one, two, then in zip(row, row[1:], row[2:], strict=False):
        noun, mark = (two, one) if _letter(one) and _is_han(two.surface) else (one, two)
        named = (
            noun.kind in (_NOUNS if mark.kind == "value" else _LETTERED)
            and one.clause == two.clause == then.clause
        )
        if _marks(mark) and named and (_says(then) or (one is row[0] and _verb_like(then))):
            out.add(f"{noun.concept} {mark.surface if _letter(mark) else mark.concept}")
    return out


_NUMBERS = ("amount=", "ident=")
_NUMBER_WORDS = ("number", "no", "nr", "the")
_NOUNS = ("thing", "word", "name", "person")
_LETTERED = (*_NOUNS, "single")


def numbers(t: Tokens) -> Array:
    """Return which tokens may number something: numbers, identifiers, capital letters."""
    valued = t.where(lambda concept, *_: concept.startswith(_NUMBERS), "value")
    return valued | t.where(lambda concept, kind, surface: _capital(surface), letters=True)


def _marks(token: Token) -> bool:
    return (token.kind == "value" and token.concept.startswith(_NUMBERS)) or _letter(token)


def _letter(token: Token) -> bool:
    return _capital(token.surface)


def _capital(surface: str) -> bool:
    return len(surface) == 1 and "A" <= surface <= "Z" and surface != "I"


def _is_han(surface: str) -> bool:
    return "一" <= surface[0] <= "鿿"


def _says(then: Token) -> bool:
    return then.kind in _VERBAL or then.concept in ("copula", "aux") or then.surface == "的"


def _verb_like(then: Token) -> bool:
    """An English word that no lexicon knows and that may be a verb in the third person."""
    return then.kind == "word" and re.fullmatch("[a-z]+[^s]s", then.surface) is not None
