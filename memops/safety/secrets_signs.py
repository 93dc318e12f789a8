"""Signs around a value: the words, labels and marks by which `secrets_fitted` weighs whether it is a secret.

A sign is a short string; what it weighs was fitted. Labels are the words of all languages of
`secrets_labels`, by their groups, so that a language without fitted words has signs, too.
"""

import bisect
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from operator import contains
from typing import NamedTuple

from memops.language.keeping import Kept
from memops.language.lexicon import lexicon
from memops.safety.secrets_sequences import HAN
from memops.safety.secrets_values import WIDE, Value, by_shape, by_size, measured, values

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
FIRST, NEXT = ("before0", "before1", "before2"), ("after0", "after1", "after2")
PLACES = ("text", "pair", "near", "middle", "soon", "later", *FIRST, *NEXT)
_LINES = ("alone", "first", "last")
_WHERE = ("in", "right before", "before", "line above", "far", "after", "far after")
_PAIRS = {'""', "“”", "''", "``", "「」", "‘’"}
_MARKS = " \t-*•>`\"'"
NEAR, MIDDLE, LATER = 3, 10, 9  # words beside a value
_FAR, _LABELS = 60, 8
_SHORTS = frozenset(
    {"year", "digits and signs", "digit groups", "short", *(f"{n} digits" for n in range(9))}
)
_LONGS = frozenset({"random", "changing", "hex", "uuid", "9 digits"})
_DRESSED = frozenset({"mixed", "signed", "joined"})


Signs = tuple[str, ...]
"""Signs that always come together, so that what they weigh together is added up once."""
_SUM: Signs = ("sum",)
Words = tuple[str, Collection[str]]
"""A place and the words that stand there: each is the sign `place=word`."""


class Label(NamedTuple):
    """A word of a group of labels, and where it stands."""

    start: int
    end: int
    group: str


def tokens(text: str) -> list[str]:
    """Return words, numbers, Chinese characters and signs of a text, in small letters.

    A name in code is its words, a number is 0.
    """
    return [_PLAIN[word] for word in _TOKEN.findall(text)]


_PLAIN = Kept[str, str](lambda word: "0" if word[0].isdigit() else word.lower())


class Passage:
    """A passage, its tokens, and where each of them and its labels stand."""

    def __init__(self, text: str, words: Sequence[str]) -> None:
        spans = [match.span() for match in _TOKEN.finditer(text)]
        self.text, self.words = text, words
        self.starts = [start for start, _ in spans]
        self.labels = _labels(words, spans)
        self.labelled = [label.start for label in self.labels]

    def values(self, opened: bool) -> Iterator[tuple[Value, int, int]]:
        """Yield what may be a secret, with how many tokens stand before it, and up to its end.

        Plain words and numbers may be one where that is `opened`, or a label of a group in
        `OPENING` stands; without one only what no sentence has.
        """
        text, starts = self.text, self.starts
        opened = opened or any(label.group in OPENING for label in self.labels)
        for value in values(text) if opened else values(_made(text), MADE):
            if opened or _free(text[value.start : value.end]):
                first = bisect.bisect_left(starts, value.start)
                last = bisect.bisect_left(starts, value.end)
                if first or last < len(starts):  # else nothing tells anything: a key, a file's name
                    yield value, first, last

    def beside(self, value: Value, kind: str) -> set[Signs]:
        """Return the signs of what stands beside a value of a class, its words aside."""
        at = bisect.bisect_left(self.labelled, value.start)
        near = self.labels[max(0, at - _LABELS) : at + _LABELS]
        found = {_label(*place, kind, value.how) for place in _places(self.text, value, near)}
        return {_beside(self.text, value, kind), *found}


def own(value: str, how: str) -> tuple[str, set[Signs]]:
    """Return the class of a value that is set off so, and the signs that it has by itself."""
    kind, *sizes = measured(value)
    return kind, {by_size(kind, *sizes), by_shape(value), set_off(how, kind)}


def whole(text: str, words: Sequence[str]) -> list[Words]:
    """Return the words that tell of every value of a passage."""
    return [("text", {*words}), ("pair", _pairs(text, words))]


def _pairs(text: str, words: Sequence[str]) -> set[str]:
    """Return pairs of tokens of scripts without spaces."""
    if not WIDE.search(text):
        return set()
    return {a + b for a, b in itertools.pairwise(words) if max(a, b) > HAN[0]}


def _made(text: str) -> str:
    """A text with its lines that hold nothing made left blank: of ASCII no such value is in two lines."""
    if not text.isascii():
        return text
    return "\n".join(line if MADE.search(line) else " " * len(line) for line in text.split("\n"))


def _free(value: str) -> bool:
    return MADE.search(value) is not None and measured(value)[0] in _FREE


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
    places = [_line(name, kind) for name, holds in zip(_LINES, lines, strict=True) if holds]
    return (
        *itertools.chain(*places), *_before(kind, mark, close.isspace()), *_after(kind, following),
        *(_unit(kind) if unit else ()), *(_SUM if close and close in "$€£¥" else ()),
        *(_quoted(kind) if quoted else ()),
    )  # fmt: skip


def _line(name: str, kind: str) -> Signs:
    return f"line={name}", f"lineclass={name} {kind}"


def _before(kind: str, mark: str, apart: bool) -> Signs:
    return f"mark={mark}{apart}", f"markclass={mark} {kind}"


def _after(kind: str, following: str) -> Signs:
    return f"next={following}", f"nextclass={following} {kind}"


def _unit(kind: str) -> Signs:
    return "unit", f"unitclass={kind}"


def _quoted(kind: str) -> Signs:
    return "quoted", f"quotedclass={kind}"


def marks(kind: str, odd: Iterable[str]) -> Iterator[list[Signs]]:
    """Yield the signs of marks and of places in lines of which a value of a class has one at most.

    Its text holds no other signs than those that are `odd`.
    """
    yield from ([_line(name, kind)] for name in _LINES)
    yield [_before(kind, mark, apart) for mark in (*odd, "w", "^") for apart in (True, False)]
    yield [_after(kind, following) for following in (*odd, "s", "w", "$")]
    yield from ([_unit(kind)], [_SUM], [_quoted(kind)])


def labels(group: str, kind: str, how: str) -> Iterator[Signs]:
    """Yield the signs of each place of a label of a group beside a value."""
    return (_label(group, where, kind, how) for where in _WHERE)


def set_off(how: str, kind: str) -> Signs:
    """Return the signs of how a value of a class is set off."""
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
def _phrases() -> dict[str, list[tuple[list[tuple[str, str]], str]]]:
    """What follows the first word of labels, each word with its plural, by that first word."""
    found: dict[str, list[tuple[list[tuple[str, str]], str]]] = {}
    for table in lexicon("secrets_labels").values():
        for group in _GROUPS:
            for label in table.get(group, ()):
                first, *rest = tokens(label.rstrip("*"))
                for one in (first, first + "s"):
                    found.setdefault(one, []).append(([(b, b + "s") for b in rest], group))
    return found


def _labels(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[Label]:
    found, known = [], _phrases()
    for n in [n for n, word in enumerate(words) if word in known]:
        for rest, group in known[words[n]]:
            last = n + len(rest)
            if last < len(words) and all(map(contains, rest, words[n + 1 : last + 1])):
                found.append(Label(spans[n][0], spans[last][1], group))
    return found
