"""Roles: who does what to whom, told from either side: A lent it to B, B borrowed it from A.

Converse words stand in `signs.toml` of the language packs: with the one the other party comes
first. A text that holds one of them, and two parties, has its role told from both sides.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from memops.language.packs import codes, table
from memops.language.tokens import Keys, Tokens, keys_of
from memops.language.vocabulary import CONTENT
from memops.statements.fact import person
from memops.values.algebra import Sign
from memops.values.operators import words

_Word = tuple[str, str, str]


class _Converse(NamedTuple):
    """A converse word: itself, the words of the other side, its side; whether it is a noun."""

    word: str
    others: tuple[str, ...]
    side: int
    noun: bool


_NOUN = "*"
_OWNED = frozenset({"的"})
_MUTUAL = 2  # the side of what both parties are to each other
_TURNING = 3  # the side of what is told by the word of relation behind it: rent to, rent from


def roles(t: Tokens, signs: Sequence[Sign | None]) -> Keys:
    """Return the roles that texts without a sign tell, each as it is told from either side."""
    held = t.where(lambda concept, kind, said: _converse(said.lower()) is not None)
    rows = np.flatnonzero(t.texts(held) & np.array([sign == Sign() for sign in signs], bool))
    ends = np.append(t.begin, len(t.row))
    told = []
    for row in rows.tolist():
        span = slice(int(ends[row]), int(ends[row + 1]))
        tokens = _called([t.words.words[word] for word in t.word[span].tolist()])
        at = [n for n, (_, _, said) in enumerate(tokens) if _converse(said.lower())]
        if len(at) == 1:
            told.append((row, [*_told(tokens, at[0])]))
    return keys_of(told, t.items)


def _called(tokens: Sequence[_Word]) -> list[_Word]:
    """Tokens, with names of which one sign stands behind how they are called as one: 小马, 老秦."""
    out: list[_Word] = []
    for token in tokens:
        named = token[1] == "word" and len(token[2]) == 1 and not token[2].isascii()
        if named and out and out[-1][2] in _listed("before_names"):
            said = out.pop()[2] + token[2]
            out.append((f"h:{said}", "name", said))
        else:
            out.append(token)
    return out


def _told(tokens: Sequence[_Word], at: int) -> Iterator[str]:
    """What is told of two parties: under the word itself, and under its converses."""
    found = _converse(tokens[at][2].lower())
    parties = _parties(tokens, at)
    if found is None or parties is None:
        return
    one, two = parties
    if one > at and not found.noun:
        return
    if found.noun and not any(concept == "copula" or said in _OWNED for concept, _, said in tokens):
        return  # a supplier was bought
    side = found.side
    if side == _TURNING:
        told = {said.lower() for _, _, said in tokens}
        if told.isdisjoint(_listed("toward")) == told.isdisjoint(_listed("away")):
            return
        side = int(told.isdisjoint(_listed("toward")))
    between = {said.lower() for _, _, said in tokens[one:two]}
    turned = side == 1
    turned ^= bool(between & _listed("passive")) ^ (found.noun and one < at < two)
    names = [tokens[one][0], tokens[two][0]]
    if side == _MUTUAL:
        names.sort()
    elif turned:
        names.reverse()
    rest = sorted(
        concept
        for n, (concept, kind, surface) in enumerate(tokens)
        if n != at
        and kind in CONTENT
        and concept not in names
        and surface.lower() not in _listed("owning")
    )
    said = " ".join(("", ">".join(names), *rest))
    yield f"role={found.word}{said}"
    for other in found.others:
        first, then = (found.word, other) if side == 0 else (other, found.word)
        yield f"role={first}|{then}{said}"


def _parties(tokens: Sequence[_Word], at: int) -> tuple[int, int] | None:
    """Where the two parties stand: the only two names or people, or the only two things."""
    solid = [n for n, (_, kind, _) in enumerate(tokens) if kind in CONTENT and n != at]
    free = [n for n in solid if tokens[n][2].lower() not in _listed("owning")]
    named = [n for n in solid if tokens[n][1] in ("name", "person") or person(*tokens[n])]
    for listed in (named, [n for n in named if n in free], solid):
        if len(listed) == 2 and tokens[listed[0]][0] != tokens[listed[1]][0]:
            return listed[0], listed[1]
    return None


@lru_cache(200_000)
def _converse(said: str) -> _Converse | None:
    """What a word is among the converses, whatever its form."""
    return _converses().get(said.partition(" ")[0].removesuffix("'s"))


def _forms(word: str) -> list[str]:
    """The forms of a word between spaces: lends, lent, lending."""
    if not word.isascii():
        return [word]
    irregular = [form for form, base in words(codes()).base.items() if base == word]
    bare = word.removesuffix("e")
    return [word, *irregular, f"{word}s", f"{word}es", f"{bare}ed", f"{bare}ing"]


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(word for code in codes() for word in table(code, "signs").get(name, ()))


@cache
def _converses() -> dict[str, _Converse]:
    out: dict[str, _Converse] = {}
    for code in codes():
        told = table(code, "signs")
        for pair in told.get("converses", ()):
            out |= _sides(pair)
        for side, name in ((_MUTUAL, "mutual"), (_TURNING, "turned_by")):
            for word in told.get(name, ()):
                out |= dict.fromkeys(_forms(word), _Converse(word, (), side, False))
    return out


def _sides(pair: str) -> Iterable[tuple[str, _Converse]]:
    """The forms of the words of a pair; a star stands behind those that name a party."""
    sides = [side.split() for side in pair.split("|")]
    return [
        (form, _Converse(bare, tuple(w.rstrip(_NOUN) for w in sides[1 - n]), n, word != bare))
        for n, side in enumerate(sides)
        for word in side
        for bare in [word.rstrip(_NOUN)]
        for form in ([bare, f"{bare}s"] if word != bare else _forms(bare))
    ]
