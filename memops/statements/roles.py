"""Roles: who does what to whom, told from either side: A lent it to B, B borrowed it from A.

Converse words stand in `signs.toml` of the language packs: with the one the other party comes
first. A text that holds one of them, and two parties, has its role told from both sides.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from memops.language.packs import codes, either, frames, function_words, rows
from memops.language.tokens import Keys, Tokens, keys_of
from memops.language.vocabulary import CONTENT
from memops.statements.compared import compared
from memops.statements.fact import grouped, person
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


def roles(t: Tokens, signs: Sequence[Sign | None], plains: Sequence[str]) -> Keys:
    """Return the roles that texts without a sign tell, each as it is told from either side."""
    held = t.where(lambda concept, kind, said: _converse(said.lower()) is not None)
    rows = np.flatnonzero(t.texts(held) & np.array([sign == Sign() for sign in signs], bool))
    ends = np.append(t.begin, len(t.row))
    told = [
        (row, said)
        for row, plain in enumerate(plains)
        if (said := [*compared(plain), *_framed(plain), *_alternated(plain), *_in_voice(plain)])
    ]
    for row in rows.tolist():
        span = slice(int(ends[row]), int(ends[row + 1]))
        tokens = _called([t.words.words[word] for word in t.word[span].tolist()])
        at = [n for n, (_, _, said) in enumerate(tokens) if _converse(said.lower())]
        whole = t.clause[span][0] == t.clause[span][-1]
        if len(at) > 1:  # the north field above the creek
            free = (n for n in at if whole and tokens[n][0] != "prep")
            at = [n for n in free if not _names_party(tokens[n][2])]
        if at:
            told.append((row, [said for place in at for said in _told(tokens, place, whole)]))
    return keys_of(told, t.items)


def _called(tokens: Sequence[_Word]) -> list[_Word]:
    """Tokens, with names of several words as one, also behind how they are called: Anna Berg, 小马."""
    out: list[_Word] = []
    for token in tokens:
        named = token[1] == "word" and len(token[2]) == 1 and not token[2].isascii()
        before = out[-1][2].lower() if out else ""
        if named and before in function_words("before_names"):
            said = out.pop()[2] + token[2]
            out.append((f"h:{said}", "name", said))
        elif token[1] == "name" and before in function_words("titles"):
            out[-1] = token
        elif token[1] == "name" and _of_one_name(out, token):
            first = out.pop()
            out.append((f"{first[0]} {token[0]}", "name", f"{first[2]} {token[2]}"))
        else:
            out.append(token)
    return out


def _of_one_name(out: Sequence[_Word], token: _Word) -> bool:
    """Whether a name goes on with the word before it: Anna Berg."""
    before = out[-1] if out else ("", "", "")
    return (
        before[1] == "name"
        and before[2][:1].isupper()
        and before[2].replace(" ", "").isalpha()
        and token[2][:1].isupper()
    )


def _alternated(plain: str) -> Iterator[str]:
    """What a text of one clause says, by a word on whose one side who acts stands, and on its other whom it is done to.

    A把B告了 is B被A告了, A比B高 is B没有A高. Where behind the word the party ends nobody knows, so
    each place is taken; only that at which the other text ends says the same.
    """
    known = _alternations()
    if plain.isascii() or len(plain) > _BRIEF or not known[0].search(plain):
        return
    bare = plain.strip().rstrip("。.！!")
    found = known[0].findall(bare)
    first, word, rest = bare.partition(found[0]) if found else ("", "", "")
    if len(found) != 1 or not first or not first.isalnum() or not rest.isalnum():
        return
    row, side = known[1][word]
    for at in range(1, len(rest)):
        parties = (first, rest[:at]) if side == 0 else (rest[:at], first)
        yield f"role={row} {'>'.join(parties)} {rest[at:]}"


def _framed(plain: str) -> Iterator[str]:
    """What a text of one clause says by a converse word in one of the frames of its language: A在B北边.

    Where nothing tells where the party before the word begins (`left`), or the one behind it ends (`both`),
    each place is taken; only that at which the other text does so too says the same.
    """
    if plain.isascii() or len(plain) > _BRIEF:
        return
    for frame in _frames():
        fits = frame.fullmatch(plain.strip().rstrip("。.！!"))
        if fits is None:
            continue
        found, told = _converses()[fits["w"]], fits.groupdict(default="")
        side = found.side if found.side < _MUTUAL else int("from" in told)
        if ("from" in told and side == 0) or ("to" in told and side == 1):
            continue
        left, both = told.get("left", ""), told.get("both", "")
        for begin in range(len(left) or 1):
            for end in range(1, len(both) + 1) if both else (0,):
                one, two = told.get("one") or left[begin:], told.get("two") or both[:end]
                parties = ">".join((one, two) if side == 0 else (two, one))
                rest = left[:begin] + both[end:] + told.get("rest", "")
                for other in found.others or (found.word,):
                    yield f"role={'|'.join(sorted((found.word, other)))} {parties} {rest}"


def _in_voice(plain: str) -> Iterator[str]:
    """What a text of one clause says as who does it would tell it: 小李被小王夸了 is 小王夸了小李."""
    if plain.isascii() or len(plain) > _BRIEF:
        return
    bare = plain.strip().rstrip("。.！!")
    if not bare.isalnum():
        return
    aspect = function_words("aspect")
    marks, patterns = _passives()
    some = patterns if not marks.isdisjoint(bare) else []
    fits = next((fit for pattern in some if (fit := pattern.fullmatch(bare))), None)
    told = bare if fits is None else fits["rest"] + fits["one"]
    over = fits is not None and fits.re.groupindex.get("over")
    done = over or any(mark in bare for mark in aspect)
    yield f"voice={'done' if done else ''} {''.join(sign for sign in told if sign not in aspect)}"


@cache
def _passives() -> tuple[frozenset[str], Sequence[re.Pattern[str]]]:
    """The signs of which a passive holds one, and how it is put."""
    marks = frozenset(sign for frame in rows("passives") for sign in frame if not sign.isascii())
    return marks, frames("passives", _GAP)


@cache
def _frames() -> Sequence[re.Pattern[str]]:
    wide = either(w for w in _converses() if not w.isascii())
    return frames("frames", _GAP, f"(?P<w>{wide})")


_GAP = r"\w+?"
_BRIEF = 30  # signs of a statement of one clause


@cache
def _alternations() -> tuple[re.Pattern[str], dict[str, tuple[str, int]]]:
    words_ = {
        w: (sides[0].strip(), n)
        for sides in (row.split("|") for row in rows("alternations"))
        for n, side in enumerate(sides)
        for w in side.split()
    }
    return re.compile(either(words_)), words_


def _told(tokens: Sequence[_Word], at: int, whole: bool) -> Iterator[str]:
    """What is told of two parties: under the word itself, and under its converses.

    In a text that is a `whole` clause parties of several words are told by where they stand.
    """
    found = _converse(tokens[at][2].lower())
    done = found is not None and found.side < _MUTUAL and _is_done(tokens, at)
    parties = _doer_first(tokens, at) if done else _parties(tokens, at, whole)
    if found is None or parties is None or _of_others(tokens, at, parties):
        return
    ones, twos = parties
    one, two = ones[0], twos[0]
    aims = function_words("toward") | function_words("away")
    within = done or one < at < two or any(tokens[n][2].lower() in aims for n in range(one, two))
    if not found.noun and (not within or (one > at and not done) or _qualifies(tokens, at)):
        return
    if found.noun and not _owns(tokens):
        return  # a supplier was bought; the teacher was praised by Ann
    side = found.side
    if side == _TURNING:
        told = {said.lower() for _, _, said in tokens}
        if told.isdisjoint(function_words("toward")) == told.isdisjoint(function_words("away")):
            return
        side = int(told.isdisjoint(function_words("toward")))
    between = {said.lower() for _, _, said in tokens[one:two]}
    turned = side == 1
    named = found.noun and one < at < two  # A's pupil is B, not: A is the pupil of B
    named &= all(concept != "copula" for concept, *_ in tokens[one:at])
    turned ^= (not done and bool(between & function_words("passive"))) ^ named
    names = [" ".join(tokens[n][0] for n in party) for party in parties]
    if side == _MUTUAL:
        names.sort()
    elif turned:
        names.reverse()
    free = {
        n
        for n, (concept, kind, surface) in enumerate(tokens)
        if n != at
        and kind in CONTENT
        and n not in (*ones, *twos)
        and concept not in names
        and (concept, kind) != ("have", "multi")
        and surface.lower() not in function_words("resting")
        and surface.lower() not in function_words("owning")
    }
    rest = sorted(_runs(tokens, free, {one, two} if len(ones) == len(twos) == 1 else set()))
    if not tokens[at][2].isascii() and sum("=" not in word or grouped(word) for word in rest) > 1:
        return  # of a script without spaces nobody knows which party a word belongs to
    said = " ".join(("", ">".join(names), *rest, *_relating(tokens, at, (*ones, *twos))))
    yield f"role={found.word}{said}"
    for other in found.others:
        first, then = (found.word, other) if side == 0 else (other, found.word)
        yield f"role={first}|{then}{said}"


def _is_done(tokens: Sequence[_Word], at: int) -> bool:
    """Whether a word tells what is done to somebody, in a language that says so by a verb before it: was sold."""
    low = tokens[at][2].lower()
    told = words(codes()).participle(low) and low not in _compared()
    return told and at > 0 and tokens[at - 1][0] == "copula" and low.isascii()


def _doer_first(tokens: Sequence[_Word], at: int) -> tuple[list[int], list[int]] | None:
    """Who does what is told in the passive, and to or for whom; None where it is not told by whom."""
    doers = [
        _run(tokens, n)
        for n in range(at, len(tokens))
        if tokens[n][2].lower() in function_words("acting")
    ]
    aimed = [_run(tokens, n) for n in range(at, len(tokens)) if _aims(tokens, n)]
    first = [n for n in range(at) if tokens[n][1] in CONTENT]
    whom = aimed[0] if aimed else first
    return (
        (doers[0], whom) if len(doers) == 1 and len(aimed) < _MUTUAL and doers[0] and whom else None
    )


def _run(tokens: Sequence[_Word], at: int) -> list[int]:
    """The words of content behind a word of relation, as far as they stand together."""
    after = [n for n in range(at + 1, len(tokens)) if tokens[n][1] in CONTENT]
    return [n for nth, n in enumerate(after) if n - nth == after[0]]


def _aims(tokens: Sequence[_Word], at: int) -> bool:
    """Whether a word of relation stands before somebody, and not before what is to be done: to swim."""
    low, then = tokens[at][2].lower(), tokens[at + 1 : at + 2]
    named = bool(then) and (then[0][0] == "article" or then[0][1] in ("name", "person", "value"))
    to = low in function_words("toward") and (named or not low.isascii())
    return to or low in function_words("away")


def _of_others(tokens: Sequence[_Word], at: int, parties: tuple[list[int], list[int]]) -> bool:
    """Whether it is told of somebody else than the parties: the landlord's friend; who married Bo's sister."""
    told = (_is_of_whom(tokens, n, at) for party in parties for n in party)
    return _possesses(tokens, at) or any(told)


def _possesses(tokens: Sequence[_Word], at: int) -> bool:
    """Whether what stands behind a word is what it has."""
    after = tokens[at + 1 : at + 2]
    return tokens[at][2].endswith(_OWNERS) or (bool(after) and after[0][2] in _OWNED)


def _is_of_whom(tokens: Sequence[_Word], at: int, noun: int) -> bool:
    """Whether a party only tells who somebody else belongs to, other than whom the noun names."""
    behind = next((n for n in range(at + 1, len(tokens)) if tokens[n][1] in CONTENT), noun)
    whom = tokens[behind][1] == "person" or person(*tokens[behind])
    return behind != noun and whom and _possesses(tokens, at)


_OWNERS = ("'s", "s'")


def _relating(tokens: Sequence[_Word], at: int, parties: Container[int]) -> list[str]:
    """Words of relation that tell neither of the parties, several each with what it rules: bought for somebody."""
    known = [function_words(name) for name in ("toward", "away", "acting", "passive", "free")]
    told = []
    for n, (concept, _, said) in enumerate(tokens):
        low = said.lower()
        if concept != "prep" or n == at or any(low in listed for listed in known):
            continue
        if n == at + 1 and low in function_words("passing"):
            continue
        then = (k for k in range(n + 1, len(tokens)) if tokens[k][1] in CONTENT)
        ruled = next(then, at)
        told.append((low, "" if ruled == at or ruled in parties else tokens[ruled][0]))
    return sorted(f"{low}+{what}" if len(told) > 1 else low for low, what in told)


def _owns(tokens: Sequence[_Word]) -> bool:
    """Whether somebody is told to be somebody's, and nothing to be done by anybody."""
    acting = any(
        said.lower() in function_words("acting") for _, kind, said in tokens if kind == "function"
    )
    wide = any(not said.isascii() for _, _, said in tokens)
    acting |= any(concept == "conj" for concept, *_ in tokens)  # Ann's is old and Bo's is new
    return not acting and any(
        said in _OWNED or (concept == "copula" and not wide) for concept, _, said in tokens
    )


def _runs(tokens: Sequence[_Word], free: set[int], parties: set[int]) -> Iterator[str]:
    """What is said beside the parties, each with the words that it stands beside: the old nurse."""
    beside = {n for n in parties if tokens[n][1] != "name" and tokens[n][2].isascii()} | free
    run: list[str] = []
    for n in range(len(tokens) + 1):
        if n in beside:
            run.append(tokens[n][0])
            continue
        if run and not (len(run) == 1 and n - 1 in parties):
            yield "+".join(run)
        run = []


def _qualifies(tokens: Sequence[_Word], at: int) -> bool:
    """Whether a word only tells which one is meant: the older pupil, the south gate."""
    after = tokens[at + 1 : at + 2]
    return tokens[at][2].lower() in _compared() and bool(after) and after[0][1] in CONTENT


@cache
def _compared() -> frozenset[str]:
    """The words that compare two parties by themselves, and qualify one that they stand before."""
    return frozenset(word for row in rows("compared") for word in row.replace("|", " ").split())


def _parties(tokens: Sequence[_Word], at: int, whole: bool) -> tuple[list[int], list[int]] | None:
    """Where the two parties stand: the only two names or people, or things; else what stands before and behind."""
    solid = [n for n, (_, kind, _) in enumerate(tokens) if kind in CONTENT and n != at]
    free = [n for n in solid if tokens[n][2].lower() not in function_words("owning")]
    named = [n for n in solid if tokens[n][1] in ("name", "person") or person(*tokens[n])]
    called = [n for n in named if tokens[n][1] != "person"]
    for two in (named, [n for n in named if n in free], called, solid):
        if len(two) == 2 and tokens[two[0]][0] != tokens[two[1]][0]:
            return [two[0]], [two[1]]
    before = [n for n in solid if n < at and tokens[n][2].lower() not in function_words("resting")]
    aim = next((n for n in range(at + 1, len(tokens)) if _aims(tokens, n)), at)
    after = _run(tokens, aim) or _run(tokens, at)
    return (before, after) if whole and before and after else None


def _names_party(said: str) -> bool:
    found = _converse(said.lower())
    return found is not None and found.noun


@lru_cache(50_000)
def _converse(said: str) -> _Converse | None:
    """What a word is among the converses, whatever its form."""
    return _converses().get(said) or _converses().get(said.partition(" ")[0].removesuffix("'s"))


def _forms(word: str) -> list[str]:
    """The forms of a word between spaces: lends, lent, lending."""
    if not word.isascii():
        return [word]
    word, _, behind = word.partition("_")
    if behind:
        return [f"{form} {behind}" for form in _forms(word)]
    irregular = [form for form, base in words(codes()).base.items() if base == word]
    bare = word.removesuffix("e")
    if word[-1] == "y" and word[-2] not in "aeiou":
        irregular += [f"{word[:-1]}ies", f"{word[:-1]}ied"]
    return [word, *irregular, f"{word}s", f"{word}es", f"{bare}ed", f"{bare}ing"]


def _verb(noun: str, side: Sequence[str]) -> str:
    """The verb that says of a party what the noun calls it: manage of manager; the word itself where there is none."""
    return next((verb for verb in side if noun in (f"{verb}r", f"{verb}er", f"{verb}or")), noun)


@cache
def _converses() -> dict[str, _Converse]:
    out: dict[str, _Converse] = {}
    for pair in (*rows("converses"), *rows("compared")):
        out |= _sides(pair)
    for side, name in ((_MUTUAL, "mutual"), (_TURNING, "turned_by")):
        for alike in map(str.split, rows(name)):
            forms = [form for word in alike for form in _forms(word)]
            out |= dict.fromkeys(forms, _Converse(alike[0], (), side, False))
    return out


def _sides(pair: str) -> Iterable[tuple[str, _Converse]]:
    """The forms of the words of a pair; a star stands behind those that name a party."""
    sides = [side.split() for side in pair.split("|")]
    return [
        (
            form,
            _Converse(
                _verb(bare, side), tuple(w.rstrip(_NOUN) for w in sides[1 - n]), n, word != bare
            ),
        )
        for n, side in enumerate(sides)
        for word in side
        for bare in [word.rstrip(_NOUN)]
        for form in ([bare, f"{bare}s"] if word != bare else _forms(bare))
    ]
