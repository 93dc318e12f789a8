"""Values: one thing that a text says, with where it stands, its kind and its one canonical form.

A form prints and reads back: reading `str(value)` gives the value again. Two values are equal,
different values of one kind, or not comparable; nothing differs because it was not read.
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import Literal, NamedTuple

Comparison = Literal["equal", "different", "incomparable"]
EQUAL: Comparison = "equal"
DIFFERENT: Comparison = "different"
INCOMPARABLE: Comparison = "incomparable"


class Value(NamedTuple):
    """A value and where it stands; `kind` is its dimension, `form` its canonical writing."""

    start: int
    end: int
    kind: str
    form: str
    grain: float = 0.0
    """Half the last place in which it was written, in the unit in which the kind prints; of a time
    that may be of either half of the day, 12 hours."""
    converted: bool = False
    """Whether it was written in another system than the one in which its kind prints."""
    written: float | None = None
    """The number that was written, in the unit that was written."""

    def __str__(self) -> str:
        """Return the canonical form, which reads back as the value."""
        return self.form


def number(amount: float) -> str:
    """Return the one writing of a number, to twelve digits."""
    if abs(amount) < 1e15 and amount == int(amount):
        return str(int(amount))
    said = f"{amount:.12g}"
    return f"{amount:.12f}".rstrip("0") if "e-" in said and abs(amount) > 1e-9 else said


_FORM = re.compile(
    r"(?P<about>~)?(?P<bound>[<>]=?)?(?P<low>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
    r"(?:\.\.(?P<high>-?\d+(?:\.\d+)?))?(?P<unit>\D.*)?$"
)
_ABOUT = 0.1
"""How far values may lie apart of which one is said to be about so much."""
_CONVERTED = 0.01
"""How far two numbers of one length or weight, each rounded in its own system, may lie apart."""
_LONGEST, _SHORTEST = 31 * 86400.0, 28 * 86400.0
_LOCAL = 7
"""Digits of a telephone number without its area."""
_BYTES = tuple(1.024**k for k in range(1, 6))


def compare(a: Value, b: Value) -> Comparison:
    """Return whether two values are equal, different ones of a kind, or not to be compared."""
    if {a.kind, b.kind} == {"temperature", "degrees"}:
        return _degrees(a, b)
    if a.kind != b.kind:
        return _akin(a, b)
    if a.form == b.form:
        return EQUAL
    if (
        a.kind == "ident"
        and a.form.partition("#")[::2][0] != b.form.partition("#")[0]
        and "#" in a.form + b.form
    ):
        return INCOMPARABLE
    if a.kind == "date":
        return _dates(a.form, b.form)
    if a.kind == "time" and a.grain != b.grain and half_day(a.form) == half_day(b.form):
        return EQUAL
    one, two = (_FORM.match(_counted(v.kind, v.form)) for v in (a, b))
    if a.kind == "phone" and a.form[0] != b.form[0] and "+" in a.form[0] + b.form[0]:
        return _phones(*sorted((a.form, b.form)))
    if a.kind in _NAMES or one is None or two is None:
        return DIFFERENT
    return _amounts(a, b, one, two)


def half_day(form: str) -> str:
    """Return a time of day as a dial shows it."""
    told = re.fullmatch(r"(\d\d)(:\d\d)", form)
    return form if told is None else f"{int(told[1]) % 12:02}{told[2]}"


_NAMES = frozenset(
    {
        "ident",
        "phone",
        "ip",
        "url",
        "path",
        "email",
        "version",
        "ordinal",
        "time",
        "lunar date",
        "deal",
    }
)
"""Kinds whose forms are no amounts."""


def _phones(whole: str, local: str) -> Comparison:
    """Numbers of which only one tells its country."""
    return (
        EQUAL
        if len(local.lstrip("tel ")) >= _LOCAL and whole.endswith(local.lstrip("tel 0"))
        else DIFFERENT
    )


def _degrees(a: Value, b: Value) -> Comparison:
    """A temperature without its scale: the number that another says with it, or who knows."""
    bare, scaled = (a, b) if a.kind == "degrees" else (b, a)
    one, two = _FORM.match(bare.form), _FORM.match(scaled.form)
    if one is None or two is None or one["bound"] != two["bound"]:
        return INCOMPARABLE
    n, c = float(one["low"]), float(two["low"])
    said = c * 9 / 5 + 32 if scaled.converted else c
    if abs(n - said) < 0.05 and not one["high"] and not two["high"]:
        return EQUAL
    return INCOMPARABLE if abs(n - c * 9 / 5 - 32) < 1 or abs(n - c) < 1 else DIFFERENT


def _akin(a: Value, b: Value) -> Comparison:
    """Values of two kinds that may be one: build 12 and build #12, 9/10 and 90 %."""
    kinds = {a.kind, b.kind}
    if kinds == {"number", "phone"}:
        short, long = sorted((v.form.lstrip("+tel ") for v in (a, b)), key=len)
        return EQUAL if len(short) >= _LOCAL and long.endswith(short) else INCOMPARABLE
    if kinds == {"number", "ordinal"}:
        bare = a.form.lstrip("#")
        return EQUAL if bare == b.form.lstrip("#") and len(bare) >= _LABEL else INCOMPARABLE
    if kinds == {"number", "date"}:
        numbered, day = (a, b) if a.kind == "number" else (b, a)
        return (
            EQUAL if day.form.lstrip("~") == numbered.form.lstrip("~") + "-XX-XX" else INCOMPARABLE
        )
    told = _BESIDE.get(frozenset(kinds))
    if told is not None:
        one, two = sorted((a, b), key=lambda v: v.kind)
        return EQUAL if told(one.form, two.form) else INCOMPARABLE
    if kinds == {"weekday", "frequency"}:
        return EQUAL if {a.form, b.form} == {",".join(_WEEK), "every 86400 s"} else INCOMPARABLE
    if kinds in ({"mass", "money"}, {"mass rate", "money rate"}):
        return _pounds(*sorted((a, b), key=lambda v: v.kind))
    if "number" in kinds or "number rate" in kinds:
        return _unit_left_out(*((a, b) if a.kind.startswith("number") else (b, a)))
    if kinds == {"slashed", "share"}:
        ratio, share = (a, b) if a.kind == "slashed" else (b, a)
        above, _, below = ratio.form.partition("/")
        if share.form == f"{number(round(100 * float(above) / float(below), 9))}%":
            return EQUAL
    return INCOMPARABLE


def _numbered(ident: str, bare: str) -> bool:
    """Floor 11 and the number 11: a thing that only one text calls by its kind."""
    return ident.rpartition("#")[2].lstrip("0") == bare.lstrip("#0")


def _clock(numeral: str, time: str) -> bool:
    """At 6, at 9.30, 0930: an hour that only one text tells as a time."""
    digits = numeral.replace(".", "") if "." in numeral else numeral
    if "." in numeral:
        hour, _, minute = numeral.partition(".")
        return time == f"{int(hour):02}:{minute:0<2}" if hour.isdigit() else False
    return digits.isdigit() and time == (
        f"{digits:0>2}:00" if len(digits) < 3 else f"{digits[:-2]:0>2}:{digits[-2:]}"
    )


def _of_day(date: str, slashed: str) -> bool:
    """15/4 and the fifteenth of April, whichever comes first."""
    one, _, two = (f"{part:0>2}" for part in slashed.partition("/"))
    return date[-6:] in (f"-{one}-{two}", f"-{two}-{one}")


def _later(date: str, duration: str) -> bool:
    """In an hour, and 3,600 seconds; year 98, and 1998."""
    told = re.fullmatch(r"(second|day)[+-](\d+(?:\.\d+)?)", date)
    if told is not None:
        return duration == f"{number(float(told[2]) * (86400 if told[1] == 'day' else 1))} s"
    months = duration.removesuffix(" mo")
    short = months.isdigit() and int(months) % 12 == 0 and int(months) // 12
    return bool(short) and re.fullmatch(rf"\d\d{int(short):02}-XX-XX", date) is not None


def _cycles(frequency: str, pitch: str) -> bool:
    """Once a second, and 1 Hz."""
    told = re.fullmatch(r"every (\S+) s", frequency)
    return told is not None and pitch == f"{number(1 / float(told[1]))} Hz"


def _release(bare: str, version: str) -> bool:
    """Postgres 15.4, and version 15.4."""
    return version.removeprefix("v") in (bare, re.sub(r"(?:\.0+)+$", "", bare))


_BESIDE = {
    frozenset({"ident", "number"}): _numbered,
    frozenset({"ident", "ordinal"}): _numbered,
    frozenset({"number", "time"}): _clock,
    frozenset({"ident", "time"}): _clock,
    frozenset({"date", "slashed"}): _of_day,
    frozenset({"date", "duration"}): _later,
    frozenset({"frequency", "pitch"}): _cycles,
    frozenset({"number", "version"}): _release,
}
"""What two kinds have in common by which they may be one, the kinds in their order."""


_LABEL = 3
"""Digits from which on a number behind its noun is a label: build 4512 is build #4512."""
_WEEK = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_POUND = 453.59237


def _pounds(mass: Value, money: Value) -> Comparison:
    """Pounds are a weight and a currency."""
    one, two = _FORM.match(mass.form), _FORM.match(money.form)
    if one is None or two is None or not (two["unit"] or "").startswith(" GBP"):
        return INCOMPARABLE
    rate = (one["unit"] or "").partition("/")[2] == (two["unit"] or "").partition("/")[2]
    close = abs(float(one["low"]) / _POUND - float(two["low"])) < 1e-6
    return EQUAL if rate and close and one["bound"] == two["bound"] else INCOMPARABLE


def _unit_left_out(bare: Value, told: Value) -> Comparison:
    """A number is the same amount that another text gives with its unit: 28,000, and 28,000 元."""
    one, two = _FORM.match(bare.form), _FORM.match(told.form)
    if one is None or two is None or told.written is None or one["high"] or two["high"]:
        return INCOMPARABLE
    if told.kind == "share" and 0 < float(one["low"]) < 1:
        return EQUAL if abs(float(one["low"]) * 100 - float(two["low"])) < 1e-9 else INCOMPARABLE
    alike = (one["unit"] or "").partition("/")[2] == (two["unit"] or "").partition("/")[2]
    same = abs(float(one["low"]) - told.written) < 1e-9 and one["bound"] == two["bound"]
    return EQUAL if same and alike and told.kind not in _COUNTED else INCOMPARABLE


_COUNTED = frozenset({"frequency", "factor", "discount", "date"})


_STRICT = {"<": ("<=", -1), ">": (">=", 1)}


def _counted(kind: str, form: str) -> str:
    """A bound of whole numbers with its last one: fewer than five are at most four."""
    told = re.fullmatch(r"([<>])(-?\d+)", form) if kind == "number" else None
    if told is None:
        return form
    bound, step = _STRICT[told[1]]
    return f"{bound}{int(told[2]) + step}"


def _amounts(a: Value, b: Value, one: re.Match[str], two: re.Match[str]) -> Comparison:
    if one["unit"] != two["unit"]:
        return _families(a.kind, one, two)
    ends = [(float(one[k] or one["low"]), float(two[k] or two["low"])) for k in ("low", "high")]
    if a.kind == "data" and any(_binary(x, y) for x, y in ends[:1]):
        return EQUAL if one["bound"] == two["bound"] else DIFFERENT
    near = all(_rounded(a, b, x, y) for x, y in ends)
    if one["bound"] != two["bound"]:
        return _bounded(one, two)
    if bool(one["high"]) != bool(two["high"]):
        return INCOMPARABLE if _within(ends) else DIFFERENT
    if one["about"] or two["about"]:
        close = all(abs(x - y) <= _ABOUT * max(abs(x), abs(y)) for x, y in ends)
        return (
            EQUAL if near and one["about"] == two["about"] else INCOMPARABLE if close else DIFFERENT
        )
    return EQUAL if near else DIFFERENT


def _binary(x: float, y: float) -> bool:
    """Kilobytes of 1,000 and of 1,024 bytes."""
    high, low = max(x, y), min(x, y)
    return low > 0 and any(abs(high / low / ratio - 1) < 1e-6 for ratio in _BYTES)


def _rounded(a: Value, b: Value, x: float, y: float) -> bool:
    """Whether two numbers are one, or, said in two systems, one rounds to the other."""
    if x == y or (x % 1 and abs(x - y) <= 1e-9 * max(abs(x), abs(y))):
        return True
    if a.converted == b.converted:
        return False
    slack = max(a.grain, b.grain) * 1.0001
    return abs(x - y) <= (slack if a.kind == "temperature" else min(slack, _CONVERTED * abs(x)))


def _within(ends: Sequence[tuple[float, float]]) -> bool:
    (low, other), (high, too) = ends
    return low <= other <= high or other <= low <= too


def _bounded(one: re.Match[str], two: re.Match[str]) -> Comparison:
    """A bound beside a number or another bound: they differ where they exclude each other, or point apart."""
    if one["bound"] and two["bound"]:
        return DIFFERENT
    bound, exact = (one, two) if one["bound"] else (two, one)
    limit, n = float(bound["low"]), float(exact["low"])
    held = n <= limit if "<" in bound["bound"] else n >= limit
    return INCOMPARABLE if held else DIFFERENT


def _families(kind: str, one: re.Match[str], two: re.Match[str]) -> Comparison:
    """Months against seconds: different unless some month is that long."""
    if kind not in ("duration", "frequency") or one["bound"] != two["bound"]:
        return DIFFERENT
    sides = {(m["unit"] or "").strip(): float(m["low"]) for m in (one, two)}
    if sides.keys() != {"s", "mo"}:
        return DIFFERENT
    held = sides["mo"] * _SHORTEST <= sides["s"] <= sides["mo"] * _LONGEST
    return INCOMPARABLE if held else DIFFERENT


def _dates(a: str, b: str) -> Comparison:
    """Days with parts unknown: different where a part known of both differs."""
    one, two = _TOLD.match(a), _TOLD.match(b)
    if one and two:
        days = {"day", "second"} & {one[1], two[1]}
        return INCOMPARABLE if days and one[1] != two[1] else DIFFERENT
    if a[:4] == b[:4] and "-XX-XX" in (a[4:], b[4:]):
        return INCOMPARABLE
    if len(a) != 10 or len(b) != 10 or a[4] != "-" or b[4] != "-" or ".." in a + b:
        return DIFFERENT if _plain_date(a) and _plain_date(b) else INCOMPARABLE
    parts = list(zip(a.split("-"), b.split("-"), strict=True))
    known = [(x, y) for x, y in parts if "X" not in x + y]
    if any(x != y for x, y in known):
        return DIFFERENT
    same_day = len(known) >= 2 and parts[2] in known
    return EQUAL if same_day else INCOMPARABLE


_TOLD = re.compile(r"(day|week|month|quarter|year|second)[+-]\d")


def _plain_date(form: str) -> bool:
    return re.fullmatch(r"[\dX]{4}-[\dX]{2}(-[\dX]{2})?(\.\.[\dX-]+)?", form) is not None


def last_day(form: str) -> date | None:
    """Return the last day of a date whose year is known, or None."""
    from calendar import monthrange

    found = re.fullmatch(r"(\d{4})-(\d\d|XX)-(\d\d|XX)(?: (start|mid|end))?", form)
    if found is None:
        return None
    year, month, day = int(found[1]), found[2], found[3]
    if month == "XX":
        return date(year, 12, 31)
    whole = monthrange(year, int(month))[1]
    try:
        return date(year, int(month), whole if day == "XX" else int(day))
    except ValueError:
        return None
