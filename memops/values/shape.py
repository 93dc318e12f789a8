"""Shapes: what is told by how it is written, before any word is read."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from memops.values.lexicon import Lexicon, Word

REST = r"[^\s，。；、）)\]】》」\"'<>]"
"""What an address may go on with."""
SEVEN = re.compile(r"\d(?:[\s().-]{0,2}\d){6}")
"""Digits enough for a number that is dialled or paid to."""


class Shape(NamedTuple):
    """How something is written: a cheap look for what no text with it is without, its pattern, and what it is."""

    needs: Callable[[str], Any]
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], Lexicon, str], Word | None]


def address(lex: Lexicon, kind: str, form: str) -> Word:
    """Return a word that is an address of a kind."""
    return lex.word({"address": (kind, form)})
