"""Values that name one thing: addresses, telephone numbers, versions, numbered things."""

import re

from memops.language.numerals import canonical, numeral
from memops.language.values_amounts import Forms


def email(m: re.Match[str]) -> Forms:
    """Read an address of mail, in lower case."""
    yield "email", m[0].lower()


def url(m: re.Match[str]) -> Forms:
    """Read an address on the web, without scheme and www."""
    yield "url", re.sub(r"^(?:https?://)?(?:www\.)?", "", m[0].lower()).rstrip("/.,;。，；)")


def phone(m: re.Match[str]) -> Forms:
    """Read a telephone number of 7 to 15 digits, without the prefixes of China and America."""
    bare = re.sub(r"\D", "", m[0])
    if 7 <= len(bare) <= 15:
        bare = bare[2:] if len(bare) == 13 and bare.startswith("86") else bare
        bare = bare[1:] if len(bare) == 11 and bare.startswith("1") and "+1" in m[0] else bare
        yield "phone", bare


def name(m: re.Match[str]) -> Forms:
    """Read node-7, srv/db2: words with a digit in them."""
    yield "ident", m[0].lower().rstrip("./-_")


def version(m: re.Match[str]) -> Forms:
    """Read v1.2, 1.2.3."""
    yield "version", m["v"] or m["dotted"]


def numbered(m: re.Match[str]) -> Forms:
    """Read room 12, 第五章."""
    groups = m.groupdict()
    digits_ = groups["n"] or groups.get("n2") or ""
    number = digits_ if digits_[:1].isdigit() else canonical(numeral(digits_) or 0)
    yield "ident", f"{(groups.get('head') or 'no').lower()} {number}"


def address(m: re.Match[str]) -> Forms:
    """Read 10.0.0.1."""
    yield "ident", m[0]
