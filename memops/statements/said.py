"""Values as statements hold them: each in parts that are equal or not by their form alone.

`memops.values.compare` weighs two values. Sets that are compared by the million need parts that
are one and the same where two values agree: the year and the day of a date, the amount and the
currency of a price, what is at most and how much. A range is of a kind of its own.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache

from memops.language.packs import codes, scripted, table
from memops.language.vocabulary import Said, Token, heard, plainly
from memops.values import Value, read
from memops.values.value import counted, number

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_AMOUNT = re.compile(
    rf"(?P<bound>[<>]=?)?(?P<low>{_NUMBER})(?P<range>\.\.{_NUMBER})?(?P<unit>\D.*)?$"
)
_DATE = re.compile(r"(?P<y>[\dX]{4})-(?P<m>\d\d|XX)-(?P<d>\d\d|XX)(?: (?P<edge>\w+))?$")
_DATED = re.compile(r"[\dX]{4}-\d\d-\d\d(?: \w+)?$")
_TOLD = re.compile(r"(?:day|week|month|quarter|year|second)[+-]\d")
_YEAR, _MONTH = 365 * 86400, 30 * 86400
"""A year and a month in seconds, as people mean them who say 90 days for three months."""


def said_in(plain: str, values: Sequence[Value]) -> list[Said]:
    """Return the values of a text of `plainly` in parts, in reading order.

    Days told from the day of writing are left out where no other day is named beside them: they
    name none by themselves.
    """
    days = {value.start for value in values if value.kind == "weekday"}
    told = any(v.kind == "date" and _DATED.match(v.form.lstrip("~<>=")) for v in values)
    found = [
        part
        for value in values
        if not _idle(value, plain, days)
        for part in _parts(value, plain, told)
    ]
    parts = [_counter(plain, part) for part in found]
    return sorted(parts, key=lambda part: (*part[:2], part.kind in _BESIDE, *part[2:]))


_BESIDE = frozenset({"limit", "per", "currency", "edge", "year"})
"""Kinds of parts that are told with another."""
_WEEKLY = "every 604800 s"


def _idle(value: Value, plain: str, days: Collection[int]) -> bool:
    """Whether a value says no more than the words around it: at first; every week on a Monday."""
    if value.kind == "ordinal" and value.form in ("#1", "#-1"):
        nth = any(value.end <= day <= value.end + 1 for day in days)  # the last Friday of June
        return not nth and not any(c.isdigit() for c in plain[value.start : value.end])
    return value.form == _WEEKLY and bool(days)


def spoken(text: str) -> list[Token]:
    """Return the tokens of a text."""
    plain = plainly(text)
    values = read(plain)
    return heard(plain, said_in(plain, values))


def stands(one: Value, other: Value) -> bool:
    """Return whether a value says no more than another one: of each kind of part they share a form."""
    own, theirs = ({part[:2] for part in _split(False, *value[2:-1])} for value in (one, other))
    return bool(own) and dict(own).keys() == dict(own & theirs).keys()


def _parts(value: Value, plain: str, dated: bool) -> list[Said]:
    """A value in parts; a day told from the day of writing as `told`, where another one is dated.

    A number without a measure in a run without spaces may be money: 要价1.2万.
    """
    start, end, *form, gaps = value
    bare = (
        value.kind.startswith("number")
        and plain[end - 1].isnumeric()
        and plain[start - 1 : start] > "\u2e80"
    )
    more = [f"currency={_bare_money()}"] if bare else []
    years = value.written
    if years is not None and years < _AGED and value.kind == "number":
        more.append(f"duration={number(12 * years)} mo")  # her son is six
    elif years is not None and value.kind == "duration" and plain[:end].lower().endswith(_aged()):
        more.append(f"amount={number(years)}")
    parts = _split(dated, *form)
    return [Said(start, end, kind, told, (*near, *more), gaps) for kind, told, near in parts]


_AGED = 130


@cache
def _aged() -> tuple[str, ...]:
    return tuple(word for code in codes() for word in table(code).get("aged_units", ()))


@lru_cache(50_000)
def _split(
    dated: bool, kind: str, form: str, grain: float, converted: bool, written: float | None
) -> Sequence[tuple[str, str, tuple[str, ...]]]:
    form = form.removeprefix("~")
    if dated and _TOLD.match(form):
        return [("told", form, ())]
    if kind == "time":
        return [*_time(grain, form)]
    above, _, below = form.partition("/")
    if (
        kind == "slashed" and above.isdigit() and int(above) <= int(below)
    ):  # 3/4 may be three quarters, or a day
        part = Value(0, 0, "share", f"{number(100 * int(above) / int(below))}%", 0, True)
        return [
            (
                "share",
                form,
                tuple(f for told in _turned_round(part) for _, f in _amount("share", told)),
            )
        ]
    parts = _date if kind == "date" else _amount
    first, *rest = _turned_round(Value(0, 0, kind, form, grain, converted, written))
    told = [*parts(kind, first)]
    near = [part for other in rest for part in parts(kind, other) if part not in told]
    other = [*_weighed(kind, form, written)]
    version = re.fullmatch(r"v(\d+(?:\.\d+)?)", form) if kind == "version" else None
    if version is not None:  # Node 18, Node v18
        other.append(f"amount={version[1]}")
    elif kind == "number" and first[:1].isdigit():
        other.append(f"version=v{first}")
    return [(kind, form, (*(f for k, f in near if k == kind), *other)) for kind, form in told]


def _weighed(kind: str, form: str, written: float | None) -> Iterator[str]:
    """What a sum says if its pounds are a weight, and a weight if they are money."""
    amount = _AMOUNT.match(form)
    if written is None or amount is None:
        return
    low, unit = float(amount["low"]), amount["unit"] or ""
    if unit.startswith(" GBP"):
        weight = Value(0, 0, "mass", f"{number(written * _POUND)} g", 0, True, written)
        yield from (f"mass={told.partition(' ')[0]}" for told in _turned_round(weight))
    elif unit.startswith(" g") and abs(written * _POUND - low) < _NOUGHT * low:
        yield from (f"amount={number(written)}", "currency=GBP")


_POUND, _NOUGHT = 453.59237, 1e-9


def _turned_round(value: Value) -> list[str]:
    """The forms of a value; of one that was turned from another system, those that people round it to.

    The likeliest comes first: three digits tell apart what two told. Of degrees whole ones do where
    they were told in fives, else halves; of a fraction that no percentage is, whole per cent.
    Months are so many days.
    """
    amount = _AMOUNT.match(value.form)
    if amount is None or amount["range"]:
        return [value.form]
    low, unit = float(amount["low"]), amount["unit"] or ""
    if value.kind == "duration" and unit.startswith(" mo"):
        seconds = low / 12 * _YEAR if low % 12 == 0 else low * _MONTH
        near, other = [seconds + float(unit[3:-2] or 0)], " s"
    else:
        near, other = [*_rounded(value, low)], unit
    told = [f"{amount['bound'] or ''}{number(end)}{other}" for end in near]
    return [
        *dict.fromkeys([value.form, *told] if other != unit or not told else [*told, value.form])
    ]


def _rounded(value: Value, low: float) -> Iterator[float]:
    """What a number may be rounded to, the likeliest first."""
    written = value.written or 0.0
    if not value.converted:
        return
    if value.kind == "share":
        yield from (round(low, n) for n in range(3) if low >= _TENTH)
    elif value.kind == "temperature":
        yield from (round(low),) if value.written and written % _FIVE == 0 else ()
        yield from (round(low * 2) / 2,) if value.written and written % 1 == 0 else ()
    else:
        told = f"{written:g}".partition("e")[0].replace(".", "").strip("-0")
        digits = 2 if round(written, 9) in (0, low) else len(told)  # six feet two inches
        yield from () if digits <= _TOLD_DIGITS else (low,)
        yield from (float(f"{low:.{n}g}") for n in (3, 2, 4) if n != 2 or digits < 2)


_TENTH, _FIVE = 10, 5
_TOLD_DIGITS = 2  # what more digits tell three others may not tell from the next number


def _time(grain: float, form: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """A time of day; one that does not tell its half of the day may be of either."""
    bound = form[:2].strip("0123456789:")
    if ".." in form:
        yield "time range", form, ()
        return
    if bound:
        yield "limit", bound[0], ()
    form = form.lstrip("<>=")
    yield "time", form, (f"{(int(form[:2]) + 12) % 24:02}{form[2:]}",) if grain else ()


def _date(kind: str, form: str) -> Iterator[tuple[str, str]]:
    day = _DATE.match(form)
    if day is None:
        yield from [] if _TOLD.match(form.lstrip("<>=")) else [("period", form)]
        return
    if day["m"] != "XX":
        known = day["d"] != "XX"
        yield ("date", f"{day['m']}-{day['d']}") if known else ("month", day["m"])
    elif day["d"] != "XX":
        yield "day", day["d"]
    if "X" not in day["y"]:
        yield "year", day["y"]
    elif day["y"].strip("X"):
        yield "period", day["y"]  # a decade, a century
    if day["edge"]:
        yield "edge", day["edge"]


def _amount(kind: str, form: str) -> Iterator[tuple[str, str]]:
    if kind == "weekday" and "," in form:  # days on which other things may be so
        kind = "days"
    told = _AMOUNT.match(counted(kind, form)) if kind not in _NAMES else None
    if told is None:
        yield kind, form if kind == "phone" else _STROKES.sub("", form)
        return
    low, (unit, _, per) = told["low"], (told["unit"] or "").strip().partition("/")
    kind = kind.removesuffix(" rate")
    if kind == "money":
        yield "currency", unit
    if per:
        yield "per", per
    if kind == "duration" and unit.startswith("mo"):
        low += f" {unit}"
    if told["bound"]:
        yield "limit", told["bound"][0]
    named = _KINDS.get(kind, kind)
    yield (f"{named} range", low + told["range"]) if told["range"] else (named, low)


_STROKES = re.compile(r"(?<=[a-z])[-_·](?=\d)|(?<=\d)[-_·](?=[a-z])")
"""Strokes between letters and digits, which people leave out: B-12."""
_NAMES = frozenset(
    {"ident", "phone", "ip", "url", "path", "email", "version", "time", "ratio"}
    | {"slashed", "size", "ordinal", "weekday", "days", "deal", "bearing"}
)
"""Kinds whose forms are no amounts."""
_KINDS = {"number": "amount", "money": "amount", "degrees": "temperature"}
_LOOSE = re.compile(
    r"\w+\s\w+\s(?!(?:is|are|was|to|of|at|by|than|about|over|under|per|in|on|for|from|with|and"
    r"|port|number)$)[a-z]+$|[一-鿿]{5,}(?<![是为到成于在达约第至过号])$"
)


_ENDS = re.compile(r"[ .。]*+([)\]]?)[ .。]*+\Z")
"""The end of a text, behind a number that may be in brackets."""


@cache
def _bare_money() -> str:
    return str(table(scripted("han"))["bare_money"])


def _counter(text: str, part: Said) -> Said:
    """A bare number in brackets, or loose at the end of a sentence, numbers the text itself."""
    if part.kind not in ("amount", "version", "ident"):
        return part
    ends = _ENDS.match(text, part.end)
    if ends is None:
        return part
    before = text[: part.start].rstrip()[-60:]
    bracketed = before.endswith(("(", "[", "#"))
    bare = part.kind == "amount" and text[part.start : part.end].isdigit()
    loose = bare and not ends[1] and _LOOSE.search(before) is not None
    return part._replace(kind="counter") if bracketed or loose else part
