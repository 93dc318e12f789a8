"""Comparing: whether two values are equal, different ones of a kind, or not to be compared.

A night compares the parts of values (`memops.statements.said`); nothing differs here because it was
not read, so that a test can tell a value that was not read from one that was read as another.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from memops.values.value import Value, counted, number

Comparison = Literal["equal", "different", "incomparable"]
EQUAL: Comparison = "equal"
DIFFERENT: Comparison = "different"
INCOMPARABLE: Comparison = "incomparable"

_FORM = re.compile(
    r"(?P<about>~)?(?P<bound>[<>]=?)?(?P<low>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
    r"(?:\.\.(?P<high>-?\d+(?:\.\d+)?))?(?P<unit>\D.*)?$"
)
_ABOUT = 0.1
"""How far values may lie apart of which one is said to be about so much."""
_LOCAL = 7
"""Digits of a telephone number without its area."""
_CONVERTED = 0.01
"""How far two numbers of one length or weight, each rounded in its own system, may lie apart."""


def compare(a: Value, b: Value) -> Comparison:
    """Return whether two values are equal, different ones of a kind, or not to be compared."""
    if {a.kind, b.kind} == {"temperature", "degrees"}:
        return _degrees(a, b)
    if a.kind != b.kind:
        return _akin(a, b)
    if a.form == b.form:
        return EQUAL
    if a.kind == "ident":
        return _idents(a.form, b.form)
    if a.kind == "date":
        return _dates(a.form, b.form)
    if a.kind == "time" and a.grain != b.grain and half_day(a.form) == half_day(b.form):
        return EQUAL
    one, two = (_FORM.match(counted(v.kind, v.form)) for v in (a, b))
    if a.kind == "phone" and ("+" in a.form) != ("+" in b.form):
        local, whole = sorted((a.form.lstrip("tel 0"), b.form.lstrip("tel 0")), key=len)
        return EQUAL if len(local) >= _LOCAL and whole.endswith(local) else DIFFERENT
    if a.kind in _NAMES or one is None or two is None:
        return DIFFERENT
    return _amounts(a, b, one, two)


def _idents(a: str, b: str) -> Comparison:
    """Identifiers, with strokes or without: AB-1234; where only one names what it is of, nobody knows."""
    (one, _, _), (two, _, _) = a.partition("#"), b.partition("#")
    if "#" in a + b and one != two:
        return INCOMPARABLE
    return EQUAL if _STROKES.sub("", a) == _STROKES.sub("", b) else DIFFERENT


_STROKES = re.compile(r"(?<=[a-z])[-_](?=\d)|(?<=\d)[-_](?=[a-z])")
"""Strokes between letters and digits, which people leave out."""


def half_day(form: str) -> str:
    """Return a time of day as a dial shows it."""
    told = re.fullmatch(r"(\d\d)(:\d\d)", form)
    return form if told is None else f"{int(told[1]) % 12:02}{told[2]}"


_NAMES = frozenset(
    ["ident", "phone", "ip", "url", "path", "email", "version", "ordinal", "time", "deal", "lunar date"]
)  # fmt: skip
"""Kinds whose forms are no amounts."""


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
    """Values of two kinds that may be one where only one text says the kind: 6 and 06:00, 0.3 and 30 %."""
    one, two = sorted((a, b), key=lambda v: v.kind)
    same = _AKIN.get((one.kind, two.kind))
    return EQUAL if same is not None and same(one, two) else INCOMPARABLE


def _of_number(ident: Value, plain: Value) -> bool:
    """Room 12, and 12 by itself; three layers are no third layer."""
    bare = plain.end - plain.start <= len(plain.form)
    said = ident.form.rpartition("#")[2]
    return bare and plain.form in (said.lstrip("0"), said.replace("-", ""))


def _of_share(plain: Value, share: Value) -> bool:
    told = re.fullmatch(r"0\.\d+", plain.form)
    return told is not None and share.form == f"{number(round(100 * float(plain.form), 9))}%"


def _in_slashes(one: Value, two: Value) -> bool:
    """1/2, which may be a date or two of something, and a half."""
    plain, slashed = (one, two) if two.kind == "slashed" else (two, one)
    above, _, below = slashed.form.partition("/")
    told = _FORM.match(plain.form)
    if told is None or told["bound"] or told["high"]:
        return False
    return abs(float(told["low"]) / 100 - float(above) / float(below)) < _ROUNDED


_ROUNDED = 0.005


def _unit_unsaid(one: Value, two: Value) -> bool:
    """300 where the other text says of what: 300 元, 月薪两万, at least 18 years."""
    plain, said = (two, one) if two.kind.startswith("number") else (one, two)
    bare, told = _FORM.match(plain.form), _FORM.match(said.form)
    if bare is None or told is None:
        return False
    per = [(m["unit"] or "").partition("/")[2] for m in (bare, told)]
    ends = [(m["about"], m["bound"], m["high"]) for m in (bare, told)]
    if ends[0] != ends[1] or per[0] != per[1] or bare["high"]:
        return False
    if not any(ends[0]) and not per[0] and plain.end - plain.start > len(plain.form):
        return False  # so many of something
    years = 12 if said.kind == "duration" and (told["unit"] or "").strip() == "mo" else None
    if said.kind == "duration" and not (years and bare["bound"]):
        return False
    return float(bare["low"]) * (years or 1) == float(told["low"])


def _reduced(discount: Value, factor: Value) -> bool:
    """20 % off, and four fifths of what it was."""
    off, left = _FORM.match(discount.form), _FORM.match(factor.form)
    if off is None or left is None or off["high"] or left["high"]:
        return False
    return abs(1 - float(off["low"]) / 100 - float(left["low"])) < _ROUNDED


def _of_version(one: Value, version: Value) -> bool:
    """python3.12 and Python 3.12; 1.2 or newer."""
    bound, _, said = version.form.rpartition("v")
    tail = re.fullmatch(r"([<>]?=?)[a-z]*[-_]?(\d+(?:\.\d+)+)", one.form)
    return tail is not None and tail[1] == bound and tail[2].removesuffix(".0") == said


_AKIN: Mapping[tuple[str, str], Callable[[Value, Value], bool]] = {
    ("ident", "number"): _of_number,
    ("number", "time"): lambda one, two: two.form == _clock(one.form),
    ("number", "share"): _of_share,
    ("share", "slashed"): _in_slashes,
    ("money", "number"): _unit_unsaid,
    ("money rate", "number rate"): _unit_unsaid,
    ("duration", "number"): _unit_unsaid,
    ("discount", "factor"): _reduced,
    ("ident", "version"): _of_version,
    ("number", "version"): _of_version,
}


def _clock(numeral: str) -> str:
    """The time that a number may be: 6, 9.30, 930."""
    hour, _, minute = numeral.partition(".")
    if not minute and len(hour) > 2:
        hour, minute = hour[:-2], hour[-2:]
    return f"{hour:0>2}:{minute:0<2}"


def _amounts(a: Value, b: Value, one: re.Match[str], two: re.Match[str]) -> Comparison:
    if one["unit"] != two["unit"]:
        return _families(a.kind, one, two)
    ends = [(float(one[k] or one["low"]), float(two[k] or two["low"])) for k in ("low", "high")]
    if a.kind == "data" and _binary(*ends[0]):
        return EQUAL if one["bound"] == two["bound"] else DIFFERENT
    near = all(_rounded(a, b, x, y) for x, y in ends)
    if one["bound"] != two["bound"]:
        return _bounded(one, two)
    if bool(one["high"]) != bool(two["high"]):
        return INCOMPARABLE if _within(ends) else DIFFERENT
    if one["about"] or two["about"]:
        close = all(abs(x - y) <= _ABOUT * max(abs(x), abs(y)) for x, y in ends)
        alike = one["about"] == two["about"] or a.converted != b.converted
        near = near or (alike and all(_rounds(a, b, x, y) for x, y in ends))
        return EQUAL if near and alike else INCOMPARABLE if close else DIFFERENT
    return EQUAL if near else DIFFERENT


def _binary(x: float, y: float) -> bool:
    """Kilobytes of 1,000 and of 1,024 bytes."""
    high, low = max(x, y), min(x, y)
    return low > 0 and any(abs(high / low / 1.024**k - 1) < 1e-6 for k in range(1, 6))


def _rounded(a: Value, b: Value, x: float, y: float) -> bool:
    """Whether two numbers are one, or, said in two systems, one rounds to the other."""
    if x == y or (x % 1 and abs(x - y) <= 1e-9 * max(abs(x), abs(y))):
        return True
    if a.converted == b.converted:
        return False
    slack = max(a.grain, b.grain) * 1.0001
    return abs(x - y) <= (slack if a.kind == "temperature" else min(slack, _CONVERTED * abs(x)))


def _rounds(a: Value, b: Value, x: float, y: float) -> bool:
    """Whether of two numbers in two systems each is the other's rounding: 10 km, about six miles."""
    return a.converted != b.converted and abs(x - y) <= min(a.grain, b.grain) * 1.0001


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
    sides = {(m["unit"] or "").strip(): float(m["low"]) for m in (one, two)}
    if kind not in ("duration", "frequency") or sides.keys() != {"s", "mo"}:
        return DIFFERENT
    return INCOMPARABLE if 28 <= sides["s"] / sides["mo"] / 86400 <= 31 else DIFFERENT


def _dates(a: str, b: str) -> Comparison:
    """Days with parts unknown: different where a part known of both differs."""
    one, two = _TOLD.match(a), _TOLD.match(b)
    if one and two and {one[1], two[1]} == {"month", "year"} and one.end() == len(a):
        months = {m[1]: float(m[2]) for m in (one, two)}
        return (
            EQUAL if months["month"] == 12 * months["year"] and two.end() == len(b) else DIFFERENT
        )
    if one and two:
        days = {"day", "second"} & {one[1], two[1]}
        return INCOMPARABLE if days and one[1] != two[1] else DIFFERENT
    if {a[0], b[0]} == {"<", ">"}:
        return DIFFERENT
    if a[:4] == b[:4] and "-XX-XX" in (a[4:], b[4:]):
        return INCOMPARABLE
    if len(a) != 10 or len(b) != 10 or a[4] != "-" or b[4] != "-" or ".." in a + b:
        return DIFFERENT if _plain_date(a) and _plain_date(b) else INCOMPARABLE
    parts = list(zip(a.split("-"), b.split("-"), strict=True))
    known = [(x, y) for x, y in parts if "X" not in x + y]
    apart = any(p != q and "X" not in p + q for p, q in zip(a[:4], b[:4], strict=True))
    if apart or any(x != y for x, y in known):
        return DIFFERENT
    same_day = len(known) >= 2 and parts[2] in known
    return EQUAL if same_day else INCOMPARABLE


_TOLD = re.compile(r"(day|week|month|quarter|year|second)([+-]\d+)")


def _plain_date(form: str) -> bool:
    return re.fullmatch(r"[\dX]{4}-[\dX]{2}(-[\dX]{2})?(\.\.[\dX-]+)?", form) is not None
