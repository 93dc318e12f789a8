"""Relative times: days told from the day of speaking, as days of the calendar."""

import re
from datetime import datetime, timedelta

from memops.values.forms import DAYS, date_form
from memops.values.value import Value

_SHIFT = re.compile(
    r"(?P<unit>day|week|month|quarter|year|second)(?P<n>[+-]\d+(?:\.\d+)?)(?: (?P<tail>\w+))?$"
)


def resolved(value: Value, at: datetime) -> Value:
    """Return a value with its day counted from a time; a value that names no such day as it is."""
    found = _SHIFT.match(value.form) if value.kind == "date" else None
    if found is None:
        return value
    try:
        form = _form(found["unit"], float(found["n"]), found["tail"] or "", at)
    except (OverflowError, ValueError):
        return value
    return value._replace(form=form)


def _form(unit: str, n: float, tail: str, at: datetime) -> str:
    whole = int(n)
    if unit == "second":
        moment = at + timedelta(seconds=n)
        return f"{moment:%Y-%m-%dT%H:%M}"
    if unit == "day":
        day = at + timedelta(days=whole)
        return f"{day:%Y-%m-%d}"
    if unit == "week":
        monday = at - timedelta(days=at.weekday()) + timedelta(weeks=whole)
        if tail in DAYS:
            return f"{monday + timedelta(days=DAYS.index(tail)):%Y-%m-%d}"
        sunday = monday + timedelta(days=6)
        return f"{monday:%Y-%m-%d}..{sunday:%Y-%m-%d}"
    if unit == "quarter":
        ahead = at.year * 4 + (at.month - 1) // 3 + whole
        return f"{ahead // 4:04}-{33 + ahead % 4}"
    if unit == "year":
        return date_form(at.year + whole, None, None, tail)
    ahead = at.year * 12 + at.month - 1 + whole
    return date_form(ahead // 12, ahead % 12 + 1, None, tail)
