"""Grammar: the cues of the lexicons as expressions over a column of text.

Patterns run in a regular expression engine that cannot backtrack, a whole column at a time, so a
hostile line costs what any line of its length costs. `{name}` in a pattern stands for a word list.
"""

import re
from functools import cache

import polars as pl

from memops.errors import Corrupt
from memops.language.lexicon import lexicon

_LONGEST = 900  # characters of patterns in one regular expression
_WORD = re.compile(r"\{([a-z_]+)\}")


@cache
def patterns(cue: str) -> tuple[tuple[str, str], ...]:
    """Return the regular expressions of a cue, several patterns in each, and the script that each
    needs: han, latin, or text where it needs neither.

    One expression for all would be faster to ask, were it not for the engine's automaton: past a
    size it no longer fits its cache and is a hundred times slower.
    """
    table = lexicon("extract").get(cue)
    if not isinstance(table, dict):
        raise Corrupt(f"lexicon extract: no cue {cue!r}")
    lead = rf"^[\s\"'“‘(]*(?:{'|'.join(_lead())})*" if cue not in ("lead", "remember") else r"^\s*"
    frames = {
        "zh": ("{}", "han"),
        "en": (r"(?:\b|^){}(?:\b|$|[^\w])", "latin"),
        "any": ("{}", "text"),
        "zh_start": (f"{lead}{{}}", "han"),
        "en_start": (f"{lead}{{}}", "latin"),
        "any_start": (f"{lead}{{}}", "text"),
    }
    return tuple(
        ("(?i)" + expanded(frame.replace("{}", f"(?:{'|'.join(chunk)})")), script)
        for name, (frame, script) in frames.items()
        for chunk in _chunks(table.get(name, []))
    )


@cache
def opening(cue: str) -> str:
    """Return the pattern of a cue that opens a clause, to strip it off."""
    table = lexicon("extract")[cue]
    return rf"(?i)^[\s,:;]*(?:{expanded('|'.join([*table['zh_start'], *table['en_start']]))})"


@cache
def trailing() -> str:
    """Return the pattern of what a clause may end with and does not mean."""
    words = lexicon("extract")["trail"]
    return expanded(rf"{'|'.join(words['zh'])}|[ ,]\b(?:{'|'.join(words['en'])})")


def says(cue: str, text: pl.Expr | None = None) -> pl.Expr:
    """True of a text in which the cue occurs."""
    said = pl.col("text") if text is None else text
    found = [said.str.contains(pattern) for pattern, _ in patterns(cue)]
    return pl.any_horizontal(found).fill_null(False)


def tells(cue: str) -> pl.Expr:
    """The same of a table with `by_script`, where a pattern meets only texts of its script."""
    found = [pl.col(script).str.contains(pattern) for pattern, script in patterns(cue)]
    return pl.any_horizontal(found).fill_null(False)


def by_script(text: str = "text") -> list[pl.Expr]:
    """Return the columns han and latin: a text that holds a letter of the script, else null."""
    said = pl.col(text)
    return [
        pl.when(said.str.contains(letter)).then(said).alias(script)
        for script, letter in (("han", r"\p{Han}"), ("latin", "[A-Za-z]"))
    ]


def expanded(source: str) -> str:
    """Return a pattern with its word lists put in and ASCII word boundaries.

    An ASCII boundary lets the engine keep its fast path on Chinese, and stands between Han and
    Latin, where Chinese writers leave no space.
    """
    words = lexicon("extract")["words"]
    while _WORD.search(source):
        source = _WORD.sub(lambda found: words[found[1]], source)
    return source.replace(r"\b", r"(?-u:\b)")


def _chunks(sources: list[str]) -> list[list[str]]:
    """Cut a list of patterns where their expanded length passes what the engine caches."""
    chunks: list[list[str]] = []
    size = _LONGEST
    for source in sources:
        length = len(expanded(source))
        if size + length > _LONGEST:
            chunks.append([])
            size = 0
        chunks[-1].append(source)
        size += length
    return chunks


def _lead() -> list[str]:
    table = lexicon("extract")["lead"]
    return [*table["zh_start"], *table["en_start"]]
