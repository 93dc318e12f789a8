"""Shapes of identifiers: UUID, account, card, article, DOI, colour, version, house, and a name with its number."""

import re

from memops.values.lexicon import Lexicon, Num, Word, numeral
from memops.values.rules_counts import version_form
from memops.values.shape import REST, SEVEN, Shape, address

_UUID = re.compile(r"(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])", re.A)
_GROUPS = re.compile(
    r"(?<![\w.-])(?:\d{2,8}(?:-\d{2,8}){1,4}|\d{1,8}(?:-\d{1,8}){3,5})(?![\w-]|\.\d)", re.A
)
_CARD = re.compile(r"(?<![\w-])(?:\d{4}|[a-z]{1,3} ?\d{4})(?:[ -]\d{4}){2,4}(?![\w-])", re.A)
_IBAN = re.compile(r"(?<!\w)[a-z]{2}\d\d(?: ?[a-z]{4})?(?: ?\d{4}){2,6}(?: ?\d{1,3})?(?!\w)", re.A)
_DOI = re.compile(
    rf"(?:https?://(?:dx\.)?doi\.org/|(?<![\w/.])doi:? ?)(10\.\d{{4,9}}/{REST}+)", re.A
)
_COLOUR = re.compile(
    r"(?<!\w)(?:rgb\((\d{1,3}), ?(\d{1,3}), ?(\d{1,3})\)|#[0-9a-f]{6}(?!\w))", re.A
)
_MARKED = re.compile(r"(?<!\w)[a-z]+#[\w.-]+", re.A)
_VERSION = re.compile(
    r"(?<![\w.])(?P<caret>\^)?(?:v(?P<v>\d+(?:\.\d+)*)|(?P<n>\d+(?:\.\d+){2,4}|\d+(?:\.\d+)+(?=-(?:alpha|beta|rc|dev))))(?P<pre>-(?:alpha|beta|rc|dev)[.\d]*)?(?![\w]|\.\d)",
    re.A,
)
_SPECIAL = re.compile(r"doi[.:]|\bdoi |rgb\(|#")
_HOUSE = re.compile(r"\d [a-z]")
_POWER = re.compile(r"(?<![\w.])(?:(\d{1,9}(?:\.\d{1,9})?) ?[x×*·] ?)?10\^(-?\d{1,2})(?!\d)", re.A)


def _power(m: re.Match[str], lex: Lexicon, said: str) -> Word:
    """3×10^8: a number."""
    return numeral(Num(float(m[1] or 1) * 10.0 ** int(m[2])), lex, True)


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


def _iban(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """DE02 1203 0000 0000 2020 51, by its check digits."""
    bare = said.replace(" ", "")
    turned = "".join(str(int(sign, 36)) for sign in bare[4:] + bare[:4])
    return address(lex, "ident", bare.lower()) if int(turned) % 97 == 1 else None


def _colour(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """#ff8000, rgb(255, 128, 0)."""
    if not m[1]:
        return address(lex, "ident", m[0][1:])
    parts = [int(part) for part in m.groups()]
    return address(lex, "ident", bytes(parts).hex()) if max(parts) < 256 else None


def _marked(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    return address(lex, "ident", m[0]) if any(c.isdigit() for c in m[0]) else None


def _version(m: re.Match[str], lex: Lexicon, said: str) -> Word:
    form = version_form(m["v"] or m["n"]) + (m["pre"] or "")
    return address(lex, "version", (m["caret"] or "") + form)


def _special(low: str) -> bool:
    return _SPECIAL.search(low) is not None


DOI = Shape(_special, _DOI, lambda m, lex, said: address(lex, "ident", m[1].rstrip(".,;:!?")))
MARKED = Shape(_special, _MARKED, _marked)
COLOUR = Shape(_special, _COLOUR, _colour)
UUID = Shape(
    lambda low: low.count("-") >= 4, _UUID, lambda m, lex, said: address(lex, "ident", m[0])
)
IBAN = Shape(SEVEN.search, _IBAN, _iban)
CARD = Shape(SEVEN.search, _CARD, _card)
CODE = Shape(re.compile(r"\d\d-\d\d", re.A).search, _GROUPS, _code)
POWER = Shape(lambda low: "10^" in low, _POWER, _power)
LONE_VERSION = Shape(lambda low: "v" in low, _VERSION, _version)
VERSION = Shape(re.compile(r"v\d|\.\d+[.-]", re.A).search, _VERSION, _version)


def house(low: str, lex: Lexicon) -> list[Shape]:
    """Return how a house and its street are written in the languages of the words."""
    known = lex.street is not None and _HOUSE.search(low)
    return [Shape(_HOUSE.search, lex.street, _street)] if lex.street and known else []
