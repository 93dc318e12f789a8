"""Dues: until when a text says that a thing is to be done.

Days are read as people write them, counted from the day on which the text was written. A period
ends on its last day, so that nothing is late too early; a day before the text was written is no
due day, nor is one on which it says that something was done.
"""

import calendar
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache

from memops.language.lexicon import lexicon
from memops.language.packs import either
from memops.statements.remembered import Remembered
from memops.values import Value, read, resolved
from memops.values.forms import DAYS

_OLDEST = 1900
_VERSION = re.compile(r"\d{4}\.\d{1,2}\.\d{1,2}")  # a day only where the text says that it is one
_JOINED = re.compile(r"-[^\W\d_]")  # behind what is the first part of a name


@dataclass(frozen=True)
class Due:
    """A due day; `firm` where the text says that it is one, and where the words stand."""

    day: date
    firm: bool
    spans: tuple[tuple[int, int], ...]


@lru_cache(maxsize=1 << 15)
def due(text: str, said: date | None) -> Due | None:
    """Return the due day of a text written on a day, or None for a text that names none.

    Of several days the last one counts, and only firm ones where there are any. Of a text that
    was written nobody knows when, only a firm day with its year tells: others may be when it was
    added, or looked at.
    """
    plain, first = folded(text), said or date.min
    found = [(day, _firm(plain, *span) or sure, span) for day, sure, span in _days(text, said)]
    found = [item for item in found if item[1] or not _done(plain, item[2][0])]
    found = [item for item in found if not _JOINED.match(plain, item[2][1])]
    found = [item for item in found if item[1] or not _VERSION.fullmatch(plain, *item[2])]
    found = [item for item in found if item[0] >= first and item[0].year > _OLDEST]
    firm = [item for item in found if item[1]]
    chosen = firm or (found if said else [])
    if not chosen:
        return None
    return Due(max(day for day, _, _ in chosen), bool(firm), tuple(span for _, _, span in found))


def dues(
    texts: Sequence[str], said: Sequence[date | None], kept: Remembered | None
) -> list[Due | None]:
    """Return the due day of each text, as an earlier night found it or as `due` does."""
    if kept is None:
        return [*map(due, texts, said)]
    dated = [f"{day} {text}" for day, text in zip(said, texts, strict=True)]
    found = kept.places("due", dated, lambda nth: _coded(due(texts[nth], said[nth])))
    return [*map(_decoded, found)]


def _coded(found: Due | None) -> list[int]:
    """A due day as numbers; none for none."""
    if found is None:
        return []
    return [found.day.toordinal(), found.firm, *(at for span in found.spans for at in span)]


def _decoded(numbers: Sequence[int]) -> Due | None:
    if not numbers:
        return None
    day, firm, *at = numbers
    spans = tuple(zip(at[::2], at[1::2], strict=True))
    return Due(date.fromordinal(day), bool(firm), spans)


def folded(text: str) -> str:
    """Return a text in the form in which its days are looked for, and its spans are counted."""
    return unicodedata.normalize("NFKC", text).lower()


_Found = tuple[date, bool, tuple[int, int]]
_DAY = re.compile(r"(?P<y>\d{4}|XXXX)-(?P<m>\d\d|XX)(?:-(?P<d>\d\d|XX))?")
_QUARTERS = {33: 3, 34: 6, 35: 9, 36: 12, 40: 6, 41: 12}
"""The last month of the quarters and halves of a year, by their numbers in ISO 8601-2."""


def _days(text: str, said: date | None) -> Iterator[_Found]:
    """The days that a text names, whether each is a due day by itself, and where it stands."""
    text = unicodedata.normalize("NFKC", text)
    values = read(text)
    weekly = {value.start for value in values if value.kind == "frequency"}
    for value in values:
        if "+" in value.form and not _firm(text.lower(), *value[:2]) and _of_a_thing(text, value):
            continue
        form = value.form.lstrip("~<>=")
        sure = form.startswith("day+") or "<" in value.form
        try:
            day = None if value.start in weekly else _day(value._replace(form=form), sure, said)
        except (ValueError, OverflowError):
            continue
        if day is not None:
            yield day, sure, (value.start, value.end)


def _of_a_thing(text: str, value: Value) -> bool:
    """Whether a day that is told by today says what a thing is of ("today's news"), not when to do one.

    So may "today" that stands between two words.
    """
    before, after = text[: value.start].rstrip()[-1:], text[value.end :].lstrip()[:1]
    between = value.form == "day+0" and before.isalnum() and after.isalnum()
    end = value.end - 2  # the mark may be read with the day
    return between or any(text.find(of, end, value.end + len(of)) >= 0 for of in _possessive())


@cache
def _possessive() -> list[str]:
    return [*lexicon("tasks")["due"]["possessive"]]


def _day(value: Value, within: bool, said: date | None) -> date | None:
    """The last day that a value names; of a day without its year the next one."""
    if value.kind == "date":
        told = value if said is None else resolved(value, datetime.combine(said, time()))
        named = _DAY.match(told.form.rpartition("..")[2])
        return _named(named, said) if named else None
    if said is None:
        return None
    if value.kind == "weekday":
        wanted = DAYS.index(value.form.rpartition(",")[2])
        return said + timedelta(days=(wanted - said.weekday()) % 7)
    if value.kind == "duration" and within:
        amount, unit = value.form.split()[:2]
        return said + timedelta(days=31 * float(amount) if unit == "mo" else float(amount) / 86400)
    return None


def _named(told: re.Match[str], said: date | None) -> date | None:
    """The last day of what a form of a date names, of that year or else the first not before."""
    if told["m"] == "XX":
        return None if "X" in told["y"] else date(int(told["y"]), 12, 31)
    month = _QUARTERS.get(int(told["m"]), int(told["m"]))
    ahead = [said.year, said.year + 1] if said else []
    years = ahead if "X" in told["y"] else [int(told["y"])]
    known = told["d"] and told["d"] != "XX"
    days = [
        date(y, month, int(told["d"]) if known else calendar.monthrange(y, month)[1]) for y in years
    ]
    return next((day for day in days if said is None or day >= said), days[-1] if days else None)


def _firm(plain: str, start: int, end: int) -> bool:
    before, after = _cues()
    return bool(before.search(plain[max(0, start - 30) : start]) or after.match(plain[end:]))


def _done(plain: str, start: int) -> bool:
    """Whether what stands before a day says that something was done on it."""
    return bool(_ends().search(plain[max(0, start - 30) : start]))


@cache
def _ends() -> re.Pattern[str]:
    words = lexicon("tasks")["done"]
    latin = [w for w in words["marks"] if w.isascii()]
    wide = [w for w in [*words["marks"], *words["signs"]] if not w.isascii()]
    said = rf"(?<!\bbe )\b(?:{either(latin)})\b|(?:{either(wide)})"
    return re.compile(rf"(?:{said})\ufe0f?\s*(?:on|at|in|于|在)?[\s:：(（=-]*$")


@cache
def _cues() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = lexicon("tasks")["due"]
    fill = rf"(?:[\s:：(（]*(?:{either(words['of'])}))*[\s:：(（]*"
    latin = [w for w in words["before"] if w.isascii()]
    wide = [w for w in words["before"] if not w.isascii()]
    before = re.compile(rf"(?:\b(?:{either(latin)})\b|{either(wide)}){fill}$")
    return before, re.compile(rf"\s*(?:{either(words['after'])})")
