"""Shapes of times: dates, weeks, clocks, durations and schedules in digits; and bearings, which are written alike."""

import re

from memops.values.lexicon import Lexicon, Word
from memops.values.shape import Shape, address
from memops.values.value import number

_WEEK = re.compile(r"(?<![\w-])(\d{4})-w(0[1-9]|[1-4]\d|5[0-3])(?![\w-])", re.A)
_DATE = re.compile(
    r"(?<![\w.-])(?:(?P<y>(?:18|19|20)\d\d)(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})"
    r"(?:t(?=\d\d:))?|(?P<a>\d{1,2})(?P<s2>[-/.])(?P<b>\d{1,2})(?P=s2)(?P<y2>(?:19|20)\d\d)"
    r"|(?P<ym>(?:19|20)\d\d)[-/](?P<mm>0[1-9]|1[0-2])|(?P<mm2>0?[1-9]|1[0-2])/(?P<ym2>(?:19|20)\d\d)|(?P<ymd>20[0-4]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])))(?![\d-]|\.\d|/\d)",
    re.A,
)
_SPAN = re.compile(
    r"(?<!\w)p(?:(\d+)y)?(?:(\d+)m)?(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?(?!\w)",
    re.A,
)
_CLOCK = re.compile(
    r"(?<![\d.])(?<!\d:)(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?P<s>:[0-5]\d(?:\.\d+)?)?(?P<z>z(?!\w)|\+\d\d:?\d\d|(?(s)-\d\d:?\d\d|(?!)))?(?![\d:])",
    re.A,
)
_TURN = re.compile(
    r"(?<![\w.])(?P<d>\d{1,3}(?:\.\d+)?)(?:°\s?(?:(?P<m>\d{1,2}(?:\.\d+)?)[′']\s?(?:(?P<s>\d{1,2}(?:\.\d+)?)[″\"]\s?)?)?|\s)"
    r"(?P<side>[nsew])(?!\w)",
    re.A,
)
_DAYS = r"\* \* (?P<day>[*0-7])(?![\w*/-]|,\d)"
_CRON = re.compile(
    rf"(?<![\d*/]\s)(?<![\w*/])[0-5]?\d (?:[01]?\d|2[0-3])(?= {_DAYS})|(?<=\d ){_DAYS.replace('day', 'too')}",
    re.A,
)
_LASTS = re.compile(r"pt?\d", re.A)
_ARC = 4  # decimals of a degree that tell a second of arc from the next


def _date(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    from memops.values.forms import date_found

    if m["ymd"]:
        y, mo, d = m["ymd"][:4], m["ymd"][4:6], m["ymd"][6:]
    elif m["ym"] or m["ym2"]:
        y, mo, d = m["ym"] or m["ym2"], m["mm"] or m["mm2"], ""
    elif m["y"]:
        y, mo, d = m["y"], m["m"], m["d"]
    else:
        one, two, y = int(m["a"]), int(m["b"]), m["y2"]
        if one <= 12 and two <= 12 and one != two and m["s2"] != ".":
            return lex.word({"address": ("date written both ways", m[0].replace("-", "/"))})
        mo, d = (str(two), str(one)) if one > 12 or m["s2"] == "." else (str(one), str(two))
    found = date_found(int(y), int(mo), int(d) if d else None)
    return lex.word({"date_token": found.form}) if found else None


def _span(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """PT15M, P3DT2H: a duration as ISO 8601 writes it."""
    years, months, weeks, days, hours, minutes, seconds = (float(part or 0) for part in m.groups())
    length = 12 * years + months
    rest = 86400 * (7 * weeks + days) + 3600 * hours + 60 * minutes + seconds
    form = " ".join([f"{number(n)} {unit}" for n, unit in ((length, "mo"), (rest, "s")) if n])
    return address(lex, "duration", form) if form and said[0] == "P" else None


def _clock(m: re.Match[str], lex: Lexicon, said: str) -> Word:
    from memops.values.forms import time_form

    hour, minute, zone = int(m["h"]), int(m["m"]), m["z"]
    seconds = (m["s"] or "")[:3].replace(":00", "")
    if zone:
        sign = -1 if zone[0] == "-" else 1
        shift = 0 if zone == "z" else sign * (int(zone[1:3]) * 60 + int(zone[-2:]))
        return lex.word({"address": ("time", time_form(hour, minute, shift, seconds))})
    return lex.word({"clock_token": (hour, minute, seconds)})


def _cron(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """0 2 * * *: on which days, and behind it when."""
    if said[0] == "*":
        told = m.string[: m.start()].split()[-2:]
        ready = len(told) > 1 and all(part.isdecimal() for part in told)
        return lex.word({"clock_token": (int(told[1]), int(told[0]), "")}) if ready else None
    day = m["day"]
    return lex.word({"adverb": "1 d"} if day == "*" else {"weekday_plural": (int(day) - 1) % 7})


def _bearing(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """48°51'30" N, 48.8583 N: a latitude or longitude, in seconds of arc where it is told no finer."""
    if said[-1].islower() or ("°" not in said and "." not in said):
        return None
    degrees, minutes, seconds = (float(m[name] or 0) for name in "dms")
    arc = 3600 * degrees + 60 * minutes + seconds
    fine = len(m["d"].partition(".")[2]) > _ARC
    return address(lex, "bearing", f"{number(round(arc, 3) if fine else round(arc))}″ {said[-1]}")


SPAN = Shape(lambda low: "p" in low and _LASTS.search(low), _SPAN, _span)
WEEK = Shape(
    lambda low: "-w" in low, _WEEK, lambda m, lex, said: lex.word({"date_token": m[0].upper()})
)
DATE = Shape(re.compile(r"\d[-/.]\d|20[0-4]\d{5}", re.A).search, _DATE, _date)
CLOCK = Shape(re.compile(r"\d:[0-5]\d", re.A).search, _CLOCK, _clock)
CRON = Shape(lambda low: " * * " in low, _CRON, _cron)
BEARING = Shape(lambda low: " " in low or "°" in low, _TURN, _bearing)
