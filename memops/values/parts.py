"""Parts: a clause as the words that it says under its sign, what that is limited to, and how they hang together."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from memops.language.keeping import Kept
from memops.language.vocabulary import meant
from memops.values.algebra import ALL, ALSO, FROM, MAY, MUST, NON, NOT, ONLY, SOME, WAS, Sign
from memops.values.operators import GAP, Word, Words, is_wide
from memops.values.scales import BESIDE, SINCE

WHO = "*"
"""Who or what is meant of all or none, before the row of its word."""
LIMITS = frozenset((ONLY, FROM, ALSO, NON))
"""Operators that say so of some alone."""
LIMITED = frozenset((ONLY, WAS))
LIMITING = LIMITS | {"except", "unless", "without", "until"}
_MODAL = (MAY, MUST)
_FAR = 8  # signs between "only" and the time that it speaks of
_NEAR = 4  # words that "only" may speak of where it stands before a verb
_OF_ALL = ((ALL,), (SOME,), (NOT, SOME), (NOT, ALL))
Time = tuple[int, int, bool]
"""Where a time or another point of a scale stands, and whether it is a bound."""


class Part(NamedTuple):
    """A clause: the words that it says, its sign, what that may be limited to, and the rest as in `Saying`."""

    said: tuple[str, ...]
    sign: Sign
    of: frozenset[str]
    chain: tuple[str, ...]
    counted: frozenset[str]
    definite: frozenset[str]


def part(clause: Sequence[Word], sign: Sign, known: Words, times: Sequence[Time]) -> Part:
    """Return what a clause of a sign says; `times` are those of its text."""
    said = _said(clause, known)
    of: set[str] | None = None
    for at, word in enumerate(clause):
        if LIMITING.intersection(word.ops or ()):
            here = _scope(clause, at, said, times, known)
            of = here if of is None else of & here
    of = of if LIMITS & sign.ops else None
    row = (_linked(word, words_, known) for word, words_ in zip(clause, said, strict=True))
    return Part(flat(said), sign, frozenset(of or ()), flat(row), *_told_of(clause, said, known))


def _said(clause: Sequence[Word], known: Words) -> list[Sequence[str]]:
    """What each word of a clause says."""
    of, whom = contents(known)
    said = [of[word.said] if word.ops is None else whom.get(word.said, ()) for word in clause]
    for behind, one in enumerate(clause[:-1], 1):
        counts = one.ops and one.said.partition(GAP)[0].endswith("一")
        if counts and clause[behind].ops is None and clause[behind].start == one.end:
            said[behind] = [*said[behind]][1:]  # what it is counted by: 没有一张账单
    return said


def _scope(
    clause: Sequence[Word],
    at: int,
    said: Sequence[Sequence[str]],
    times: Sequence[Time],
    known: Words,
) -> set[str]:
    """What the operator at a place may speak of."""
    word = clause[at]
    trails = word.said in known.trailing
    then = next((n for n in range(at + 1, len(clause)) if said[n]), None)
    last = word.end + _FAR if then is None else clause[then].start
    aged = last if then is None else clause[then].end + _FAR // 2
    if word.ops == (ONLY,) and _since(clause, at, times, known):
        return {*SINCE}
    ahead = trails and any(end == word.start for _, end, _ in times)
    if ahead or any(word.end <= a <= (aged if bound else last) for a, _, bound in times):
        return {*BESIDE}
    before, after = flat(said[:at]), flat(said[at + 1 :])
    if trails or not after:
        return {*(before[-_NEAR:] or after[-1:])}
    far = before and word.ops == (ONLY,) and word.said not in known.focusing
    return {*after[: _NEAR if far else 1]}


def _since(clause: Sequence[Word], at: int, times: Sequence[Time], known: Words) -> bool:
    """Whether what is so only when a time has come is so from then on: 三十岁才, only when he was thirty."""
    if clause[at].said in known.onset:
        return any(end == clause[at].start for _, end, _ in times)
    behind = [word.end for word in clause[at + 1 :] if word.said in known.onset]
    return any(end < start <= end + _FAR for end in behind[:1] for start, *_ in times)


def _linked(word: Word, said: Sequence[str], known: Words) -> Iterable[str]:
    """A word as a link: what it says, and that it stands between parties: the vet refuses the groom."""
    modal = word.ops and word.ops[-1] in _MODAL and is_wide(word.said)
    return ("|", *said) if modal or word.said in known.parting else said


def _told_of(
    clause: Sequence[Word], said: Sequence[Sequence[str]], known: Words
) -> tuple[frozenset[str], frozenset[str]]:
    """Words of which all or none are meant, and those of which a certain one is: no cat likes the dog."""
    counted, definite = set[str](), set[str]()
    last: set[str] | None = None
    denied = False
    for word, words_ in zip(clause, said, strict=True):
        denied |= NOT in (word.ops or ())
        if words_ and word.ops is None:
            if last is not None:
                last.add(next(iter(words_)))
            last = None
        elif word.said in known.definite:
            last = definite if last is None else last
        elif not word.said.isascii() or word.said in known.temporal or words_:
            continue
        elif word.ops in _OF_ALL or (denied and word.said in known.any):
            last = counted
    return frozenset(counted), frozenset(definite)


@cache
def contents(known: Words) -> tuple[Kept[str, Sequence[str]], Mapping[str, Sequence[str]]]:
    """Return what words say, by what they mean; and those for whom or what is meant of all, or of none.

    A run of a script without spaces is said sign by sign; everybody and nothing are of the last.
    """

    def told(said: str) -> Sequence[str]:
        if said.isascii():
            told = meant(known.base.get(said, said))
            return () if told == "prep" else (told,)
        return (said,) if said in known.partner else said

    whom: dict[str, Sequence[str]] = {w: (f"{WHO}{n}",) for w, n in known.pronouns.items()}
    whom |= {word: told(said) for word, said in known.telling.items()}
    contents: Kept[str, Sequence[str]] = Kept(told)
    contents.update(whom)
    return contents, whom


def flat(said: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the words of all in one row."""
    return tuple([word for words_ in said for word in words_])


def whole(parts: Sequence[Part]) -> Part | None:
    """Return clauses as one: all of one sign, or one of them and others that only say what it implies."""
    limited = [part for part in parts if LIMITED & part.sign.ops]
    if limited and all(part is limited[0] or _implied(part, limited[0]) for part in parts):
        return limited[0]
    if len({(part.sign, part.of) for part in parts}) != 1:
        return None
    return parts[0]._replace(
        said=flat(part.said for part in parts),
        chain=flat(part.chain for part in parts),
        counted=frozenset().union(*(part.counted for part in parts)),
        definite=frozenset().union(*(part.definite for part in parts)),
    )


def _implied(part: Part, chief: Part) -> bool:
    """Whether a clause says again what another implies: he used to, and now he does not."""
    limits = LIMITED & chief.sign.ops
    again = {*part.said} <= {*chief.said} and part.sign.ops - {ALL, MAY} <= chief.sign.ops
    return again and (ONLY in limits or part.sign.denies == chief.sign.denies)
