"""Fitted: values that are secrets by what stands around them, weighed by fitted numbers.

A linear model over the signs of `secrets_signs`, hashed, its weights in eight bits
(`data/lexicons/secrets_fitted.toml`; `tests/bench/fit_secrets.py` makes them). It tells what no
shape tells: "it's 4471 now", a word after the name of what it opens. Whole numbers are added, so
every machine finds the same.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, cast

import numpy as np
import polars as pl

from memops.language.keeping import Kept
from memops.language.lexicon import lexicon
from memops.language.packed import packed, unpacked
from memops.language.text import sought
from memops.safety.secrets_labels import expanded, fewest, triggers
from memops.safety.secrets_sequences import HAN
from memops.safety.secrets_signs import (
    FIRST,
    LATER,
    MADE,
    MIDDLE,
    NEAR,
    NEXT,
    OPENING,
    PLACES,
    Passage,
    Words,
    labels,
    marks,
    set_off,
    tokens,
    whole,
)
from memops.safety.secrets_values import MAKES, Value, by_shape, by_size, measured

BITS = 18
LIKELY = pl.Schema(
    {"row": pl.UInt32(), "start": pl.UInt32(), "end": pl.UInt32(), "kind": pl.String()}
)
KINDS = ("password", "one-time-code", "token")
_PASSAGE, _AT_ONCE, _BREAK = 800, 4000, re.compile(r"\n\s*\n")
_MADE = r"[A-Za-z][0-9]|[0-9][A-Za-z]|[A-Za-z0-9][!#$%^&*+~@][A-Za-z0-9]"
_NUMBERS = frozenset({"year", "digits and signs", "digit groups", *(f"{n} digits" for n in range(10))})  # fmt: skip
_LONG = frozenset({"random", "hex", "uuid"})

Array = Any


class Model:
    """What signs weigh, in whole numbers, and the sum from which a value is a secret.

    A passage whose own words come to less than `floor` holds none; `opening` are words beside the
    labels that tell of one. `shaped` is the most that a value's characters weigh.
    """

    def __init__(self, table: Mapping[str, object]) -> None:
        sure, scale, bias = (float(str(table[name])) for name in ("sure", "scale", "bias"))
        weights = np.frombuffer(unpacked(str(table["weights"])), np.int8).tolist()
        self.least = (math.log(sure / (1 - sure)) - bias) / scale
        self.floor = float(str(table["floor"]))
        self.opening = frozenset(cast("list[str]", table["opening"]))
        sign = lru_cache(1 << 14)(lambda sign: weights[hashed(sign)])
        self.weight = lru_cache(1 << 16)(lambda signs: sum(map(sign, signs)))
        self.word = Kept[str, tuple[int, ...]](
            lambda word: tuple(weights[hashed(f"{place}={word}")] for place in PLACES)
        )
        self.own = lru_cache(1 << 14)(self._own)
        self.marked = lru_cache(1 << 10)(self._marked)
        self.labelled = lru_cache(1 << 14)(self._labelled)
        self.shaped = max(weights) + sum(max(0, sign(f"make={name}")) for name in MAKES)

    def told(self, words: list[Words]) -> int:
        """Return what words weigh where they stand."""
        places = [(PLACES.index(place), some) for place, some in words]
        return sum([self.word[word][place] for place, some in places for word in some])

    def _own(self, how: str, kind: str, *sizes: int) -> int:
        """What a value weighs by its class, its size and how it is set off."""
        return sum(map(self.weight, (by_size(kind, *sizes), set_off(how, kind))))

    def _marked(self, kind: str, odd: frozenset[str]) -> int:
        """The most that the marks beside a value weigh."""
        return sum(max(0, *map(self.weight, some)) for some in marks(kind, odd))

    def _labelled(self, group: str, count: int, kind: str, how: str) -> int:
        """The most that so many labels of a group weigh, wherever they stand."""
        told = sorted(self.weight(signs) for signs in labels(group, kind, how))
        return sum(max(0, weight) for weight in told[-count:])


def likely(texts: pl.Series) -> pl.DataFrame:
    """Return what the model takes for secrets: row, start and end in characters, kind.

    Each search is over what the cheaper ones before it left.
    """
    asked = texts.str.contains(_MADE).fill_null(False)
    for words, patterns in ((_unspaced, [""]), (_opened, _spaced()), (_triggers, _opening())):
        rest = (~asked).arg_true()
        rest = rest.filter(_any(texts.gather(rest), words()))
        for pattern in patterns if len(rest) else ():
            told = texts.gather(rest).str.contains(pattern)
            asked, rest = asked.scatter(rest.filter(told), True), rest.filter(~told)
    parts = [(row, *part) for row in asked.arg_true() for part in _passages(texts[row])]
    rows = [
        (parts[n + at][0], parts[n + at][1] + start, parts[n + at][1] + end, kind)
        for n in range(0, len(parts), _AT_ONCE)
        for at, start, end, kind in _secrets([text for _, _, text in parts[n : n + _AT_ONCE]])
    ]
    return pl.DataFrame(rows, LIKELY, orient="row")


def _any(texts: pl.Series, words: Iterable[str]) -> pl.Series:
    """Whether each text holds one of some strings."""
    return texts.str.contains_any(sought(words, texts), ascii_case_insensitive=True).fill_null(
        False
    )


def hashed(sign: str) -> int:
    """Return the place of a sign among the weights."""
    return zlib.crc32(sign.encode()) & ((1 << BITS) - 1)


def stored(weights: np.ndarray, bias: float, sure: float) -> dict[str, object]:
    """Return a model as data: weights in eight bits, their scale, the bias, the least probability.

    Its `floor`, and words that open (`opening`), may be added.
    """
    scale = float(np.abs(weights).max()) / 127
    small = np.round(weights / scale).astype(np.int8)
    return {
        "scale": round(scale, 8), "bias": round(bias, 5), "sure": sure, "floor": -math.inf,
        "opening": [], "weights": packed(small.tobytes()),
    }  # fmt: skip


@cache
def _model() -> Model:
    return Model(lexicon("secrets_fitted"))


@cache
def _triggers() -> tuple[str, ...]:
    return fewest(word for group in OPENING for word in triggers(group))


@cache
def _opening() -> list[str]:
    """Words without one of which no plain word or number is a secret (Rust's syntax).

    The engine searches for one group after the other ten times as fast as for all at once.
    """
    return [expanded(f"(?i)@{{{group}}}@{{right}}") for group in OPENING]


@cache
def _opened() -> list[str]:
    return sorted(_model().opening)


@cache
def _unspaced() -> list[str]:
    """The words that open, of scripts that are read by pairs of characters."""
    return [word for word in _opened() if re.search(f"[{HAN}]", word)]


@cache
def _spaced() -> list[str]:
    """What holds wherever a token is one of the other words that open, or a value is none of a sentence.

    In Rust's syntax; apart they are found five times as fast. A token ends where no small letter
    follows, and begins with a capital or where none stands before (`secrets_signs.tokens`).
    """
    words = sorted({*_opened()}.difference(_unspaced()))
    whole = "|".join(map(pl.escape_regex, words))
    inside = "|".join(
        pl.escape_regex(w[0].upper()) + f"(?i:{pl.escape_regex(w[1:])})" for w in words
    )
    free = MADE.pattern.replace(r"[^\W\d_]", r"[\p{L}\p{N}&&\P{Nd}]")
    return [rf"(?:^|[^a-z])(?i:{whole})(?:[^a-z]|$)", rf"(?:{inside})(?:[^a-z]|$)", free]


def _secrets(texts: list[str]) -> Iterator[tuple[int, int, int, str]]:
    """The secrets of passages, the likeliest of those that touch each other.

    What stands beside a value is looked at where its own signs, the words around it and the most
    that could stand there would do.
    """
    model, said = _model(), [*map(tokens, texts)]
    starts, before, after = _around(model, said)
    odd = _odd("".join(texts))
    for nth, (text, words, at) in enumerate(zip(texts, said, starts, strict=True)):
        held = whole(text, words)
        missing = model.least - (told := model.told(held))
        if told < model.floor:
            continue
        passage, found = Passage(text, words), list[tuple[float, int, int, str]]()
        groups = Counter(label.group for label in passage.labels).items()
        opened = not all(model.opening.isdisjoint(some) for _, some in held)
        for value, first, last in passage.values(opened):
            one = text[value.start : value.end]
            kind, *sizes = measured(one)
            total = model.own(value.how, kind, *sizes) + before[at + first] + after[at + last]
            most = model.marked(kind, odd)
            most += sum([model.labelled(*group, kind, value.how) for group in groups])
            if total + model.shaped + most < missing:
                continue
            total += model.weight(by_shape(one))
            if total + most < missing:
                continue
            total += sum(map(model.weight, passage.beside(value, kind)))
            if total >= missing and not _place(text, value):
                found.append((-total, value.start, value.end, kind))
        taken: list[tuple[int, int]] = []
        for _, begin, end, kind in sorted(found):
            if all(end <= a or b <= begin for a, b in taken):
                taken.append((begin, end))
                yield nth, begin, end, _named(kind)


def _odd(text: str) -> frozenset[str]:
    """The signs of a text that are no part of a word."""
    return frozenset(sign for sign in {*text} if not (sign.isalnum() or sign.isspace()))


def _around(model: Model, said: list[list[str]]) -> tuple[list[int], list[int], list[int]]:
    """What words weigh before and after each place of texts, one behind the other, and where each begins."""
    known = {"": 0}
    starts, ids = list[int](), [0] * MIDDLE
    for words in said:
        starts.append(len(ids))
        ids += [known.setdefault(word, len(known)) for word in words]
        ids += [0] * MIDDLE
    weights = np.array([(0,) * len(PLACES), *(model.word[word] for word in known if word)]).T
    of = dict(zip(PLACES, weights, strict=True))
    flat = np.array(ids)
    before = _before(flat, of["near"], of["middle"], [of[place] for place in FIRST], MIDDLE)
    after = _before(flat[::-1], of["soon"], of["later"], [of[place] for place in NEXT], LATER)
    return starts, before.tolist(), after[::-1].tolist()


def _before(words: Array, near: Array, far: Array, first: list[Array], reach: int) -> Array:
    """What words weigh before each place: the nearest where they stand, near and far ones once each."""
    padded = np.concatenate([np.zeros(reach, words.dtype), words])
    steps = [padded[reach - 1 - n :][: len(words) + 1] for n in range(reach)]
    total = sum(weights[step] for weights, step in zip(first, steps, strict=False))
    for n, step in enumerate(steps):
        weights = (near if n < NEAR else far)[step]
        for other in steps[0 if n < NEAR else NEAR : n]:
            weights[step == other] = 0
        total = total + weights
    return total


def _place(text: str, value: Value) -> bool:
    return "make=place" in by_shape(text[value.start : value.end])


def _named(kind: str) -> str:
    return KINDS[1] if kind in _NUMBERS else KINDS[2] if kind in _LONG else KINDS[0]


def _passages(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, and parts of long ones, with where each begins."""
    at = 0
    for gap in [*_BREAK.finditer(text), None]:
        stop = gap.start() if gap else len(text)
        while stop - at > _PASSAGE:
            cut = max(text.rfind("\n", at, at + _PASSAGE), text.rfind(" ", at, at + _PASSAGE))
            cut = cut if cut > at else at + _PASSAGE
            yield at, text[at:cut]
            at = cut
        yield at, text[at:stop]
        at = gap.end() if gap else stop
