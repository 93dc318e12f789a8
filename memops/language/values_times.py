"""Values that are times: dates, days, clock times, and how long or how often."""

import re

from memops.language.lexicon import lexicon
from memops.language.numerals import canonical, numeral
from memops.language.values_amounts import Forms

_TABLE = lexicon("values")
_SECONDS: dict[str, float] = _TABLE["seconds"]
_MONTHS, _DAYS = _TABLE["words"]["months"], _TABLE["words"]["days"]
_ZH_DAYS = dict(zip("一二三四五六日", _DAYS, strict=True)) | {"天": "sun"}


def iso(m: re.Match[str]) -> Forms:
    """Read 2026-05-14, 2026/5/14."""
    yield "date", f"{int(m['m']):02}-{int(m['d']):02}"
    yield "year", m["y"]


def zh_date(m: re.Match[str]) -> Forms:
    """Read 2026年5月14日, 五月, 5月14号."""
    month, day, year = numeral(m["m"]), m["d"] and numeral(m["d"]), m["y"] and numeral(m["y"])
    if month is None or not 1 <= month <= 12:
        return
    yield ("date", f"{month:02.0f}-{day:02.0f}") if day else ("month", f"{month:02.0f}")
    if year:
        yield "year", canonical(year)


def zh_day(m: re.Match[str]) -> Forms:
    """Read 每月十五号."""
    day = numeral(m["d"])
    if day and 1 <= day <= 31:
        yield "monthday", canonical(day)


def zh_year(m: re.Match[str]) -> Forms:
    """Read 2026年."""
    yield "year", m["y"]


def lunar(m: re.Match[str]) -> Forms:
    """Read 腊月廿三, 正月初一."""
    yield "date", "lunar " + m[0]


def en_date(m: re.Match[str]) -> Forms:
    """Read May 14, 2026; the 14th of May."""
    month = _MONTHS.index(m["mon"][:3].lower()) + 1
    yield "date", f"{month:02}-{int(m['d']):02}"
    if m["y"]:
        yield "year", m["y"]


def en_month(m: re.Match[str]) -> Forms:
    """Read March 2026, January; not may and march alone, which are other words."""
    if m["y"] or (m["mon"][0].isupper() and m["mon"].lower() not in ("may", "mar", "march")):
        yield "month", f"{_MONTHS.index(m['mon'][:3].lower()) + 1:02}"
        if m["y"]:
            yield "year", m["y"]


def weekday(m: re.Match[str]) -> Forms:
    """Read Tuesdays; sat and sun only as names."""
    day = m[0].lower()
    if day in ("sun", "sat", "wed", "mon", "fri") and not m[0][0].isupper():
        return
    yield "weekday", next(d for d in _DAYS if day.startswith(d))


def zh_weekday(m: re.Match[str]) -> Forms:
    """Read 周二, 星期天."""
    yield "weekday", _ZH_DAYS[m[1]]


def clock(m: re.Match[str]) -> Forms:
    """Read 10:00, 3 pm, 3:30 p.m."""
    hour, minute = int(m["h"]), int(m["min"] or 0)
    half = (m.groupdict().get("ap") or "").lower().replace(".", "").replace(" ", "")
    if hour > 24 or minute > 59 or (not half and not m["min"]):
        return
    hour = hour % 12 + (12 if half.startswith("p") else 0) if half else hour
    yield "time", f"{hour:02}:{minute:02}"


def zh_clock(m: re.Match[str]) -> Forms:
    """Read 上午十点, 下午三点半, 8点一刻."""
    hour, bare = numeral(m["h"]), not (m["part"] or m["min"] or m["whole"])
    if hour is None or hour > 24 or (bare and hour < 3):
        return
    late = m["part"] in _TABLE["words"]["late"] and hour < 12
    hour += 12 if late or (m["part"] == "中午" and hour < 3) else 0
    minute = {"半": 30.0, "一刻": 15.0, "三刻": 45.0}.get(m["min"] or "")
    minute = minute if minute is not None else numeral(m["min"]) if m["min"] else 0.0
    yield "time", f"{int(hour):02}:{int(minute or 0):02}"


def noon(m: re.Match[str]) -> Forms:
    """Read noon, midnight, 中午."""
    yield "time", "00:00" if m[0].lower() in ("midnight", "午夜", "零点") else "12:00"


def _span_seconds(unit: str) -> float:
    unit = unit.lower().removeprefix("个") if unit != "个月" else unit
    unit = {"秒钟": "秒"}.get(unit, unit)
    return float(_SECONDS.get(unit) or _SECONDS[unit.rstrip("s")])


def frequency(m: re.Match[str]) -> Forms:
    """Read twice a week, every 3 days, 每天三次: seconds from one to the next."""
    groups = m.groupdict()
    word = (groups.get("times") or "").lower()
    count = {"once": 1.0, "twice": 2.0, "": 1.0}.get(word) or numeral(word)
    every = numeral(groups["every"]) if groups.get("every") else 1.0
    if groups.get("alt"):
        yield "frequency", canonical(172800)
    elif count and every:
        yield "frequency", canonical(every * _span_seconds(groups["unit"] or "day") / count)


def duration(m: re.Match[str]) -> Forms:
    """Read 90 minutes, two hours and a half, 三个月: seconds."""
    count = numeral(m["n"])
    if count is not None:
        tail = 0.5 if m["half"] else 0.0
        yield "duration", canonical((count + tail) * _span_seconds(m["u"]))


def half(m: re.Match[str]) -> Forms:
    """Read half an hour, a fortnight, 一个半小时: seconds."""
    said = re.sub(r"\s+", " ", m[0].lower()).removeprefix("a ")
    if said in _TABLE["spans"]:
        yield "duration", canonical(_TABLE["spans"][said])
