"""Dues: until when a text says that a thing is to be done.

Days are read as people write them, counted from the day on which the text was written. A period
ends on its last day, so that nothing is late too early; a day before the text was written is no
due day, nor is one on which it says that something was done.
"""

import calendar
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache

from memops.language.lexicon import lexicon
from memops.language.numerals import HAN, UNCOUNTED, han

_MONTHS: list[str] = lexicon("values")["words"]["months"]
_WEEKDAYS = {c: n for n, c in enumerate("一二三四五六日")} | {"天": 6}
_EN_DAYS: list[str] = lexicon("values")["words"]["days"]
_OLDEST = 1900


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
    was written nobody knows when, only a day with its year tells.
    """
    plain, first = folded(text), said or date.min
    found = [(day, _firm(plain, *span) or sure, span) for day, sure, span in _days(plain, first)]
    found = [item for item in found if item[1] or not _done(plain, item[2][0])]
    found = [item for item in found if item[0] >= first and item[0].year > _OLDEST]
    firm = [item for item in found if item[1]]
    chosen = firm or found
    if not chosen:
        return None
    return Due(max(day for day, _, _ in chosen), bool(firm), tuple(span for _, _, span in found))


def folded(text: str) -> str:
    """Return a text in the form in which its days are looked for, and its spans are counted."""
    return unicodedata.normalize("NFKC", text).lower()


_Found = tuple[date, bool, tuple[int, int]]
_Read = Callable[[re.Match[str], date], date | None]


def _days(plain: str, said: date) -> Iterator[_Found]:
    taken = bytearray(len(plain))
    for pattern, read, sure in _readers():
        for match in pattern.finditer(plain):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            try:
                day = read(match, said)
            except (ValueError, OverflowError):
                continue
            if day is not None:
                taken[start:end] = b"\1" * (end - start)
                yield day, sure, (start, end)


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
    said = rf"(?<!\bbe )\b(?:{_any(latin)})\b|(?:{_any(wide)})"
    return re.compile(rf"(?:{said})\ufe0f?\s*(?:on|at|in|于|在)?[\s:：(（=-]*$")


@cache
def _cues() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = lexicon("tasks")["due"]
    fill = rf"(?:[\s:：(（]*(?:{_any(words['of'])}))*[\s:：(（]*"
    latin = [w for w in words["before"] if w.isascii()]
    wide = [w for w in words["before"] if not w.isascii()]
    before = re.compile(rf"(?:\b(?:{_any(latin)})\b|{_any(wide)}){fill}$")
    return before, re.compile(rf"\s*(?:{_any(words['after'])})")


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else int(han(text) or 0)


def _end_of(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _coming(said: date, month: int, day: int | None, year: str | None) -> date:
    """The day, or the end of the month, of that year, or else the first one not before `said`."""
    years = [int(year)] if year else [said.year, said.year + 1]
    days = [date(y, month, day) if day else _end_of(y, month) for y in years]
    return next((d for d in days if d >= said), days[-1])


def _full(m: re.Match[str], said: date) -> date:
    return date(int(m["y"]), int(m["m"]), int(m["d"]))


def _month(m: re.Match[str], said: date) -> date:
    groups = m.groupdict()
    word = groups["m"]
    month = (
        _MONTHS.index(word[:3]) + 1 if word[:3] in _MONTHS and word[0].isalpha() else _number(word)
    )
    day = groups.get("d")
    return _coming(said, month, _number(day) if day else None, groups.get("y"))


def _quarter(m: re.Match[str], said: date) -> date:
    return _coming(said, 3 * _number(m["q"] or m["q2"]), None, m["y"])


def _weekday(m: re.Match[str], said: date) -> date:
    word = m["w"]
    wanted = _WEEKDAYS[word] if word in _WEEKDAYS else _EN_DAYS.index(word[:3])
    monday = said - timedelta(days=said.weekday())
    if m["next"]:
        return monday + timedelta(days=7 + wanted)
    day = monday + timedelta(days=wanted)
    return day if day >= said else day + timedelta(days=7)


def _within(m: re.Match[str], said: date) -> date:
    days = {"d": 1, "天": 1, "日": 1, "w": 7, "周": 7, "星": 7, "礼": 7, "m": 31, "月": 31}
    return said + timedelta(days=_number(m["n"]) * days[m["u"].removeprefix("个")[0]])


def _ahead(days: int) -> _Read:
    return lambda m, said: said + timedelta(days=days)


def _week(weeks: int) -> _Read:
    return lambda m, said: said + timedelta(days=6 - said.weekday() + 7 * weeks)


def _month_end(months: int) -> _Read:
    def read(m: re.Match[str], said: date) -> date:
        ahead = said.month - 1 + months
        return _end_of(said.year + ahead // 12, ahead % 12 + 1)

    return read


def _year_end(m: re.Match[str], said: date) -> date:
    return date(int(m["y"] or said.year), 12, 31)


@cache
def _readers() -> tuple[tuple[re.Pattern[str], _Read, bool], ...]:
    """Pattern, reading, and whether such a day is a due day by itself; the specific come first."""
    names = (
        r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
        r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
    )
    num, year = rf"(?:\d{{1,2}}|{HAN})", r"(?P<y>20\d\d)"
    week = r"(?:mon|tues?|wednes|thurs|fri|satur|sun)day"
    listed: tuple[tuple[str, _Read, bool], ...] = (
        (rf"(?<!\d){year}[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?!\d)", _full, False),
        (rf"{year}\s*年\s*(?P<m>{num})\s*月\s*(?P<d>{num})\s*[日号]?", _month, False),
        (rf"(?:{year}\s*年\s*)?(?P<m>{num})\s*月\s*(?P<d>{num})\s*[日号]", _month, False),
        (rf"(?:{year}\s*年\s*)?(?<![个\d])(?P<m>{num})\s*月(?:份|底|末|中旬|下旬|上旬|初)?", _month, False),
        (rf"(?<![\d-]){year}-(?P<m>\d{{2}})(?![\d-])", _month, False),
        (rf"\b(?P<m>{names})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s*{year})?", _month, False),
        (rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m>{names})(?:,?\s*{year})?(?!\w)", _month, False),
        (rf"\b(?P<m>{names})\s+{year}\b", _month, False),
        (r"\b(?!may\b|mar\b|march\b)(?P<m>" + names + r")(?!\w)", _month, False),
        (r"(?:(?<=by )|(?<=before )|(?<=end of ))(?P<m>may|march)\b", _month, True),
        (rf"\bq(?P<q>[1-4])(?:\s*{year})?\b|第?(?P<q2>[一二三四1-4])季度", _quarter, False),
        (r"\b(?:today|tonight|eod|end of (?:the )?day)\b|今天|今晚|今日", _ahead(0), True),
        (r"\btomorrow\b|明天|明日|明晚", _ahead(1), True),
        (r"后天", _ahead(2), True),
        (rf"(?P<next>next\s+)?\b(?P<w>{week})s?\b", _weekday, False),
        (rf"(?P<next>下)?(?:周|星期|礼拜)(?P<w>[一二三四五六日天]){UNCOUNTED}", _weekday, False),
        (r"\b(?:this week|end of (?:the )?week|eow)\b|本周|这周|这个星期|周末", _week(0), False),
        (r"\bnext week\b|下周|下个?星期", _week(1), False),
        (r"\bnext month\b|下个?月", _month_end(1), False),
        (r"\b(?:this month|end of (?:the )?month|eom|month[- ]end)\b|本月|这个月|月底|月末", _month_end(0), False),
        (rf"\bend of (?:the )?year\b|\byear[- ]end\b|(?:{year}\s*)?年(?:底|末|内)", _year_end, False),
        (r"\b(?:with)?in\s+(?P<n>\d{1,3})\s+(?P<u>days?|weeks?|months?)\b", _within, True),
        (rf"(?P<n>\d{{1,3}}|{HAN})\s*(?P<u>天|日|周|个?星期|个?礼拜|个?月)(?:之|以)?内", _within, True),
    )  # fmt: skip
    return tuple((re.compile(pattern), read, sure) for pattern, read, sure in listed)
