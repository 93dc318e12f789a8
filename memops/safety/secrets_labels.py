"""Labels: the words of all languages that say what stands beside them, as parts of patterns.

The words are data (`data/lexicons/secrets_labels.toml`), a table a language. What they are for is
told there; here they become alternatives of a regular expression, and the strings by which texts
that hold one of them are found.
"""

import itertools
import re
from collections.abc import Iterable
from functools import cache, reduce
from operator import or_

import polars as pl

from memops.language.lexicon import lexicon
from memops.language.prefilter import least
from memops.language.text import wordlist

_PART = re.compile(r"@\{([\w-]+)\}")
_JOINING = frozenset({"is", "from", "to", "and", "of", "by"})
_LATIN = re.compile(
    r"^[a-zß-ɏ]"
)  # Latin: a word, not a part of one, and written with a space before it
_SPACED = re.compile(r"^[a-zß-ɏͰ-ӿ֐-ۿऀ-ॿ]")
_CHARACTERS = {" ": "[ _-]?", "'": "['’]", "-": "-"}
_PAIR = re.compile("^[⺀-鿿]{2}$")  # which a person may set apart, so that lines end alike
_OF_THING = re.compile("(?i)(?:token|key)s?")
_SHORT = 5  # letters up to which a word is likely to be a part of another one


@cache
def words(group: str) -> tuple[str, ...]:
    """Return the words of a group, of all languages, the longest first."""
    tables = lexicon("secrets_labels").values()
    found = {word for table in tables for word in table.get(group, ())}
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


@cache
def listed(group: str) -> str:
    """Return the words of a group as alternatives, whole; a star stands for any more letters."""
    whole = [re.escape(word) for word in words(group) if not word.endswith("*")]
    begun = [re.escape(word[:-1]) for word in words(group) if word.endswith("*")]
    return "|".join([*whole, *([rf"(?:{'|'.join(begun)})\p{{L}}*"] if begun else [])])


@cache
def triggers(group: str) -> tuple[str, ...]:
    """Return strings, as a text may spell them, one of which holds every text with such a word (`fewest`)."""
    found = set()
    for word in words(group):
        for gaps in itertools.product(("", " ", "_", "-"), repeat=word.count(" ")):
            pieces = word.rstrip("*").split(" ")
            whole = pieces[0] + "".join(g + p for g, p in zip(gaps, pieces[1:], strict=True))
            found |= {f"{whole[0]} {whole[1]}"} if _PAIR.match(whole) else set()
            found |= {whole.lower(), whole.capitalize(), whole.upper()}
    return fewest(found)


def fewest(words: Iterable[str]) -> tuple[str, ...]:
    """Return strings one of which holds, whatever the case of ASCII, every text with any of the words.

    Each is there in small letters, too, as which is asked what was found.
    """
    few = least(word.encode().lower().decode() for word in words)
    return tuple(sorted({*few, *map(str.lower, few)}))


def expanded(pattern: str) -> str:
    """Return a pattern with its parts, `@{name}`, in place: parts of the lexicon, groups of words."""
    parts = lexicon("secrets")["parts"]
    while _PART.search(pattern):
        pattern = _PART.sub(lambda part: parts.get(part[1]) or spelt(part[1]), pattern)
    return pattern


def unlabelled(texts: pl.Series) -> pl.Series:
    """Return texts of the same lengths in which what only looks like a label is none.

    The token or key of a thing, as a folder's or a cache's, is written as an id, a code that opens
    nothing as a word.
    """
    ways, label = _unlabelling()
    held = lexicon("secrets")["unlabelled_any"]
    told = texts.str.contains_any(wordlist(held), ascii_case_insensitive=True)
    rows = told.fill_null(False).arg_true()
    some = texts.gather(rows)
    rows = rows.filter(reduce(or_, map(some.str.contains, ways)))
    if rows.is_empty():
        return texts
    return texts.scatter(rows, [label.sub(_renamed, texts[row]) for row in rows])


def _renamed(label: re.Match[str]) -> str:
    if label["coded"]:
        return "o" * len(label[0])
    return _OF_THING.sub(lambda said: "_id".rjust(len(said[0]), "_"), label[0])


@cache
def _unlabelling() -> tuple[list[str], re.Pattern[str]]:
    """What only looks like a label, as expressions of Rust's and as one of Python's."""
    ways = [expanded(way) for way in lexicon("secrets")["unlabelled"]]
    bare = "|".join(way.removeprefix("(?i)") for way in ways)
    return ways, re.compile(f"(?i)(?:{bare})(?![a-z])")


@cache
def spelt(group: str) -> str:
    """Return the words of a group as an expression (Rust's syntax), whatever their case."""
    if group.startswith("close-"):
        return f"(?:{_parted(words(group.removeprefix('close-')))[1]})"
    if group == "turn":
        return _any([_spelling(word) for word in words(group)])
    if group in _JOINING:
        return _joining(words(group))
    if group in ("public", "ids", "old", "new"):
        return _whole(words(group))
    return _label(words(group))


def _joining(given: tuple[str, ...]) -> str:
    """Words between a label and a value: with spaces around them where the language has spaces."""
    spaced, close = _parted(given)
    ways = [rf"\s+(?:{spaced})(?:\s*[:：]\s*|\s+)"] if spaced else []
    return _any([*ways, rf"\s*(?:{close})了?\s*[:：]?\s*"] if close else ways)


def _label(given: tuple[str, ...]) -> str:
    """Labels: short words stand alone, or end a name (`DB_PW`, `dbPw`); others end any."""
    short = [word for word in given if _SPACED.match(word) and len(word.rstrip("*")) <= _SHORT]
    camel = [word.capitalize() for word in short if word.isascii() and word.isalpha()]
    alone = [rf"@{{left}}{_any([_spelling(word) for word in short])}"] if short else []
    ending = [rf"(?-i:[a-z]{_any(camel)})"] if camel else []
    return _any([*alone, *(_spelling(word) for word in given if word not in short), *ending])


def _whole(given: tuple[str, ...]) -> str:
    """Words that are no part of a longer one where the language has spaces."""
    spaced, close = _parted(given)
    return _any([rf"@{{left}}(?:{spaced})", *([close] if close else [])])


def _parted(given: tuple[str, ...]) -> tuple[str, str]:
    """Alternatives in languages that put spaces between words, and in those that do not."""
    spaced = "|".join(_spelling(word) for word in given if _SPACED.match(word))
    return spaced, "|".join(_spelling(word) for word in given if not _SPACED.match(word))


def _any(ways: list[str]) -> str:
    return f"(?:{'|'.join(ways)})"


def _spelling(word: str) -> str:
    """A word as an expression: a space is any gap, a star more letters, a Latin word has plurals."""
    bare = "".join(_CHARACTERS.get(c, re.escape(c)) for c in word.rstrip("*"))
    if _PAIR.match(word):
        return f"{word[0]}[ 　]?{word[1]}"
    if word.endswith("*"):
        return bare + ("[a-zß-ɏ]{0,3}" if _LATIN.match(word) else "[Ͱ-ӿ]{0,3}")
    return bare + "s?" if _LATIN.match(word) and not word.endswith("s") and len(word) > 2 else bare
