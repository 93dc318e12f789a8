"""Forms: how dates, times of day, weekdays and spans of time are written canonically."""

import re
from datetime import date, timedelta

from memops.values.grammar import Found
from memops.values.lexicon import Num
from memops.values.units import Unit, printed
from memops.values.value import number

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
UNKNOWN = "XX"
_BINARY = 1024


def date_form(year: int | None, month: int | None, day: int | None, edge: str = "") -> str:
    """Return a date as EDTF (ISO 8601-2) writes it, X for what is not known."""
    y = f"{year:04}" if year is not None else "XXXX"
    m = f"{month:02}" if month is not None else UNKNOWN
    d = f"{day:02}" if day is not None else UNKNOWN
    return f"{y}-{m}-{d}" + (f" {edge}" if edge else "")


def date_found(
    year: int | None, month: int | None, day: int | None, edge: str = ""
) -> Found | None:
    """Return a date, or None for one that no calendar has."""
    longest = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    if month is not None and day is not None and day > longest[month - 1]:
        return None
    return Found("date", date_form(year, month, day, edge))


_WHOLE = re.compile(r"(\d{4}|XXXX)-(\d\d)-XX$")
_PERIODS = {(1, 3): "33", (4, 6): "34", (7, 9): "35", (10, 12): "36", (1, 6): "40", (7, 12): "41"}


def whole_period(low: str, high: str) -> str:
    """Return two dates as a range; whole months or years as the quarter, half or decade that they make."""
    one, two = _WHOLE.match(low), _WHOLE.match(high)
    if one and two:
        years = {one[1], two[1]} - {"XXXX"}
        if len(years) > 1:
            return f"{low}..{high}"
        year, months = (years or {"XXXX"}).pop(), (int(one[2]), int(two[2]))
        if months == (1, 12):
            return f"{year}-XX-XX"
        named = _PERIODS.get(months)
        return f"{year}-{named}" if named else f"{year}-{one[2]}-XX..{year}-{two[2]}-XX"
    if low[4:] == high[4:] == "-XX-XX" and low[3] == "0" and high[3] == "9" and low[:3] == high[:3]:
        return f"{low[:3]}X-XX-XX"
    return f"{low}..{high}"


def time_form(hour: int, minute: int, zone: int | None = None, seconds: str = "") -> str:
    """Return a time of day, `seconds` as ":10"; one with a zone in universal time."""
    at = (hour * 60 + minute - (zone or 0)) % 1440
    return f"{at // 60:02}:{at % 60:02}{seconds}{'' if zone is None else 'Z'}"


def days_form(days: set[int]) -> str:
    """Return weekdays in their order."""
    return ",".join(DAYS[day] for day in sorted(days))


def scalar(kind: str, num: Num, unit: str, factor: float = 1.0) -> Found:
    """Return an amount of a kind in a unit of its own."""
    return Found(kind, amount=num, factor=factor, unit=unit)


def measured(num: Num, unit: Unit) -> Found:
    """Return so much of a unit."""
    if unit.kind in ("months", "duration"):
        return scalar("duration", num, " mo" if unit.kind == "months" else " s", unit.factor)
    if unit.kind == "data" and num.value and num.value % _BINARY == 0 and unit.factor % 1000 == 0:
        num = num._replace(value=num.value / _BINARY * 1000)  # 16384 MB are 16 GB
    symbol = "%" if unit.kind == "share" else " " + printed().get(unit.kind, unit.kind)
    return Found(
        unit.kind,
        amount=num,
        factor=unit.factor,
        offset=unit.offset,
        unit=symbol,
        converted=unit.customary,
    )


def per(unit: Unit) -> str:
    """Return how a rate writes its unit of time; other units are counted in their kind's own."""
    if unit.kind == "months":
        return "mo" if unit.factor == 1 else f"{number(unit.factor)} mo"
    if unit.kind == "duration":
        named = {604800.0: "w", 86400.0: "d", 3600.0: "h", 1.0: "s"}
        return named.get(unit.factor, f"{number(unit.factor)} s")
    return printed().get(unit.kind, unit.kind)


def day_after(kind: str, form: str, days: int) -> str | None:
    """Return the day so many days after a weekday or a date that names its day; a year may be missing."""
    week = re.fullmatch(r"week([+-]\d+) (\w{3})", form)
    if week is not None and week[2] in DAYS:
        weeks, day_of = divmod(DAYS.index(week[2]) + days, 7)
        return f"week{int(week[1]) + weeks:+d} {DAYS[day_of]}"
    if kind == "weekday":
        return DAYS[(DAYS.index(form) + days) % 7] if form in DAYS else None
    known = re.fullmatch(r"(\d{4}|XXXX)-(\d\d)-(\d\d)", form)
    if known is None or (known[1] == "XXXX" and known[2] == "02" and known[3] >= "28"):
        return None
    year = 2001 if known[1] == "XXXX" else int(known[1])
    day = date(year, int(known[2]), int(known[3])) + timedelta(days=days)
    return date_form(None if known[1] == "XXXX" else day.year, day.month, day.day)
