"""Saying: a text that holds a sign as what it says, under which sign, and of what alone.

Two texts with a saying in common state one thing, however denials, quantifiers and words of must and
may are put: the same words under the same normal form (`algebra.Sign`), with the same values.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate, repeat
from typing import NamedTuple

from memops.language.detection import spoken
from memops.language.keeping import Kept
from memops.language.vocabulary import meaning, meant
from memops.values.algebra import (
    ALL,
    FROM,
    MANY,
    MAY,
    NON,
    NOT,
    ONE,
    ONLY,
    SOME,
    WAS,
    Sign,
    reduced,
)
from memops.values.clauses import clauses
from memops.values.operators import GAP, Word, Words, words
from memops.values.signs import signed
from memops.values.value import Value

_LEAST, _AFFIRMED = 1, 1.5  # words that are denied or limited, and others; fewer are no statement
_SIGNS = 2  # of a script without spaces, for a word
_BARE = 2  # words, of which none need say that it is meant of all or none
_NAUGHT: tuple[list[str], ...] = ([], ["prep"])  # what words say that say nothing alone
_FAR = 8  # signs between "only" and the time that it speaks of
_TIMES = frozenset({"date", "time", "weekday", "frequency"})
_NEAR = 4  # words that "only" may speak of where it stands before a verb
_QUANTIFIERS = frozenset((ALL, SOME, MANY, ONE))
_LIMITING = frozenset((ONLY, FROM, NON, "also", "except", "unless", "without", "until"))
_LIMITED = frozenset((ONLY, WAS))
_PLAIN = Sign()
_PLACE, _DENIAL, _JOIN = (
    "/",
    "!",
    "=",
)  # where a sign stands, one of a verb, what else joins two parties
_RAISED = {_DENIAL: _PLACE}
_WHO = "*"  # who or what is meant of all or none, with the row of its word
_CONJUNCTION = ("conj", "function")
_AFFIXED = 2  # letters that are no word
_BOUND = re.compile(r"[<>]=?\d+$")


class _Part(NamedTuple):
    """A clause: its words, its sign, the words that the sign may be limited to, and where the sign stands."""

    said: tuple[str, ...]
    sign: Sign
    of: frozenset[str]
    places: dict[int, str]


class Saying(NamedTuple):
    """What a text says: its one sign, or None; the words under it; and the same of each that may be meant.

    `around` is the same with its signs round from the least word, `denials` how many words stand before
    those that deny a verb, and `scopes` each sign with the word behind it. `words` are null and `of` is
    empty where that is not clear: of a text without a sign, of one whose clauses differ in sign, or in
    which two words tell how many, as nobody knows which goes first.
    """

    sign: Sign | None
    words: str | None = None
    of: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    denials: str = ""
    scopes: str = ""


def saying(text: str, values: Sequence[Value]) -> Saying:
    """Return what a text says; `of` holds it once for each time and each word that it may hold of alone."""
    known = words(spoken(text))
    if not known.bear(text):
        return Saying(Sign())
    cut = clauses(text, known, [piece for value in values for piece in value.pieces()])
    signs = [signed(clause, known) for clause in cut] or [Sign()]
    sign = signs[0] if len({*signs}) == 1 else None
    times = [value.start for value in values if value.kind in _TIMES]
    parts = [*map(_part, cut, signs, repeat(known), repeat(times))]
    scopes = " ".join(sorted(scope for clause in cut for scope in _scopes(clause, known)))
    return _said(parts, sign, cut, text, values, known)._replace(scopes=scopes)


def _scopes(clause: Sequence[Word], known: Words) -> Iterator[str]:
    """What each sign of a clause comes to, with the word behind it: not pay, all guests."""
    ops: list[str] = []
    for word in clause:
        if word.ops:
            ops += word.ops
        elif ops and word.ops is None:
            behind = _contents(known)[0][word.said]
            yield f"{_come(tuple(ops))} {''.join(behind[:_SIGNS])}"
            ops = []
    if ops:
        yield _come(tuple(ops))


@lru_cache(100_000)
def _come(ops: tuple[str, ...]) -> str:
    """What operators come to."""
    return str(reduced(ops))


def _said(
    parts: Sequence[_Part],
    sign: Sign | None,
    cut: Sequence[Sequence[Word]],
    text: str,
    values: Sequence[Value],
    known: Words,
) -> Saying:
    if sign is None and _LIMITED.isdisjoint(op for part in parts for op in part.sign.ops):
        return Saying(None)
    whole = None if any(_unclear(clause, known) for clause in cut) else _whole(parts)
    if whole is None or _size(whole.said) < _least_of(whole.sign):
        return Saying(sign)
    every = [word for clause in cut for word in clause]
    spans = [(word.start, word.end) for word in every if word.ops]
    free = [v for v in values if not any(a < v.end and v.start < b for a, b in spans)]
    denied = min((word.start for word in every if NOT in (word.ops or ())), default=0)
    normal, forms = _counted(whole.sign, free, denied)
    said = [word.said for word in every]
    times = known.times(every)
    who = map(str, known.persons(said, bool(_LIMITING & whole.sign.ops)))
    suffered = sorted({*said} & known.suffering)
    told = " ".join((*forms, "|", *who, *suffered))
    turned = [*_turned(whole.said, normal, known, len(parts) == 1)]
    rounded = [(_rounded(words_, sign, whole.places), sign) for words_, sign in turned]
    of, around = (
        tuple(
            " ".join((_shown(sign), *words_, "|", told, "|", time, word))
            for words_, sign in forms_
            if words_
            for time in times
            for word in sorted(whole.of) or [""]
        )
        for forms_ in (turned, rounded)
    )
    denials = " ".join(str(at) for at, mark in whole.places.items() if mark == _DENIAL)
    bare = sorted(word.removeprefix(ALL) for word in whole.said)
    told = " ".join((str(normal), *bare, "|", *forms))
    words_ = told if sign != _PLAIN or known.holds(text) else None
    return Saying(sign, words_, of, around, denials)


def _least_of(sign: Sign) -> float:
    return _LEAST if sign.denies or sign.ops - {ALL} else _AFFIRMED


def _size(said: Sequence[str]) -> float:
    return sum(1 if word.isascii() or len(word) > 1 else 1 / _SIGNS for word in said)


def _shown(sign: Sign) -> str:
    """A sign as it is told: of what is said of all nobody needs to say so."""
    return str(Sign(sign.ops - {ALL}, sign.denies))


def _turned(
    said: tuple[str, ...], sign: Sign, known: Words, alone: bool
) -> Iterator[tuple[tuple[str, ...], Sign]]:
    """What is said, and the same by the words that are turned round in it: who is unpaid is not paid.

    Of several clauses nobody knows which the word turns. Of few words none need be marked as said of all, or of none.
    """
    limited = bool(_LIMITING & sign.ops)
    if limited:
        said = tuple([word for word in said if word[0] != _WHO])
    if limited or len(said) <= _BARE:
        bare = tuple([word.removeprefix(ALL) for word in said])
        if bare != said:
            yield from _turned(bare, sign, known, alone)
            if limited:
                return
    yield said, sign
    if not alone:
        return
    turning = _turning(known)
    for at, word in enumerate(said):
        for other in turning[word]:
            yield (*said[:at], other, *said[at + 1 :]), sign.flipped()


@cache
def _partners(known: Words) -> dict[str, str]:
    """Words by what they mean, of which one is so where the other is not."""
    return {_meant(one): _meant(other) for one, other in known.partner.items()}


def _meant(word: str) -> str:
    return meant(word) if word.isascii() else word


@cache
def _turning(known: Words) -> Kept[str, tuple[str, ...]]:
    """What words deny, each marked as it is."""

    def told(word: str) -> tuple[str, ...]:
        mark = ALL if word.startswith(ALL) else ""
        return tuple(mark + other for other in _others(word.removeprefix(mark), known))

    return Kept(told)


def _others(word: str, known: Words) -> tuple[str, ...]:
    """What a word denies: itself without what turns it round, or what is so where it is not."""
    turned = (affix for affix in known.affixes if word.startswith(affix))
    bare = [
        word.removeprefix(affix).lstrip("-")
        for affix in turned
        if len(word) > len(affix) + _AFFIXED
    ]
    partner = _partners(known).get(word)
    return (*([partner] if partner else ()), *(meant(known.base.get(one, one)) for one in bare))


def _unclear(clause: Sequence[Word], known: Words) -> bool:
    """Whether a clause supposes something, or tells of two things how many they are."""
    heard = [word for word in clause if word.said not in known.echoes]
    told = [set(word.ops) if word.ops is not None else None for word in heard]
    seen = said = False
    for ops in told:
        if ops is None:
            said = True
        elif "if" in ops or (ops & _QUANTIFIERS and seen and said):
            return True
        elif ops & _QUANTIFIERS:
            seen, said = True, False
    return False


def _part(clause: Sequence[Word], sign: Sign, known: Words, times: Sequence[int]) -> _Part:
    contents, whom = _contents(known)
    said = [contents[word.said] if word.ops is None else whom.get(word.said, ()) for word in clause]
    _mark(clause, said, sign, known)
    for behind, one in enumerate(clause[:-1], 1):
        counts = one.ops and one.said.partition(GAP)[0].endswith("一")
        if counts and clause[behind].ops is None and clause[behind].start == one.end:
            said[behind] = [*said[behind]][1:]  # what it is counted by: 没有一张账单
    of: set[str] | None = None
    for at, word in enumerate(clause):
        if not _LIMITING.intersection(word.ops or ()):
            continue
        before, after = (_flat(side) for side in (said[:at], said[at + 1 :]))
        then = next((n for n in range(at + 1, len(clause)) if [*said[n]] not in _NAUGHT), None)
        last = word.end + _FAR if then is None else clause[then].start
        if any(word.end <= time <= last for time in times):
            here = {"="}  # only on Fridays
        elif word.said in known.closing:
            here = set(before[-1:])
        elif word.said in known.trailing or not after:
            here = set(before[-_NEAR:] or after[-1:])
        else:
            here = set(after[: _NEAR if before and word.ops == (ONLY,) else 1])
        of = here if of is None else of & here
    return _Part(tuple(_flat(said)), sign, frozenset(of or ()), _places(clause, said, known))


def _places(clause: Sequence[Word], said: Sequence[Sequence[str]], known: Words) -> dict[int, str]:
    """How many words stand before each sign, and before "have" and "be" where no sign stands with them."""
    out, at = dict[int, str](), 0
    for word, own in zip(clause, said, strict=True):
        if word.ops:
            out[at] = (
                _DENIAL if word.said in known.denials and out.get(at, _JOIN) == _JOIN else _PLACE
            )
        elif word.said in known.verbs:
            out.setdefault(at, _JOIN)
        elif meaning(word.said) == _CONJUNCTION:
            out.setdefault(at, _PLACE + word.said)
        at += 0 if own and own[0][0] == _WHO else len(own)
    return out


@cache
def _contents(known: Words) -> tuple[Kept[str, Sequence[str]], Mapping[str, Sequence[str]]]:
    """What words say, by what they mean; and those for whom or what is meant of all, or of none.

    A run of a script without spaces is said sign by sign; everybody and nothing are of the last.
    """

    def told(said: str) -> Sequence[str]:
        if said.isascii():
            return (meant(known.base.get(said, said)),)
        return (said,) if said in known.partner else said

    whom = {word: (f"{_WHO}{n}",) for word, n in known.pronouns.items()}
    contents: Kept[str, Sequence[str]] = Kept(told)
    contents.update(whom)
    return contents, whom


_OF_ALL = ((ALL,), (SOME,), (NOT, SOME))


def _mark(clause: Sequence[Word], said: list[Sequence[str]], sign: Sign, known: Words) -> None:
    """Mark the word behind "all", "no" or, where it is denied, "any": no cat likes the dog."""
    few = known.any if sign.denies else ()
    marks = [
        (at, word.said)
        for at, word in enumerate(clause)
        if word.ops in _OF_ALL or (few and word.said in few)
    ]
    for at, word in marks:
        if not word.isascii() or word in known.temporal or word in known.pronouns:
            continue
        then = next((n for n in range(at + 1, len(said)) if said[n]), None)
        if then is not None and clause[then].ops is None:
            first, *rest = said[then]
            said[then] = [f"{ALL}{first}", *rest]


def _flat(said: Iterable[Iterable[str]]) -> list[str]:
    return [word for words_ in said for word in words_]


def _rounded(said: Sequence[str], sign: Sign, places: Mapping[int, str]) -> Sequence[str]:
    """The words, and where signs stand, from the least of them on, as what is spoken of may be put first.

    None where a word tells how many: some like him who likes some.
    """
    if len(said) < _BARE or (_QUANTIFIERS - {ALL}) & sign.ops:
        return ()
    placed, before = list[str](), 0
    for at, word in enumerate(said):
        if (before in places and not at) or (at and said[at - 1][0] != _WHO and before in places):
            placed.append(_RAISED.get(places[before], places[before]))
        placed.append(word)
        before += word[0] != _WHO
    placed += [_RAISED.get(mark, mark) for at, mark in places.items() if at >= before]
    least = min(said)
    return min([*placed[n:], *placed[:n]] for n, word in enumerate(placed) if word == least)


def _whole(parts: Sequence[_Part]) -> _Part | None:
    """Clauses as one: all of one sign, or one of them and others that only say what it implies."""
    limited = [part for part in parts if _LIMITED & part.sign.ops]
    if limited and all(part is limited[0] or _implied(part, limited[0]) for part in parts):
        return limited[0]
    if len({(part.sign, part.of) for part in parts}) != 1:
        return None
    sizes = accumulate((sum(word[0] != _WHO for word in part.said) for part in parts), initial=0)
    places = {
        at + size: mark
        for part, size in zip(parts, sizes, strict=False)
        for at, mark in part.places.items()
    }
    said = tuple(_flat(part.said for part in parts))
    return parts[0]._replace(said=said, places=places)


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
