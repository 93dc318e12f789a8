"""Forms: how dates, times of day, weekdays and spans of time are written canonically."""

from memops.values.grammar import Found
from memops.values.lexing import Num
from memops.values.units import Unit, printed
from memops.values.value import number

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
UNKNOWN = "XX"


def date_form(year: int | None, month: int | None, day: int | None, edge: str = "") -> str:
    """Return a date as EDTF (ISO 8601-2) writes it, X for what is not known."""
    y = f"{year:04}" if year is not None else "XXXX"
    m = f"{month:02}" if month is not None else UNKNOWN
    d = f"{day:02}" if day is not None else UNKNOWN
    return f"{y}-{m}-{d}" + (f" {edge}" if edge else "")


def date_found(year: int | None, month: int | None, day: int | None, edge: str = "") -> Found | None:
    """Return a date, or None for one that no calendar has."""
    longest = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    if month is not None and day is not None and day > longest[month - 1]:
        return None
    return Found("date", date_form(year, month, day, edge))


def time_form(hour: int, minute: int, zone: int | None = None) -> str:
    """Return a time of day; one with a zone in universal time."""
    if zone is not None:
        at = (hour * 60 + minute - zone) % 1440
        return f"{at // 60:02}:{at % 60:02}Z"
    return f"{hour % 24:02}:{minute:02}"


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
    symbol = "%" if unit.kind == "share" else " " + printed().get(unit.kind, unit.kind)
    return Found(
        unit.kind, amount=num, factor=unit.factor, offset=unit.offset, unit=symbol, converted=unit.customary
    )


def per(unit: Unit) -> str:
    """Return how a rate writes its unit of time; other units are counted in their kind's own."""
    if unit.kind == "months":
        return "mo" if unit.factor == 1 else f"{number(unit.factor)} mo"
    if unit.kind == "duration":
        return {604800: "w", 86400: "d", 3600: "h", 1: "s"}.get(unit.factor, f"{number(unit.factor)} s")
    return printed().get(unit.kind, unit.kind)
