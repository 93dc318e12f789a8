"""Signs around a value: the words, labels and marks by which `secrets_fitted` weighs whether it is a secret.

A sign is a short string; what it weighs was fitted. Labels are the words of all languages of
`secrets_labels`, by their groups, so that a language without fitted words has signs, too.
"""

import bisect
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import cache, lru_cache
from typing import NamedTuple

from memops.language.lexicon import lexicon
from memops.safety.secrets_sequences import HAN
from memops.safety.secrets_values import Value, make, values

_TOKEN = re.compile(rf"[A-Z]?[^\W\dA-Z_{HAN}]+|[A-Z]+(?![a-z])|\d+|[{HAN}]|[^\s\w]")
_GROUPS = ("password", "weak", "token", "code", "login", "opens", "locks", "enter", "confide", "question",
           "answer", "public", "ids")  # fmt: skip
OPENING = (
    "password",
    "weak",
    "token",
    "code",
    "login",
    "opens",
    "locks",
    "enter",
    "confide",
    "question",
)
"""Groups of words without which no plain word or number is a secret."""
_FREE = frozenset({"random", "changing", "mixed", "signed", "hex", "short", "han with others"})
"""Classes of values that no sentence has."""
MADE = re.compile(
    r"[^\W\d_][0-9]|[0-9][^\W\d_]|[A-Za-z0-9][!#$%^&*+~@][A-Za-z0-9]|[0-9][-._][A-Za-z]|[A-Za-z][-._][0-9]"
)
_JOINED = re.compile(r"[\s\"'`*_:：=是为—–\-→>（(“「]*(?:is|was|are)?[\s\"'`*:：“「(]*")
_STOPS, _ENDS = re.compile(r"[\n。！？!?]|\. "), re.compile(r"[\n。！？]|[.!?] ")
_UNIT = re.compile(
    r"(?i)\s?(?:%|°|[km]?g|m?l|[ckm]?m|px|m?s|min|h|hrs?|hours?|days?|weeks?|months?|years?|am|pm|[kmgt]b"
    r"|rpm|[vwk]|usd|eur|[€$£¥元块个人次天年月日号点分秒岁米斤克楼层室页条路集版届名位件张台本万亿度寸码"
    r"期章步组字班级排座趟箱杯瓶碗段轮])(?![a-z])"
)
_FIRST, _NEXT = ("before0", "before1", "before2"), ("after0", "after1", "after2")
PLACES = ("text", "pair", "near", "middle", "soon", "later", *_FIRST, *_NEXT)
_PAIRS = {'""', "“”", "''", "``", "「」", "‘’"}
_MARKS = " \t-*•>`\"'"
_NEAR, _MIDDLE, _AFTER, _FAR, _LABELS = 3, 10, 9, 60, 8
_SHORTS = frozenset(
    {"year", "digits and signs", "digit groups", "short", *(f"{n} digits" for n in range(9))}
)
_LONGS = frozenset({"random", "changing", "hex", "uuid", "9 digits"})
_DRESSED = frozenset({"mixed", "signed", "joined"})


Signs = tuple[str, ...]
"""Signs that always come together, so that what they weigh together is added up once."""
Words = tuple[str, Collection[str]]
"""A place and the words that stand there: each is the sign `place=word`."""


class Token(NamedTuple):
    """A word, a number, a Chinese character or a sign: where it stands, and what it is, in small letters."""

    start: int
    end: int
    text: str


class Label(NamedTuple):
    """A word of a group of labels, and where it stands."""

    start: int
    end: int
    group: str


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text; a name in code is its words, a number is 0."""
    return [
        Token(*m.span(), "0" if m[0][0].isdigit() else m[0].lower()) for m in _TOKEN.finditer(text)
    ]


class Told(NamedTuple):
    """A value, its class, the signs of its own, and the words around it."""

    value: Value
    kind: str
    signs: set[Signs]
    words: list[Words]


class Passage(NamedTuple):
    """The words that tell of every value of a passage, and its values with what tells of each."""

    whole: list[Words]
    values: Iterator[Told]


def weighable(text: str, opening: Set[str] | None = None) -> Passage:
    """Return the signs of a passage, and what in it may be a secret.

    Plain words and numbers may be one where a label of a group in `OPENING` or a word of `opening`
    stands, or none is asked for; without one only what no sentence has.
    """
    words = tokens(text)
    told = {word.text for word in words}
    pairs = set() if text.isascii() else _pairs(words)
    opened = opening is None or not (opening.isdisjoint(told) and opening.isdisjoint(pairs))
    return Passage([("text", told), ("pair", pairs)], _told(text, words, opened))


def spelt(signs: Iterable[Signs], words: Iterable[Words]) -> set[str]:
    """Return signs one by one, those of words spelt out."""
    said = {f"{place}={word}" for place, some in words for word in some}
    return said.union(*signs)


def _pairs(words: Sequence[Token]) -> set[str]:
    return {a.text + b.text for a, b in itertools.pairwise(words) if max(a.text, b.text) > HAN[0]}


def _free(value: str) -> bool:
    return MADE.search(value) is not None and make(value)[0] in _FREE


def _told(text: str, words: list[Token], opened: bool) -> Iterator[Told]:
    starts, said = [word.start for word in words], [word.text for word in words]
    labels = _labels(words)
    labelled = [label.start for label in labels]
    opened = opened or any(label.group in OPENING for label in labels)
    for value in values(text):
        if not (opened or _free(text[value.start : value.end])):
            continue
        first = bisect.bisect_left(starts, value.start)
        last = bisect.bisect_left(starts, value.end)
        if first == 0 and last == len(starts):
            continue  # around which nothing tells anything: a key, a file's name
        kind, made = make(text[value.start : value.end])
        at = bisect.bisect_left(labelled, value.start)
        beside = _places(text, value, labels[max(0, at - _LABELS) : at + _LABELS])
        signs = {made, _how(value.how, kind), _beside(text, value, kind)}
        signs.update(_label(group, where, kind, value.how) for group, where in beside)
        before = said[max(0, first - _MIDDLE) : first][::-1]
        yield Told(value, kind, signs, _around(before, said[last : last + _AFTER]))


def _around(before: list[str], after: list[str]) -> list[Words]:
    """The words before a value, nearest first, and those after it."""
    return [
        *zip(_FIRST, zip(before), strict=False), ("near", {*before[:_NEAR]}),
        *zip(_NEXT, zip(after), strict=False), ("soon", {*after[:_NEAR]}),
        ("middle", {*before[_NEAR:]}), ("later", {*after[_NEAR:]}),
    ]  # fmt: skip


def _beside(text: str, value: Value, kind: str) -> Signs:
    """Marks right before and after, and the place in the line."""
    before = text[text.rfind("\n", 0, value.start) + 1 : value.start]
    stop = text.find("\n", value.end)
    after = text[value.end : stop if stop >= 0 else len(text)]
    mark, following = before.rstrip()[-1:] or "^", after[:1] or "$"
    mark = "w" if mark.isalnum() else mark
    following = "s" if following.isspace() else "w" if following.isalnum() else following
    first, last = not before.strip(_MARKS + "#"), not after.strip(" \t`\"'.。!")
    lines = (first and last, first, last)
    unit = _UNIT.match(after) is not None
    quoted = before[-1:] + after[:1] in _PAIRS
    return _marks(kind, lines, mark, before[-1:], following, unit, quoted)


@lru_cache(1 << 14)
def _marks(
    kind: str, lines: tuple[bool, ...], mark: str, close: str, following: str, unit: bool, quoted: bool
) -> Signs:  # fmt: skip
    places = [name for name, holds in zip(("alone", "first", "last"), lines, strict=True) if holds]
    return (
        *(f"line={name}" for name in places), *(f"lineclass={name} {kind}" for name in places),
        f"mark={mark}{close.isspace()}", f"markclass={mark} {kind}",
        f"next={following}", f"nextclass={following} {kind}",
        *(("unit", f"unitclass={kind}") if unit else ()),
        *(("sum",) if close and close in "$€£¥" else ()),
        *(("quoted", f"quotedclass={kind}") if quoted else ()),
    )  # fmt: skip


@cache
def _how(how: str, kind: str) -> Signs:
    return f"how={how}", f"howclass={how} {kind}"


@cache
def _label(group: str, where: str, kind: str, how: str) -> Signs:
    if where == "in":
        return (f"in={group}",)
    make_ = "S" if kind in _SHORTS else "R" if kind in _LONGS else "P" if kind in _DRESSED else "W"
    told = f"{group} {where}"
    return (
        f"label={told}", f"labelmake={told} {make_}",
        f"labelclass={told} {kind}", f"labelhow={told} {how}",
    )  # fmt: skip


def _places(text: str, value: Value, labels: Sequence[Label]) -> Iterator[tuple[str, str]]:
    """Where a label of each group stands to the value: in it, right before, before, after, farther off."""
    for start, end, group in labels:
        if start < value.end and value.start < end:
            yield group, "in"
        elif end <= value.start:
            gap = text[end : value.start]
            near = gap.count("\n") <= 1 and len(gap) <= _FAR
            where = "far" if not near else "line above"
            if not _STOPS.search(text, start, value.start):
                where = "right before" if _JOINED.fullmatch(gap) else "before"
            yield group, where
        else:
            near = start - value.end < _FAR and not _ENDS.search(text, value.end, start)
            yield group, "after" if near else "far after"


@cache
def _phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Labels as tokens, by their first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for table in lexicon("secrets_labels").values():
        for group in _GROUPS:
            for label in table.get(group, ()):
                words = tuple(word.text for word in tokens(label.rstrip("*")))
                found.setdefault(words[0], []).append((words, group))
    return found


def _labels(words: Sequence[Token]) -> list[Label]:
    found, known = [], _phrases()
    for n, word in enumerate(words):
        for first in {word.text, word.text.removesuffix("s")}:
            for phrase, group in known.get(first, ()):
                last = n + len(phrase)
                if last <= len(words) and all(
                    a.text in (b, b + "s") for a, b in zip(words[n:last], phrase, strict=True)
                ):
                    found.append(Label(word.start, words[last - 1].end, group))
    return found
