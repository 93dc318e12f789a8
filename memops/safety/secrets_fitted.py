"""Fitted: values that are secrets by what stands around them, weighed by fitted numbers.

A linear model over the signs of `secrets_signs`, hashed, its weights in eight bits
(`data/lexicons/secrets_fitted.toml`; `tests/bench/fit_secrets.py` makes them). It tells what no
shape tells: "it's 4471 now", a word after the name of what it opens. Whole numbers are added, so
every machine finds the same.
"""

import base64
import math
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple, cast

import numpy as np
import polars as pl

from memops.language.lexicon import lexicon
from memops.language.text import wordlist
from memops.safety.secrets_labels import expanded, triggers
from memops.safety.secrets_sequences import HAN
from memops.safety.secrets_signs import MADE, OPENING, PLACES, Signs, Words, weighable
from memops.safety.secrets_values import Value, make

BITS = 16
LIKELY = pl.Schema(
    {"row": pl.UInt32(), "start": pl.UInt32(), "end": pl.UInt32(), "kind": pl.String()}
)
KINDS = ("password", "one-time-code", "token")
_PASSAGE, _BREAK = 800, re.compile(r"\n\s*\n")
_MADE = r"[A-Za-z][0-9]|[0-9][A-Za-z]|[A-Za-z0-9][!#$%^&*+~@][A-Za-z0-9]"
_NUMBERS = frozenset({"year", "digits and signs", "digit groups", *(f"{n} digits" for n in range(10))})  # fmt: skip
_LONG = frozenset({"random", "hex", "uuid"})


class Model(NamedTuple):
    """What signs weigh, in whole numbers, and the sum from which a value is a secret.

    A passage whose own signs come to less than `floor` holds none; `opening` are words beside the
    labels that tell of one.
    """

    signs: Callable[[Signs], int]
    words: dict[str, Callable[[str], int]]
    least: float
    floor: float
    opening: frozenset[str]

    def told(self, words: list[Words]) -> int:
        """Return what words weigh where they stand."""
        return sum([sum(map(self.words[place], some)) for place, some in words])


def likely(texts: pl.Series) -> pl.DataFrame:
    """Return what the model takes for secrets: row, start and end in characters, kind."""
    opening = sorted(_model().opening)
    asked = texts.str.contains(_MADE).fill_null(False)
    if (some := _any(texts, [*_triggers(), *opening])).any():
        held = texts.filter(some)
        told = _any(held, opening) & (_any(held, _unspaced()) | held.str.contains(_spaced()))
        told |= held.str.contains(_opening())
        asked = asked.scatter(some.arg_true().filter(told), True)
    rows = [(row, *span) for row in asked.arg_true() for span in _secrets(texts[row])]
    return pl.DataFrame(rows, LIKELY, orient="row")


def _any(texts: pl.Series, words: list[str]) -> pl.Series:
    """Whether each text holds one of some strings."""
    return texts.str.contains_any(wordlist(words), ascii_case_insensitive=True).fill_null(False)


def hashed(sign: str) -> int:
    """Return the place of a sign among the weights."""
    return zlib.crc32(sign.encode()) & ((1 << BITS) - 1)


def stored(weights: np.ndarray, bias: float, sure: float) -> dict[str, object]:
    """Return a model as data: weights in eight bits, their scale, the bias, the least probability.

    Its `floor`, and words that open (`opening`), may be added.
    """
    scale = float(np.abs(weights).max()) / 127
    small = np.round(weights / scale).astype(np.int8)
    packed = base64.b85encode(zlib.compress(small.tobytes(), 9)).decode()
    return {
        "scale": round(scale, 8), "bias": round(bias, 5), "sure": sure, "floor": -math.inf,
        "opening": [], "weights": packed,
    }  # fmt: skip


def loaded(table: dict[str, object]) -> Model:
    """Return a model of its data."""
    packed = zlib.decompress(base64.b85decode(str(table["weights"])))
    sure, scale, bias = (float(str(table[name])) for name in ("sure", "scale", "bias"))
    least = (math.log(sure / (1 - sure)) - bias) / scale
    weights = np.frombuffer(packed, np.int8).tolist()
    opening = frozenset(cast("list[str]", table["opening"]))
    signs = lru_cache(1 << 16)(lambda some: sum(weights[hashed(sign)] for sign in some))
    words = {place: _of_words(place, weights) for place in PLACES}
    return Model(signs, words, least, float(str(table["floor"])), opening)


def _of_words(place: str, weights: list[int]) -> Callable[[str], int]:
    return lru_cache(1 << 14)(lambda word: weights[hashed(f"{place}={word}")])


@cache
def _model() -> Model:
    return loaded(lexicon("secrets_fitted"))


@cache
def _triggers() -> list[str]:
    return sorted({word for group in OPENING for word in triggers(group)})


@cache
def _opening() -> str:
    """A word without which no plain word or number is a secret (Rust's syntax)."""
    return expanded("(?i)(?:" + "|".join(f"@{{{group}}}" for group in OPENING) + ")@{right}")


def _unspaced() -> list[str]:
    """The words that open, of scripts that are read by pairs of characters."""
    return sorted(word for word in _model().opening if re.search(f"[{HAN}]", word))


@cache
def _spaced() -> str:
    """What holds wherever a token is one of the other words that open, or a value is none of a sentence.

    In Rust's syntax. A token ends where no small letter follows, and begins with a capital or where
    none stands before (`secrets_signs.tokens`).
    """
    words = sorted(_model().opening.difference(_unspaced()))
    whole = "|".join(map(pl.escape_regex, words))
    inside = "|".join(
        pl.escape_regex(w[0].upper()) + f"(?i:{pl.escape_regex(w[1:])})" for w in words
    )
    free = MADE.pattern.replace(r"[^\W\d_]", r"[\p{L}\p{N}&&\P{Nd}]")
    return rf"(?:(?:^|[^a-z])(?i:{whole})|(?:{inside}))(?:[^a-z]|$)|{free}"


def _secrets(text: str) -> Iterator[tuple[int, int, str]]:
    """The secrets of a text, the likeliest of those that touch each other."""
    model = _model()
    for start, passage in _passages(text):
        whole, some = weighable(passage, model.opening)
        told = model.told(whole)
        if told < model.floor:
            continue
        missing, found = model.least - told, []
        for value, kind, signs, words in some:
            total = sum(map(model.signs, signs)) + model.told(words)
            if total >= missing and not _place(passage, value):
                found.append((-total, value.start, value.end, kind))
        taken: list[tuple[int, int]] = []
        for _, first, last, kind in sorted(found):
            if all(last <= a or b <= first for a, b in taken):
                taken.append((first, last))
                yield start + first, start + last, _named(kind)


def _place(text: str, value: Value) -> bool:
    return "make=place" in make(text[value.start : value.end])[1]


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
