"""Shapes of identifiers: UUID, account, card, article, DOI, colour, version, house, and a name with its number."""

import re

from memops.values.lexicon import Lexicon, Word
from memops.values.rules_counts import version_form
from memops.values.shape import SEVEN, Shape, address

_UUID = re.compile(r"(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])", re.A)
_GROUPS = re.compile(
    r"(?<![\w.-])(?:\d{2,8}(?:-\d{2,8}){1,4}|\d{1,8}(?:-\d{1,8}){3,5})(?![\w-]|\.\d)", re.A
)
_CARD = re.compile(
    r"(?<![\w-])(?:[a-z]{2}\d\d|[a-z]{1,3} ?\d{4}|\d{4})(?:[ -]\d{4}){2,6}(?:[ -]\d{1,3})?(?![\w-])",
    re.A,
)
_VERSION = re.compile(
    r"(?<![\w.])(?P<caret>\^)?(?:v(?P<v>\d+(?:\.\d+)*)|(?P<n>\d+(?:\.\d+){2,4}|\d+(?:\.\d+)+(?=-(?:alpha|beta|rc|dev))))(?P<pre>-(?:alpha|beta|rc|dev)[.\d]*)?(?![\w]|\.\d)",
    re.A,
)
_HOUSE = re.compile(r"\d [a-z]")
_ARTICLE = 13  # digits that number articles of trade and books, whether in groups or not


def _street(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """221 South Oak Street: a house by its number, in names with capital letters."""
    named = said.split()[1:]
    if not all(word[0].isupper() for word in named):
        return None
    inner = (word.lower().rstrip(".") for word in named[:-1])
    told = (
        lex.words[word].roles.get("compass", word) if word in lex.words else word for word in inner
    )
    head = "".join([*told, lex.words[m["kind"]].roles["street"]])
    return address(lex, "ident", f"{head}#{m['n']}")


def _code(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """2024-0091: a number of groups that is no range."""
    groups = said.split("-")
    if len(said) - len(groups) + 1 == _ARTICLE:  # an ISBN
        return address(lex, "ident", "".join(groups))
    return address(lex, "ident", said) if len(groups) > 2 or groups[-1][0] == "0" else None


def _card(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """4111 1111 1111 1111, SF 1402 7788 3051, but not in 2019 2020 2021."""
    bare = re.sub(r"[ -]", "", said)
    return (
        address(lex, "ident", bare.lower()) if bare == bare.upper() or " " not in said[:4] else None
    )


def _version(m: re.Match[str], lex: Lexicon, said: str) -> Word:
    form = version_form(m["v"] or m["n"]) + (m["pre"] or "")
    return address(lex, "version", (m["caret"] or "") + form)


UUID = Shape(
    lambda low: low.count("-") >= 4, _UUID, lambda m, lex, said: address(lex, "ident", m[0])
)
CARD = Shape(SEVEN.search, _CARD, _card)
CODE = Shape(re.compile(r"\d\d-\d\d", re.A).search, _GROUPS, _code)
LONE_VERSION = Shape(lambda low: "v" in low, _VERSION, _version)
VERSION = Shape(re.compile(r"v\d|\.\d+[.-]", re.A).search, _VERSION, _version)


def house(low: str, lex: Lexicon) -> list[Shape]:
    """Return how a house and its street are written in the languages of the words."""
    known = lex.street is not None and _HOUSE.search(low)
    return [Shape(_HOUSE.search, lex.street, _street)] if lex.street and known else []
