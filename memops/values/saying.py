"""Saying: a text that holds a sign as what it says, under which sign, and of what alone.

Two texts with a saying in common state one thing, however denials, quantifiers and words of must and
may are put: the same words under the same normal form (`algebra.Sign`), with the same values.
"""

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
    MOST,
    MUST,
    NEARLY,
    NON,
    NOT,
    ONE,
    ONLY,
    SOME,
    STILL,
    WAS,
    Sign,
    reduced,
)
from memops.values.clauses import clauses
from memops.values.forms import DAYS
from memops.values.operators import GAP, Word, Words, words
from memops.values.signs import signed
from memops.values.value import Value, counted, other_side

_LEAST, _AFFIRMED = 1, 1.5  # words that are denied or limited, and others; fewer are no statement
_SIGNS = 2  # of a script without spaces, for a word
_BARE = 2  # words, of which none need say that it is meant of all or none
_NAUGHT: tuple[list[str], ...] = ([], ["prep"])  # what words say that say nothing alone
_FAR = 8  # signs between "only" and the time that it speaks of
_TIMES = frozenset({"date", "time", "weekday", "frequency"})
_NEAR = 4  # words that "only" may speak of where it stands before a verb
_QUANTIFIERS = frozenset((ALL, NEARLY, MOST, MANY, SOME, ONE))
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


class _Part(NamedTuple):
    """A clause: its words, its sign, which of them it may be limited to (from, until), and where the sign stands.

    And which of its words may be meant of all or of any without a word that says so (`bare`).
    """

    said: tuple[str, ...]
    sign: Sign
    limits: tuple[tuple[int, int], ...]
    places: dict[int, str]
    bare: Sequence[int] = ()


class Saying(NamedTuple):
    """What a text says: its one sign, or None; the `normal` one with its values; the words under it.

    `around` is the same with its signs round from the least word, `denials` how many words stand before
    those that deny a verb, and `scopes` the words that stand under one sign alone, with it. `words` are null
    and `of` is empty where that is not clear: of a text without a sign, of one whose clauses differ in sign, or in
    which two words tell how many, as nobody knows which goes first.
    """

    sign: Sign | None
    normal: Sign | None
    values: Sequence[Value]
    words: str | None = None
    of: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    denials: str = ""
    held: str = ""
    scopes: Mapping[str, str] = {}


def saying(text: str, values: Sequence[Value], langs: tuple[str, ...] | None = None) -> Saying:
    """Return what a text says; `of` holds it once for each time and each word that it may hold of alone.

    `langs` are the languages whose words are looked for, those of `spoken` if none are given.
    """
    known = words(langs or spoken(text))
    if not known.bear(text):
        return Saying(Sign(), Sign(), values)
    cut = clauses(text, known, [piece for value in values for piece in value.pieces()])
    signs = [signed(clause, known) for clause in cut] or [Sign()]
    sign = signs[0] if len({*signs}) == 1 else None
    times = [value.start for value in values if value.kind in _TIMES]
    parts = [*map(_part, cut, signs, repeat(known), repeat(times))]
    normal = sign
    if sign is not None:
        normal, values = _affirmed(sign, parts, values, cut)
        if normal != sign:
            parts = [part._replace(sign=normal, limits=()) for part in parts]
    scopes = _scopes(cut, signs, known)
    return _said(parts, normal, cut, text, values, known)._replace(sign=sign, scopes=scopes)


def _affirmed(
    sign: Sign, parts: Sequence[_Part], values: Sequence[Value], cut: Sequence[Sequence[Word]]
) -> tuple[Sign, Sequence[Value]]:
    """A sign and values, with what is denied or limited beside a bound, or a day of the week, said of the others.

    Not more than three is at most three; what is so only on Sundays is not so on the days from Monday to Saturday.
    """
    bounds = [n for n, value in enumerate(values) if value.form.lstrip("~")[:1] in ("<", ">")]
    days = [n for n, value in enumerate(values) if value.kind == "weekday"]
    if len(bounds) == 1 and not sign.ops & _LIMITING | _LIMITED & sign.ops:
        at, value = bounds[0], values[bounds[0]]
        denied = min((w.start for clause in cut for w in clause if NOT in (w.ops or ())), default=0)
        form = counted(value.kind, value.form)
        if sign.denies and MAY not in sign.ops and (value.kind in _TIMES or denied < value.start):
            sign, form = sign.flipped(), counted(value.kind, other_side(form))
        if not sign.denies:
            most = form.lstrip("~")[0] == "<" and value.kind not in _TIMES
            sign = Sign(sign.ops - ({MAY, MUST} if most else {MUST}))
    elif len(days) == 1 and ONLY in sign.ops and [part.limits for part in parts] == [_AT_TIMES]:
        at, value = days[0], values[days[0]]
        left = sorted({*range(len(DAYS))} - {DAYS.index(day) for day in value.form.split(",")})
        form = ",".join(DAYS[day] for day in left)
        sign = Sign(sign.ops - {ONLY}, not sign.denies)
    else:
        return sign, values
    return sign, [*values[:at], value._replace(form=form), *values[at + 1 :]]


def _scopes(
    cut: Sequence[Sequence[Word]], signs: Sequence[Sign], known: Words
) -> Mapping[str, str]:
    """Words of content, each with the sign of its clause and with what stands right before it: not pay, all guests.

    A word that stands under several says nothing of who holds which: Vera must sign and Jonas may sign.
    """
    under: dict[str, set[str]] = {}
    if not any(word.ops for clause in cut for word in clause):
        return {}
    contents, _ = _contents(known)
    told = (str(Sign(sign.ops - {STILL}, sign.denies)) for sign in signs)
    for clause, sign in zip(cut, told, strict=False):
        ops: list[str] = []
        for word in clause:
            if word.ops:
                ops += [op for op in word.ops if op != STILL]
            elif word.ops is None:
                for nth, said in enumerate(contents[word.said]):
                    own = _come(tuple(ops)) if ops and nth < _SIGNS else ""
                    under.setdefault(said, set()).add(f"{sign} {own}")
                ops = []
    return {word: held.pop() for word, held in under.items() if len(held) == 1}


@lru_cache(50_000)
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
        return Saying(None, None, values)
    whole = None if any(_unclear(clause, known) for clause in cut) else _whole(parts)
    if whole is None or _size(whole.said) < _least_of(whole.sign):
        return Saying(sign, sign, values)
    every = [word for clause in cut for word in clause]
    spans = [(word.start, word.end) for word in every if word.ops]
    free = [v for v in values if not any(a < v.end and v.start < b for a, b in spans)]
    normal, forms = whole.sign, sorted({f"{value.kind}={value.form}" for value in free})
    said = [word.said for word in every]
    times = known.times(every, STILL in normal.ops and normal.denies)
    who = map(str, known.persons(said, bool(_LIMITING & whole.sign.ops)))
    suffered = sorted({*said} & known.suffering)
    told = " ".join((*forms, "|", *who, *suffered))
    of, around = list[str](), list[str]()
    for words_, sign in _turned(whole, normal, known, len(parts) == 1):
        orders = [_limited(words_, *limit) for limit in whole.limits]  # only X, who is no one but X
        rounded = _rounded(words_, sign, whole.places) if not orders else ()
        for tail in (f"| {told} | {time}" for time in times):
            of += [" ".join((_shown(sign), *one, tail)) for one in orders or [words_]]
            around += [" ".join((_shown(sign), *rounded, tail))] if rounded else []
    denials = " ".join(str(at) for at, mark in whole.places.items() if mark == _DENIAL)
    bare = sorted(word.removeprefix(ALL) for word in whole.said)
    held = " ".join((str(normal), *bare, "|", *forms))
    held_ = held if normal != _PLAIN or known.holds(text) else None
    return Saying(normal, normal, values, held_, (*of,), (*around,), denials, known.held(every))


def _least_of(sign: Sign) -> float:
    return _LEAST if sign.denies or sign.ops - {ALL} else _AFFIRMED


def _size(said: Sequence[str]) -> float:
    return sum(1 if word.isascii() or len(word) > 1 else 1 / _SIGNS for word in said)


def _shown(sign: Sign) -> str:
    """A sign as it is told: of what is said of all nobody needs to say so."""
    return str(Sign(sign.ops - {ALL}, sign.denies))


def _turned(
    whole: _Part, sign: Sign, known: Words, alone: bool
) -> Iterator[tuple[tuple[str, ...], Sign]]:
    """What is said, and the same by the words that are turned round in it: who is unpaid is not paid.

    Of several clauses nobody knows which the word turns. Of few words none need be marked as said of all, or of none.
    """
    said = whole.said
    if len(said) <= _BARE and not _LIMITING & sign.ops:
        bare = tuple([word.removeprefix(ALL) for word in said])
        if bare != said:
            yield from _turned(whole._replace(said=bare), sign, known, alone)
    yield said, sign
    if not alone:
        return
    for at in whole.bare if whole.bare and ALL not in "".join(said) else ():
        yield (*said[:at], ALL + said[at], *said[at + 1 :]), sign
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
    """Whether a clause supposes something, or tells of two things how many they are, or that they may or must be so."""
    heard = [word for word in clause if word.said not in known.echoes]
    told = [set(word.ops) if word.ops is not None else None for word in heard]
    return (
        any("if" in ops for ops in told if ops)
        or _apart(told, _QUANTIFIERS)
        or _apart(told, _MOODS)
    )


def _apart(told: Sequence[set[str] | None], kinds: frozenset[str]) -> bool:
    """Whether operators of some kinds stand apart, but for "no" behind another: some have none."""
    seen = said = plain = False
    for ops in told:
        if ops is None:
            said = True
        elif ops & kinds:
            if seen and said and not (ops == _NONE and plain):
                return True
            seen, said, plain = True, False, NOT not in ops
    return False


_MOODS = frozenset((MUST, MAY))
_NONE = {NOT, SOME}


def _part(clause: Sequence[Word], sign: Sign, known: Words, times: Sequence[int]) -> _Part:
    contents, whom = _contents(known)
    said = [contents[word.said] if word.ops is None else whom.get(word.said, ()) for word in clause]
    _mark(clause, said, sign, known)
    for behind, one in enumerate(clause[:-1], 1):
        head = one.said.partition(GAP)[0]
        apart = head in known.each and known.measures.issuperset(said[behind][:1])
        counts = one.ops and (head.endswith("一") or apart)
        if counts and clause[behind].ops is None and clause[behind].start == one.end:
            said[behind] = [*said[behind]][1:]  # what it is counted by: 没有一张账单
    limiting = [at for at, word in enumerate(clause) if _LIMITING.intersection(word.ops or ())]
    if limiting:
        said = [[w.removeprefix(ALL) for w in own if w[0] != _WHO] for own in said]
    each = [{*_limits(clause, said, at, known, times)} for at in limiting]
    limits = sorted(set[tuple[int, int]].intersection(*each)) if each else ()
    bare = () if limiting else [*_bare(clause, said, sign, known)]
    return _Part(tuple(_flat(said)), sign, tuple(limits), _places(clause, said, known), bare)


def _bare(
    clause: Sequence[Word], said: Sequence[Sequence[str]], sign: Sign, known: Words
) -> Iterator[int]:
    """Which words may be meant of all, or where it is denied of any: guests must not smoke, sells no tea."""
    at, before = 0, None
    for word, own in zip(clause, said, strict=True):
        many = (
            before is None
            and word.said.endswith(known.plural)
            and (sign.denies or _MOODS & sign.ops)
        )
        some = before is not None and (before.ops is None or before.said in known.indefinite)
        if word.ops is None and word.said.isascii() and (many or (some and sign.denies)):
            yield at
        at, before = at + len(own), word


def _limits(
    clause: Sequence[Word],
    said: Sequence[Sequence[str]],
    at: int,
    known: Words,
    times: Sequence[int],
) -> Iterator[tuple[int, int]]:
    """Which words a word may limit what is said to: of several it may be one, or the next ones, too."""
    word, before, size = clause[at], len(_flat(said[:at])), len(_flat(said))
    then = next((n for n in range(at + 1, len(clause)) if [*said[n]] not in _NAUGHT), None)
    last = word.end + _FAR if then is None else clause[then].start
    opens = word.said in known.trailing and not before
    behind = [w.said for w in clause[at + 1 : at + 2]]
    if (
        ONLY in (word.ops or ())
        and " " not in word.said
        and not known.named.keys().isdisjoint(behind)
    ):
        return  # only you can pay, and not: you can only pay
    if any(word.end <= time <= last or (opens and time < word.start) for time in times):
        yield from _AT_TIMES  # Sunday is the only day
    elif word.said in known.closing:
        yield before - 1, before
    elif opens:  # the only one who pays is Ida
        yield from ((size - n, size) for n in range(1, min(_NEAR, size) + 1))
    elif word.said in known.trailing or before == size:
        yield from ((before - n, before) for n in range(1, min(_NEAR, before) + 1))
    elif before and ONLY not in (word.ops or ()) and not any(w.ops for w in clause[at + 1 :]):
        yield before, size  # the walls except the north wall
    else:
        yield from ((before, before + n) for n in range(1, min(_NEAR, size - before) + 1))
        mood = at > 0 and bool(_MOODS.intersection(clause[at - 1].ops or ()))
        if (before or mood) and ONLY in (word.ops or ()):  # only speaks Polish, speaks only Polish
            yield from ((size - n, size) for n in range(1, min(_NEAR, size - before) + 1))


_AT_TIMES = ((0, 0),)
"""What is limited to a time holds of no word alone."""


def _limited(said: Sequence[str], begin: int, end: int) -> tuple[str, ...]:
    """Words with those first that they are limited to, and once: the login test is the only test that fails."""
    alone = said[begin:end]
    return (*alone, ">", *(w for w in (*said[:begin], *said[end:]) if w not in alone))


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
        elif _joins(word.said):
            out.setdefault(at, _PLACE + word.said)
        at += 0 if own and own[0][0] == _WHO else len(own)
    return out


@lru_cache(50_000)
def _joins(said: str) -> bool:
    return meaning(said) == _CONJUNCTION


@cache
def _contents(known: Words) -> tuple[Kept[str, Sequence[str]], Mapping[str, Sequence[str]]]:
    """What words say, by what they mean; and those for whom or what is meant of all, or of none.

    A run of a script without spaces is said sign by sign; everybody and nothing are of the last.
    """

    def told(said: str) -> Sequence[str]:
        if said.isascii():
            return (" ".join(meant(known.base.get(word, word)) for word in said.split(" ")),)
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
    for nth, (at, word) in enumerate(marks):
        if not word.isascii() or word in known.temporal or word in known.pronouns:
            continue
        if nth and clause[at].ops == (NOT, SOME):  # some flats have no lift, do not have a lift
            continue
        floats = clause[at].ops == (ALL,) and _floats(clause[:at], known)
        first_ = 0 if floats else at + 1  # the guests don't all pay
        then = next((n for n in range(first_, len(said)) if said[n]), None)
        if then is not None and clause[then].ops is None:
            first, *rest = said[then]
            said[then] = [f"{ALL}{first}", *rest]


def _floats(before: Sequence[Word], known: Words) -> bool:
    """Whether "all" behind some words is said of the first thing: the guests don't all pay, the guests all pay."""
    named = [word.said for word in before if word.ops is None]
    alone = len(named) == 1 and named[0].endswith(known.plural) and before[-1].said == named[0]
    return alone or bool(before and NOT in (before[-1].ops or ()))


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
    if len({(part.sign, part.limits) for part in parts}) != 1:
        return None
    sizes = accumulate((sum(word[0] != _WHO for word in part.said) for part in parts), initial=0)
    places = {
        at + size: mark
        for part, size in zip(parts, sizes, strict=False)
        for at, mark in part.places.items()
    }
    said = tuple(_flat(part.said for part in parts))
    limits = parts[0].limits if len(parts) == 1 else ()
    return parts[0]._replace(said=said, places=places, limits=limits)


def _implied(part: _Part, chief: _Part) -> bool:
    """Whether a clause says again what another implies: he used to, and now he does not."""
    limits = _LIMITED & chief.sign.ops
    again = {*part.said} <= {*chief.said} and part.sign.ops - {ALL, MAY} <= chief.sign.ops
    return again and (ONLY in limits or part.sign.denies == chief.sign.denies)
