"""Shapes of times: dates and clocks in digits."""

import re

from memops.values.lexicon import Lexicon, Word
from memops.values.shape import Shape

_DATE = re.compile(
    r"(?<![\w.-])(?:(?P<y>(?:18|19|20)\d\d)(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})"
    r"(?:t(?=\d\d:))?|(?P<a>\d{1,2})(?P<s2>[-/.])(?P<b>\d{1,2})(?P=s2)(?P<y2>(?:19|20)\d\d)"
    r"|(?P<ym>(?:19|20)\d\d)[-/](?P<mm>0[1-9]|1[0-2])|(?P<mm2>0?[1-9]|1[0-2])/(?P<ym2>(?:19|20)\d\d)|(?P<ymd>20[0-4]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])))(?![\d-]|\.\d|/\d)",
    re.A,
)
_CLOCK = re.compile(
    r"(?<![\d.])(?<!\d:)(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?P<s>:[0-5]\d(?:\.\d+)?)?(?P<z>z(?!\w)|\+\d\d:?\d\d|(?(s)-\d\d:?\d\d|(?!)))?(?![\d:])",
    re.A,
)


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


def _clock(m: re.Match[str], lex: Lexicon, said: str) -> Word:
    from memops.values.forms import time_form

    hour, minute, zone = int(m["h"]), int(m["m"]), m["z"]
    seconds = (m["s"] or "")[:3].replace(":00", "")
    if zone:
        sign = -1 if zone[0] == "-" else 1
        shift = 0 if zone == "z" else sign * (int(zone[1:3]) * 60 + int(zone[-2:]))
        return lex.word({"address": ("time", time_form(hour, minute, shift, seconds))})
    return lex.word({"clock_token": (hour, minute, seconds)})


DATE = Shape(re.compile(r"\d[-/.]\d|20[0-4]\d{5}", re.A).search, _DATE, _date)
CLOCK = Shape(re.compile(r"\d:[0-5]\d", re.A).search, _CLOCK, _clock)
