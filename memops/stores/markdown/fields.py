"""Markdown fields: kinds, days and times of day as headings, paths and lines give them.

A time of day without a zone is local to whoever wrote it, which no file tells: it is taken as
UTC, so instants may be off by the writer's offset but keep their order. Lines of one file without
a time of their own are a microsecond apart, in the order in which they stand.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any

from memops.language.lexicon import lexicon
from memops.schema import KINDS

_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_TIME = re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([AaPp])\.?[Mm]\b)?")
CORE_IMPORTANCE = 0.85
_WIDE = re.compile(r"[\u2e80-\u9fff]")


@cache
def kind_of(words: str) -> str | None:
    """Return the kind of record that a heading or a [kind] names."""
    said = words.lower()
    if (plain := said.strip().replace(" ", "_")) in KINDS:
        return plain
    for kind, names in lexicon("markdown")["kinds"].items():
        for name in names:
            word = re.escape(name) if _WIDE.search(name) else rf"\b{re.escape(name)}\b"
            if re.search(word, said):
                return str(kind)
    return None


def importance_of(kind: str) -> float:
    """Return what a record of a kind weighs when its line does not say."""
    return float(lexicon("markdown")["importance"].get(kind, 0.5))


def day_in(text: str) -> date | None:
    """Return the first calendar day written in a text as YYYY-MM-DD."""
    for found in _DAY.finditer(text):
        try:
            return date.fromisoformat(found[1])
        except ValueError:
            continue
    return None


def time_in(text: str) -> time | None:
    """Return the first time of day in a text: 09:44, 9:44 AM, 14:12:11."""
    for found in _TIME.finditer(text):
        hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
        if half := (found[4] or "").lower():
            hour = hour % 12 + (12 if half == "p" else 0)
        if hour < 24 and minute < 60 and second < 60:
            return time(hour, minute, second)
    return None


def at(day: date | None, clock: time | None = None) -> datetime | None:
    """Return the instant of a day and a time of day, taken as UTC."""
    return datetime.combine(day, clock or time(), tzinfo=UTC) if day else None


def numbered(instant: datetime, line: int) -> datetime:
    """Return the instant of a line that has no time of its own."""
    return instant.replace(microsecond=0) + timedelta(microseconds=min(line, 999_999))


def plain(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value not in (None, [], {})}
