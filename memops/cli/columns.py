"""Columns of a terminal: texts wrapped and tables narrowed; Han characters take two places."""

import re
import shutil
import sys
from collections.abc import Sequence

from memops.documents.leads import width

_WORDS = re.compile(
    r"\s+|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]+"
)
"""Blanks, single characters of scripts that break anywhere, and words."""


def terminal_columns() -> int:
    """Return how wide the terminal is that is printed to; 0 where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def longest_word(text: str) -> int:
    """Return the columns below which a text cannot be wrapped: what is copied is never broken."""
    return max((width(word) for word in _WORDS.findall(text) if not word.isspace()), default=0)


def wrapped(text: str, room: int) -> list[str]:
    """Return a text as lines of so many columns; a word that is wider stands alone."""
    if width(text) <= room:
        return [text]
    lines, line = list[str](), ""
    for word in _WORDS.findall(text):
        if line and not word.isspace() and width(line) + width(word) > room:
            lines.append(line.rstrip())
            line = ""
        line += "" if word.isspace() and not line else word
    return [*lines, line.rstrip()]


def narrowed(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the widths with the widest made narrower until they fit; nothing where they cannot.

    None becomes narrower than its longest word.
    """
    if sum(least) > room:
        return []
    now = list(widths)
    while sum(now) > room:
        widest = max((i for i in range(len(now)) if now[i] > least[i]), key=lambda i: now[i])
        now[widest] -= 1
    return now
