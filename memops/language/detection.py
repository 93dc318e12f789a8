"""Detection: the packs by whose words a text is read, told by script and function words."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

from memops.language.packs import codes, pack, table

_WORDS = re.compile(r"\b[^\W\d_]'[^\W\d_]+|[^\W\d_]+")
"""Words; a letter before a stroke is none: o'clock."""
_HAN = re.compile("[\u4e00-\u9fff]")


def spoken(text: str) -> tuple[str, ...]:
    """Return the languages whose words are looked for in a text.

    They are those that stand in notes of any language, unless the function words of another one
    outnumber theirs.
    """
    home, others = _packs()
    if not others or (not text.isascii() and _HAN.search(text)):
        return home
    words = _WORDS.findall(text.lower())
    said = {*words}
    best, most = home, 0
    for code, own, theirs, letters in others:
        if own.isdisjoint(said) and (text.isascii() or letters.isdisjoint(text)):
            continue
        count = sum(word in own for word in words) + sum(letter in text for letter in letters)
        if count > max(most, sum(word in theirs for word in words)):
            best, most = (code,), count
    return best


def spoken_share(code: str, texts: Iterable[str]) -> float:
    """Return the share of the words of texts (lower case) that are function words of a language."""
    words = Counter(word for text in texts for word in _WORDS.findall(text))
    return sum(words[word] for word in _function(code)) / max(1, words.total())


@cache
def _packs() -> tuple[
    tuple[str, ...], list[tuple[str, frozenset[str], frozenset[str], frozenset[str]]]
]:
    """The packs that are read everywhere; the others, each with the function words that tell them apart."""
    home = tuple(code for code in codes() if pack(code).everywhere)
    common = frozenset(word for code in home for word in _function(code))
    others = []
    for code in codes():
        if code not in home:
            own = _function(code)
            others.append((code, own - common, common - own, pack(code).letters))
    return home, others


@cache
def surely(codes: tuple[str, ...]) -> tuple[str, str]:
    """Return what a text holds that is surely of one of some languages, and what none of them holds.

    Patterns: of a language with spaces a function word of three letters, as shorter ones stand in
    many languages; of one without, its characters; and letters of scripts that none of them has.
    """
    words = {
        word for code in codes for word in _function(code) if word.isalpha() and word.isascii()
    }
    long = "|".join(sorted(word for word in words if len(word) >= _TELLING))
    return rf"(?i)\p{{Han}}|\b(?:{long})\b", r"[\p{L}&&[^\p{Latin}\p{Han}]]"


_TELLING = 3


@cache
def idle_words() -> tuple[str, ...]:
    """Return the words of every pack that say nothing by themselves."""
    return tuple(sorted({word for code in codes() for word in _function(code)}))


@cache
def _function(code: str) -> frozenset[str]:
    """What it lists by themselves, without what joins them to another: the s of it's."""
    return frozenset(table(code, "signs")["idle"].replace(" '", " ").split())
