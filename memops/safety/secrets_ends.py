"""Ends of secrets: a key goes on to where its alphabet ends, whatever its shape took of it."""

import re
from collections.abc import Collection

import polars as pl

_MORE = re.compile(r"(?:[A-Za-z0-9+/_=~.!-]|%[0-9A-F]{2})+")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_SPEAKABLE = re.compile(r"(?i)(?!.*[^aeiouy]{5})(?=.*[aeiouy])")
_SPOKEN = 0.28  # of a run that a generator made: the most that could be words
_CUT = re.compile(
    r"(.{12,}?)[-_.+/][A-Za-z]*"
)  # a key, and the beginning of a word of other letters
_BESIDE = re.compile(r"(?:[-._/~+!]+(?:[0-9]+|[a-z]{1,4}))+$")  # a day, a version, a file's ending
STOPS = ".,;?!"  # of the sentence, behind a value
_SURE = 20  # characters of a value that is the same whatever is glued to it
_LETTER = re.compile("[À-ɏ]")


def spoken(run: str) -> bool:
    """Return whether more of a run is words than a generator makes by chance."""
    said = sum(len(word) for word in _WORDS.findall(run) if _SPEAKABLE.match(word))
    return said > len(run) * _SPOKEN


def wherever(value: str, part: str = r"\w") -> str:
    """Return a pattern of where a value stands again: whole, and a long one in any case.

    `part` matches what before or behind a short one makes it another.
    """
    again = re.escape(value)
    return again if len(value) >= _SURE else f"(?<!{part}){again}(?!{part})"


def whole(texts: pl.Series, spans: pl.DataFrame, made: Collection[int]) -> pl.DataFrame:
    """Return spans (row, start, end, nth), of which those of shapes `made` by generators end as keys do.

    What follows in the same signs is a part of the key unless it is words; a word of a language
    with other letters than a key's is none of it, not by its first letters either.
    """
    ends = [
        _end(texts[row], start, end) if nth in made else end
        for row, start, end, nth in spans.select("row", "start", "end", "nth").iter_rows()
    ]
    return spans.with_columns(end=pl.Series(ends, dtype=pl.UInt32))


def _end(text: str, start: int, end: int) -> int:
    if _LETTER.match(text, end):
        cut = _CUT.fullmatch(text, start, end)
        return cut.end(1) if cut else end
    if not (more := _MORE.match(text, end)):
        return end
    tail = _BESIDE.sub("", more[0].rstrip(".-_/!"))
    goes_on = re.search("[0-9]", tail) or not tail.strip("=")
    return end + len(tail) if goes_on and not spoken(tail) else end
