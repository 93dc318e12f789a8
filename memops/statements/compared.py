"""Comparisons: which of two parties is more so, however it is told: hotter than, less hot than, not as hot as."""

import re
from collections.abc import Iterator
from functools import cache

from memops.language.packs import frames, function_words, rows

_BRIEF = 120  # letters of a statement of one clause


def compared(plain: str) -> Iterator[str]:
    """Yield which party a text of one clause says to be more so, under each word that may be meant."""
    if not plain.isascii() or len(plain) > _BRIEF:
        return
    bare = plain.strip().rstrip(".!").lower()
    fits = next(
        (fit for frame in frames("comparing", r"\S.*?") if (fit := frame.fullmatch(bare))), None
    )
    if fits is None:
        return
    told = fits.groupdict()
    one, two = (_ARTICLE.sub("", told[name]) for name in ("one", "two"))
    if two.rpartition(" ")[2] in function_words("proforms"):  # the grey kiln, the red one
        two = f"{two.rpartition(' ')[0]} {one.rpartition(' ')[2]}"
    more, less = (two, one) if "less" in told else (one, two)
    for base in _bases(told["adj"]):
        word, side, others = _opposites().get(base, (base, 0, []))
        yield f"role=more {word} {more}>{less}"
        for other in others:
            pair = f"{word}|{other} {more}>{less}" if side == 0 else f"{other}|{word} {less}>{more}"
            yield f"role=more {pair}"


_ARTICLE = re.compile(r"^(?:the|an?) ")


def _bases(word: str) -> list[str]:
    """What a word of degree may be of: hotter of hot, nicer of nice, happier of happy; of hot itself."""
    bare = word.removesuffix("er")
    if bare == word:
        return [word]
    doubled = bare[:-1] if bare[-2:-1] == bare[-1:] else bare
    return [bare, f"{bare}e", f"{bare[:-1]}y" if bare[-1:] == "i" else doubled]


@cache
def _opposites() -> dict[str, tuple[str, int, list[str]]]:
    """What words of degree are of, each with the word, its side in its row, and the words of the other side."""
    sides = [[side.split() for side in row.split("|")] for row in rows("compared")]
    return {
        base: (word, at, row[1 - at])
        for row in sides
        for at, words in enumerate(row)
        for word in words
        for base in _bases(word)
    }
