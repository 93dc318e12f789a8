"""Grammar: the cues of the lexicons as expressions over a column of text.

Patterns run in a regular expression engine that cannot backtrack, a whole column at a time, so a
hostile line costs what any line of its length costs. `{name}` in a pattern stands for a word list.
"""

import re
from functools import cache

import polars as pl

from memops.errors import Corrupt
from memops.lexicon import lexicon

_WORD = re.compile(r"\{([a-z_]+)\}")


@cache
def pattern(cue: str) -> str:
    """Return the one regular expression that all patterns of a cue make."""
    table = lexicon("extract").get(cue)
    if not isinstance(table, dict):
        raise Corrupt(f"lexicon extract: no cue {cue!r}")
    lead = rf"^[\s\"'“‘(]*(?:{'|'.join(_lead())})*" if cue not in ("lead", "remember") else r"^\s*"
    parts = [
        *(rf"(?:{'|'.join(table['zh'])})" for _ in table.get("zh", [])[:1]),
        *(rf"(?:\b|^)(?:{'|'.join(table['en'])})(?:\b|$|[^\w])" for _ in table.get("en", [])[:1]),
        *(rf"{lead}(?:{'|'.join(table['zh_start'])})" for _ in table.get("zh_start", [])[:1]),
        *(rf"{lead}(?:{'|'.join(table['en_start'])})" for _ in table.get("en_start", [])[:1]),
    ]
    return "(?i)" + expanded("|".join(parts))


@cache
def opening(cue: str) -> str:
    """Return the pattern of a cue that opens a clause, to strip it off."""
    table = lexicon("extract")[cue]
    return rf"(?i)^[\s,:;]*(?:{expanded('|'.join([*table['zh_start'], *table['en_start']]))})"


def says(cue: str, text: pl.Expr | None = None) -> pl.Expr:
    """True of a text in which the cue occurs."""
    return (pl.col("text") if text is None else text).str.contains(pattern(cue))


@cache
def passing() -> str:
    """Return the pattern of a clause that opens with this moment: today, just now."""
    words = lexicon("extract")["fleeting"]
    zh, en = "|".join(words["zh"]), "|".join(words["en"])
    return expanded(rf"(?i)^(?:我们?|i'm |i am |we're |i )?(?:{zh}|(?:{en})\b)")


def shape(name: str) -> str:
    """Return a single pattern of the lexicon, ready to use."""
    return expanded(str(lexicon("extract")["shape"][name]))


def expanded(source: str) -> str:
    """Return a pattern with its word lists put in and ASCII word boundaries.

    An ASCII boundary lets the engine keep its fast path on Chinese, and stands between Han and
    Latin, where Chinese writers leave no space.
    """
    words = lexicon("extract")["words"]
    while _WORD.search(source):
        source = _WORD.sub(lambda found: words[found[1]], source)
    return source.replace(r"\b", r"(?-u:\b)")


def _lead() -> list[str]:
    table = lexicon("extract")["lead"]
    return [*table["zh_start"], *table["en_start"]]
