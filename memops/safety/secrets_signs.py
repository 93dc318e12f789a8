"""Signs around a value: the words, labels and marks by which `secrets_fitted` weighs whether it is a secret.

A sign is a short string; what it weighs was fitted. Labels are the words of all languages of
`secrets_labels`, by their groups, so that a language without fitted words has signs, too.
"""

import bisect
import itertools
import re
from collections.abc import Iterator, Sequence, Set
from functools import cache
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
_UNIT = re.compile(
    r"(?i)\s?(?:%|°|[km]?g|m?l|[ckm]?m|px|m?s|min|h|hrs?|hours?|days?|weeks?|months?|years?|am|pm|[kmgt]b"
    r"|rpm|[vwk]|usd|eur|[€$£¥元块个人次天年月日号点分秒岁米斤克楼层室页条路集版届名位件张台本万亿度寸码"
    r"期章步组字班级排座趟箱杯瓶碗段轮])(?![a-z])"
)
_PAIRS = {'""', "“”", "''", "``", "「」", "‘’"}
_MARKS = " \t-*•>`\"'"
_NEAR, _MIDDLE, _AFTER, _FAR, _LABELS = 3, 10, 9, 60, 8
_SHORTS = frozenset(
    {"year", "digits and signs", "digit groups", "short", *(f"{n} digits" for n in range(9))}
)
_LONGS = frozenset({"random", "changing", "hex", "uuid", "9 digits"})
_DRESSED = frozenset({"mixed", "signed", "joined"})


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


class Passage(NamedTuple):
    """What is told of every value of a passage, and its values, each with its class and signs of its own."""

    whole: set[str]
    values: Iterator[tuple[Value, str, set[str]]]


def weighable(text: str, opening: Set[str] | None = None) -> Passage:
    """Return the signs of a passage, and what in it may be a secret.

    Plain words and numbers may be one where a label of a group in `OPENING` or a word of `opening`
    stands, or none is asked for; without one only what no sentence has.
    """
    words = tokens(text)
    labels = _labels(words)
    told = {word.text for word in words}
    pairs = {a.text + b.text for a, b in itertools.pairwise(words) if max(a.text, b.text) > HAN[0]}
    opened = opening is None or any(label.group in OPENING for label in labels)
    if opening is not None and not opened:
        opened = not (opening.isdisjoint(told) and opening.isdisjoint(pairs))
    whole = {f"text={word}" for word in told} | {f"pair={pair}" for pair in pairs}
    return Passage(whole, _signs(text, words, labels, opened))


def _free(value: str) -> bool:
    return MADE.search(value) is not None and make(value)[0] in _FREE


def _signs(
    text: str, words: list[Token], labels: list[Label], opened: bool
) -> Iterator[tuple[Value, str, set[str]]]:
    starts = [word.start for word in words]
    labelled = [label.start for label in labels]
    for value in values(text):
        if not (opened or _free(text[value.start : value.end])):
            continue
        kind, made = make(text[value.start : value.end])
        first = bisect.bisect_left(starts, value.start)
        before = words[max(0, first - _MIDDLE) : first]
        last = bisect.bisect_left(starts, value.end)
        after = words[last : last + _AFTER]
        if not before and not after:
            continue  # around which nothing tells anything: a key, a file's name
        at = bisect.bisect_left(labelled, value.start)
        beside = labels[max(0, at - _LABELS) : at + _LABELS]
        yield value, kind, {
            *made, f"how={value.how}", f"howclass={value.how} {kind}",
            *_beside(text, value, kind), *_words(before, after), *_labelled(text, value, kind, beside),
        }  # fmt: skip


def _beside(text: str, value: Value, kind: str) -> Iterator[str]:
    """Marks right before and after, and the place in the line."""
    before = text[text.rfind("\n", 0, value.start) + 1 : value.start]
    stop = text.find("\n", value.end)
    after = text[value.end : stop if stop >= 0 else len(text)]
    first, last = not before.strip(_MARKS + "#"), not after.strip(" \t`\"'.。!")
    for name, holds in (("alone", first and last), ("first", first), ("last", last)):
        if holds:
            yield from (f"line={name}", f"lineclass={name} {kind}")
    mark, following = before.rstrip()[-1:] or "^", after[:1] or "$"
    mark = "w" if mark.isalnum() else mark
    following = "s" if following.isspace() else "w" if following.isalnum() else following
    yield f"mark={mark}{before[-1:].isspace()}"
    yield from (f"markclass={mark} {kind}", f"next={following}", f"nextclass={following} {kind}")
    if _UNIT.match(after):
        yield from ("unit", f"unitclass={kind}")
    if before[-1:] in "$€£¥" and before:
        yield "sum"
    if before[-1:] + after[:1] in _PAIRS:
        yield from ("quoted", f"quotedclass={kind}")


def _words(before: Sequence[Token], after: Sequence[Token]) -> Iterator[str]:
    for n, word in enumerate(reversed(before[-_NEAR:])):
        yield from (f"before{n}={word.text}", f"near={word.text}")
    yield from (f"middle={word.text}" for word in before[-_MIDDLE:-_NEAR])
    for n, word in enumerate(after[:_NEAR]):
        yield from (f"after{n}={word.text}", f"soon={word.text}")
    yield from (f"later={word.text}" for word in after[_NEAR:_AFTER])


def _labelled(text: str, value: Value, kind: str, labels: Sequence[Label]) -> Iterator[str]:
    """Where a label of each group stands to the value: in it, right before, before, after, farther off."""
    make_ = "S" if kind in _SHORTS else "R" if kind in _LONGS else "P" if kind in _DRESSED else "W"
    opens = max(
        text.rfind(stop, 0, value.start) for stop in ("\n", "。", "！", "？", "!", "?", ". ")
    )
    stops = [text.find(stop, value.end) for stop in ("\n", "。", "！", "？", ". ", "! ", "? ")]
    ends = min((stop for stop in stops if stop >= 0), default=len(text))
    for start, end, group in labels:
        if start < value.end and value.start < end:
            yield f"in={group}"
            continue
        if end <= value.start:
            gap = text[end : value.start]
            near = gap.count("\n") <= 1 and len(gap) <= _FAR
            where = "far" if not near else "line above"
            if start > opens:
                where = "right before" if _JOINED.fullmatch(gap) else "before"
        else:
            where = "after" if start <= ends and start - value.end < _FAR else "far after"
        told = f"{group} {where}"
        yield from (f"label={told}", f"labelmake={told} {make_}")
        yield from (f"labelclass={told} {kind}", f"labelhow={told} {value.how}")


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
