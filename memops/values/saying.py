"""Saying: a text that holds a sign as what it says, under which sign, and of what alone.

Two texts with a saying in common state one thing, however denials, quantifiers and words of must and
may are put: the same words under the same normal form (`algebra.Sign`), with the same values.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise, repeat
from typing import NamedTuple

from memops.language.detection import spoken
from memops.language.keeping import Kept
from memops.language.vocabulary import meant
from memops.values.algebra import (
    ALL,
    MANY,
    MAY,
    MUST,
    NOT,
    ONE,
    SOME,
    Sign,
)
from memops.values.clauses import clauses
from memops.values.operators import Word, Words, words
from memops.values.parts import LIMITED, LIMITING, LIMITS, WHO, Part, contents, part, whole
from memops.values.scales import SCALED, counted_out, each
from memops.values.signs import signed
from memops.values.value import Value

_LEAST, _AFFIRMED = 1, 1.5  # words that are denied or limited, and others; fewer are no statement
_SIGNS = 2  # of a script without spaces, for a word
_TIMES = frozenset({"date", "time", "weekday", "frequency"})
_MOVED = (6, 16)  # words, and both ends, of a text of which a part may have moved
_SOME = frozenset((SOME, MANY, ONE))
_QUANTIFIERS = _SOME | {ALL}
_PLAIN = Sign()
_AFFIXED = 2  # letters that are no word


class Saying(NamedTuple):
    """What a text says: its one sign, or None; the words under it; and the same of each that may be meant.

    `words` are null and `of` is empty where that is not clear: of a text without a sign, of one whose
    clauses differ in sign, or in which two words tell how many, as nobody knows which goes first.
    """

    sign: Sign | None
    words: str | None = None
    of: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    """The same, in whatever order its parts stand."""
    chain: frozenset[str] = frozenset()
    """Each two words that follow each other: a part that has moved tears three, who stand the other way round four."""
    counted: frozenset[str] = frozenset()
    """Words of which all or none are meant."""
    definite: frozenset[str] = frozenset()
    """Words of which a certain one is meant."""


def saying(text: str, values: Sequence[Value]) -> Saying:
    """Return what a text says; `of` holds it once for each time and each word that it may hold of alone."""
    known = words(spoken(text))
    if not known.bear(text) and not any(v.kind == "share" and v.form[0] in "<>" for v in values):
        return Saying(Sign())
    cut = clauses(text, known, [piece for value in values for piece in value.pieces()])
    signs = [signed(clause, known) for clause in cut] or [Sign()]
    sign = signs[0] if len({*signs}) == 1 else None
    times = [(v.start, v.end, v.form[0] in "<>") for v in values if v.kind in _TIMES | SCALED]
    parts = [*map(part, cut, signs, repeat(known), repeat(times))]
    return _said(parts, sign, cut, text, values, known)


def _said(
    parts: Sequence[Part],
    sign: Sign | None,
    cut: Sequence[Sequence[Word]],
    text: str,
    values: Sequence[Value],
    known: Words,
) -> Saying:
    if sign is None and LIMITED.isdisjoint(op for part in parts for op in part.sign.ops):
        return Saying(None)
    one = None if any(_unclear(clause, known) for clause in cut) else whole(parts)
    if one is None or _size(one.said, values) < _least_of(one.sign):
        return Saying(sign)
    every = [word for clause in cut for word in clause]
    denials = [word.start for word in every if NOT in (word.ops or ())]
    normal, forms = counted_out(one.sign, one.of, _free(every, denials, values), denials)
    ways = _ways(one, normal, every, known)
    ends = _ends(one, normal, every, forms, known)
    told = " ".join((str(normal), *sorted(one.said), "|", *forms))
    row = _row(one, normal, known)
    short = _short(row, normal)
    return Saying(
        sign,
        told if sign != _PLAIN or known.holds(text) else None,
        tuple(" ".join((_shown(s), *_ordered(w, s), end)) for w, s in ways for end in ends),
        tuple(" ".join((_shown(s), *sorted(w), end)) for w, s in ways for end in ends if short),
        frozenset(map(" ".join, pairwise(row))),
        one.counted,
        one.definite,
    )


def _free(every: Sequence[Word], denials: Sequence[int], values: Iterable[Value]) -> list[Value]:
    """The values that no operator is read from."""
    spans = [(word.start, word.end) for word in every if word.ops]
    told = ((v, each(v, denials)) for v in values)
    return [
        new
        for v, new in told
        if new is not v or not any(a < v.end and v.start < b for a, b in spans)
    ]


_Way = tuple[tuple[str, ...], Sign]
"""What is said, and under which sign."""


def _ways(one: Part, normal: Sign, every: Sequence[Word], known: Words) -> list[_Way]:
    """The ways in which a text may be said: what nobody is said to do, anybody may; who has yet to may not."""
    limited = not LIMITING.isdisjoint(normal.ops)
    said = tuple([w for w in one.said if w[0] != WHO]) if limited else one.said
    ways = [*_turned(said, normal, known)]
    done = None if limited else _agentless(every, known)
    if done in said:
        ways += [((f"{WHO}0", done, *(w for w in some if w != done)), s) for some, s in ways]
    if _after(one, normal):
        ways += [(some, Sign(s.ops | {MUST}, s.denies)) for some, s in ways]
    return ways


def _after(one: Part, normal: Sign) -> bool:
    """Whether what was limited to a point of a scale is told of what comes before."""
    return normal is not one.sign and bool(LIMITS & one.sign.ops)


def _ends(
    one: Part, normal: Sign, every: Sequence[Word], forms: Sequence[str], known: Words
) -> list[str]:
    """What a text says beside its words: values, persons, its time, and of what alone."""
    said = [word.said for word in every]
    anybody = known.generic if normal.ops & {MAY, MUST} else ()
    who = map(str, known.persons([word for word in said if word not in anybody]))
    told = " ".join((*forms, "|", *who, *sorted({*said} & known.suffering)))
    alone = [""] if _after(one, normal) else sorted(one.of) or [""]
    return [f"| {told} | {time} {word}" for time in known.times(every) for word in alone]


def _row(one: Part, normal: Sign, known: Words) -> list[str]:
    """The words in their order between the two ends; who first does what all do is not told."""
    limited = not LIMITING.isdisjoint(normal.ops)
    bare = _turning(known)
    told = [w for nth, w in enumerate(one.chain) if w[0] != WHO or (nth and not limited)]
    return ["^", *(min([word, *bare[word]]) for word in told), "$"]


def _least_of(sign: Sign) -> float:
    return _LEAST if sign.denies or sign.ops - {ALL} else _AFFIRMED


def _size(said: Sequence[str], values: Sequence[Value]) -> float:
    return bool(said and values) + sum(
        1 if word.isascii() or len(word) > 1 else 1 / _SIGNS for word in said
    )


def _shown(sign: Sign) -> str:
    """A sign as it is told: of what is said of all nobody needs to say so."""
    return str(Sign(sign.ops - {ALL}, sign.denies))


def _turned(
    said: tuple[str, ...], sign: Sign, known: Words
) -> Iterator[tuple[tuple[str, ...], Sign]]:
    """What is said, and the same by the words that are turned round in it: who is unpaid is not paid."""
    yield said, sign
    turning = _turning(known)
    for at, word in enumerate(said):
        for other in turning[word]:
            yield (*said[:at], other, *said[at + 1 :]), sign.flipped()


def _short(row: Sequence[str], sign: Sign) -> bool:
    """Whether of so few words a part may have moved; of three, where the sign is of one of them alone."""
    least, most = _MOVED
    return least - bool(LIMITS & sign.ops) <= len(row) <= most and _SOME.isdisjoint(sign.ops)


def _agentless(clause: Sequence[Word], known: Words) -> str | None:
    """What is done to something, where nobody is said to do it: it is left."""
    if not known.passive.isdisjoint(word.said for word in clause):
        return None
    for one, then in pairwise(clause):
        if then.ops is None and known.participle(then.said) and meant(one.said) == "copula":
            return next(iter(contents(known)[0][then.said]), None)
    return None


@cache
def _partners(known: Words) -> dict[str, str]:
    """Words by what they mean, of which one is so where the other is not."""
    return {_meant(one): _meant(other) for one, other in known.partner.items()}


def _meant(word: str) -> str:
    return meant(word) if word.isascii() else word


@cache
def _turning(known: Words) -> Kept[str, tuple[str, ...]]:
    """What words deny."""
    return Kept(partial(_others, known=known))


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


def _ordered(said: Sequence[str], sign: Sign) -> Sequence[str]:
    """The words from the least of them on, as what is spoken of may be put first.

    Not where a word tells how many: some like him who likes some.
    """
    if not said or not _SOME.isdisjoint(sign.ops):
        return said
    least = min(said)
    return min([*said[n:], *said[:n]] for n, word in enumerate(said) if word == least)
