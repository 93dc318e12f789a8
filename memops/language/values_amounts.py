"""Values that are amounts: money, percentages, quantities, ratios and bare numbers."""

import re
from collections.abc import Iterator

from memops.language.lexicon import lexicon
from memops.language.numerals import canonical, digits, numeral

Forms = Iterator[tuple[str, str]]
"""What a reading of a match yields: kinds of value, each with its canonical form."""

_TABLE = lexicon("values")
UNITS = {u: (kind, f) for kind, units in _TABLE["unit"].items() for u, f in units.items()}
"""Units, each with its kind and its factor to the unit of that kind."""
CURRENCY = {word: code for code, words in _TABLE["currency"].items() for word in words}
"""Words and signs of currencies, each with its code."""


def money(m: re.Match[str]) -> Forms:
    """Read $1,200, $5k, 三百元."""
    amount = numeral(m["n"] or m["n2"])
    if amount is not None:
        scale = {"k": 1e3, "m": 1e6, "million": 1e6}.get((m["k"] or "").lower(), 1.0)
        yield "amount", canonical(amount * scale)
        yield "currency", CURRENCY[(m["c"] or m["c2"]).lower()]


def percent(m: re.Match[str]) -> Forms:
    """Read 20 %, 百分之二十, 三成."""
    if m["cheng"]:
        tenths = numeral(m["cheng"])
        yield "percent", canonical((tenths or 0) * 10)
    else:
        value = numeral(m["n"] or m["n2"])
        if value is not None:
            yield "percent", canonical(value)


def quantity(m: re.Match[str]) -> Forms:
    """Read 2500 g, 2.5 公斤, -5 °C: in the unit of its kind."""
    unit = re.sub(r"\s+", " ", m["u"].lower())
    kind, scale = UNITS[unit]
    value = numeral(m["n"])
    if value is not None:
        sign = "-" if m["sign"] else ""
        yield kind, sign + canonical(value * scale)


def ratio(m: re.Match[str]) -> Forms:
    """Read 1:3, three-fold."""
    if m["a"]:
        one = digits(m["a"])
        yield from [("ratio", canonical(digits(m["b"]) / one))] if one else []
    else:
        yield "ratio", canonical(numeral(m["fold"]) or 0)


def plain(m: re.Match[str]) -> Forms:
    """Read a bare number; one of 7 to 11 digits may be a telephone, too."""
    number = numeral(m[0])
    if number is not None:
        yield "amount", canonical(number)
    if m[0].isdigit() and 7 <= len(m[0]) <= 11:
        yield "phone", m[0]


def zh_count(m: re.Match[str]) -> Forms:
    """Read 三 in 三个."""
    number = numeral(m["n"])
    if number is not None:
        yield "amount", canonical(number)


def grade(m: re.Match[str]) -> Forms:
    """Read 三年级."""
    yield "grade", canonical(numeral(m["n"]) or 0)
