"""Saying: a text that holds a sign as what it says, under which sign, and of what alone.

Two texts with a saying in common state one thing, however denials, quantifiers and words of must and
may are put: the same words under the same normal form (`algebra.Sign`), with the same values.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple

from memops.language.detection import spoken
from memops.language.vocabulary import meant
from memops.values.algebra import ALL, FROM, MANY, MAY, NOT, ONE, ONLY, SOME, WAS, Sign
from memops.values.clauses import GAP, Word, Words, clauses, words
from memops.values.signs import signed
from memops.values.value import Value

_LEAST = 2  # words and values; fewer are no statement
_NEAR = 4  # words that "only" may speak of where it stands before a verb
_QUANTIFIERS = frozenset((ALL, SOME, MANY, ONE))
_LIMITING = frozenset((ONLY, FROM, "also", "except", "unless", "without", "until"))
_LIMITED = frozenset((ONLY, WAS))
_AFFIXED = 2  # letters that are no word
_BOUND = re.compile(r"[<>]=?\d+$")


class _Part(NamedTuple):
    """A clause: the words that it says, its sign, and the words that its sign may be limited to."""

    said: tuple[str, ...]
    sign: Sign
    of: frozenset[str]


class Saying(NamedTuple):
    """What a text says: its one sign, or None; the words under it; and the same of each that may be meant.

    `words` are null and `of` is empty where that is not clear: of a text without a sign, of one whose
    clauses differ in sign, or in which two words tell how many, as nobody knows which goes first.
    """

    sign: Sign | None
    words: str | None = None
    of: tuple[str, ...] = ()


def saying(text: str, values: Sequence[Value]) -> Saying:
    """Return what a text says; `of` holds it once for each time and each word that it may hold of alone."""
    known = words(spoken(text))
    if not known.bear(text):
        return Saying(Sign())
    cut = clauses(text, known, [(value.start, value.end) for value in values])
    signs = [signed(clause, known) for clause in cut] or [Sign()]
    sign = signs[0] if len({*signs}) == 1 else None
    if sign is None and _LIMITED.isdisjoint(op for each in signs for op in each.ops):
        return Saying(None)
    parts = [*map(_part, cut, signs, repeat(known))]
    whole = None if any(map(_unclear, cut)) else _whole(parts)
    if whole is None or not whole.said or len(whole.said) + len(values) < _LEAST:
        return Saying(sign)
    every = [word for clause in cut for word in clause]
    spans = [(word.start, word.end) for word in every if word.ops]
    free = [v for v in values if not any(a < v.end and v.start < b for a, b in spans)]
    denied = min((word.start for word in every if NOT in (word.ops or ())), default=0)
    normal, forms = _counted(whole.sign, free, denied)
    said = [word.said for word in every]
    times, who = known.times(said), map(str, known.persons(said))
    told = " ".join((*forms, "|", *who))
    of = [
        " ".join((_shown(sign), *_ordered(words_, sign), "|", told, "|", time, word))
        for words_, sign in _turned(whole.said, normal, known.affixes)
        for time in times
        for word in sorted(whole.of) or [""]
    ]
    return Saying(sign, " ".join((str(normal), *sorted(whole.said), "|", *forms)), tuple(of))


def _shown(sign: Sign) -> str:
    """A sign as it is told: of what is said of all nobody needs to say so."""
    return str(Sign(sign.ops - {ALL}, sign.denies))


def _turned(
    said: tuple[str, ...], sign: Sign, affixes: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Sign]]:
    """What is said, and the same by the words that are turned round in it: who is unpaid is not paid."""
    yield said, sign
    for at, word in enumerate(said):
        for bare in _bare(word, affixes):
            yield (*said[:at], bare, *said[at + 1 :]), sign.flipped()


@lru_cache(200_000)
def _bare(word: str, affixes: tuple[str, ...]) -> tuple[str, ...]:
    """A word without what turns it round."""
    turned = (affix for affix in affixes if word.startswith(affix))
    return tuple(
        meant(word.removeprefix(affix).lstrip("-"))
        for affix in turned
        if len(word) > len(affix) + _AFFIXED
    )


def _unclear(clause: Sequence[Word]) -> bool:
    """Whether a clause supposes something, or tells of two things how many they are."""
    told = [set(word.ops) if word.ops is not None else None for word in clause]
    seen = said = False
    for ops in told:
        if ops is None:
            said = True
        elif "if" in ops or (ops & _QUANTIFIERS and seen and said):
            return True
        elif ops & _QUANTIFIERS:
            seen, said = True, False
    return False


def _part(clause: Sequence[Word], sign: Sign, known: Words) -> _Part:
    said = [_content(word) if word.ops is None else [] for word in clause]
    for behind, one in enumerate(clause[:-1], 1):
        counts = one.ops and one.said.partition(GAP)[0].endswith("一")
        if counts and clause[behind].ops is None and clause[behind].start == one.end:
            said[behind] = [*said[behind]][1:]  # what it is counted by: 没有一张账单
    of: set[str] | None = None
    for at, word in enumerate(clause):
        if not _LIMITING.intersection(word.ops or ()):
            continue
        before, after = _flat(said[:at]), _flat(said[at + 1 :])
        if word.said in known.trailing or not after:
            here = set(before[-_NEAR:] or after[-1:])
        else:
            here = set(after[: _NEAR if before and word.ops == (ONLY,) else 1])
        of = here if of is None else of & here
    return _Part(tuple(_flat(said)), sign, frozenset(of or ()))


def _content(word: Word) -> Iterable[str]:
    """A word by what it means; a run of a script without spaces sign by sign."""
    return [meant(word.said)] if word.said.isascii() else word.said


def _flat(said: Iterable[Iterable[str]]) -> list[str]:
    return [word for words_ in said for word in words_]


def _ordered(said: Sequence[str], sign: Sign) -> Sequence[str]:
    """The words from the least of them on, as what is spoken of may be put first.

    Not where a word tells how many: nobody likes him who likes nobody.
    """
    if _QUANTIFIERS & sign.ops:
        return said
    least = min(said)
    return min([*said[n:], *said[:n]] for n, word in enumerate(said) if word == least)


def _whole(parts: Sequence[_Part]) -> _Part | None:
    """Clauses as one: all of one sign, or one of them and others that only say what it implies."""
    limited = [part for part in parts if _LIMITED & part.sign.ops]
    if limited and all(part is limited[0] or _implied(part, limited[0]) for part in parts):
        return limited[0]
    if len({(part.sign, part.of) for part in parts}) != 1:
        return None
    return parts[0]._replace(said=tuple(_flat(part.said for part in parts)))


def _implied(part: _Part, chief: _Part) -> bool:
    """Whether a clause says again what another implies: he used to, and now he does not."""
    limits = _LIMITED & chief.sign.ops
    again = {*part.said} <= {*chief.said} and part.sign.ops - {ALL, MAY} <= chief.sign.ops
    return again and (ONLY in limits or part.sign.denies == chief.sign.denies)


def _counted(sign: Sign, values: Iterable[Value], denied: int) -> tuple[Sign, list[str]]:
    """The sign, and values in order; what is so of at most three is not so of four or more.

    A denial before a bound denies the bound; one behind it denies what is said of so many.
    """
    forms = sorted({f"{value.kind}={value.form}" for value in values})
    bounds = [v for v in values if v.kind == "number" and _BOUND.match(v.form)]
    if len(bounds) != 1 or {ONLY, FROM} & sign.ops:
        return sign, forms
    bound, outer = bounds[0], not sign.denies or denied < bounds[0].start
    turn = outer and bound.form.startswith("<")
    forms.remove(f"number={bound.form}")
    told = [_least(bound.form) if turn or bound.form.startswith(">") else bound.form]
    return sign.turned() if turn else sign, [*forms, *told, "" if outer else "of them"]


def _least(bound: str) -> str:
    """The least whole number above a bound from below, or above all that one from above allows."""
    size = int(bound.lstrip("<>="))
    return f">={size + (bound.startswith('>') != ('=' in bound))}"
