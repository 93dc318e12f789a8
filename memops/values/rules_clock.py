"""Rules for times of day."""

from memops.values.forms import time_form
from memops.values.grammar import Found, Rule, Span

_NIGHT, _NOON, _AFTER = 21, 11, 12


def _hour(hour: int, part: int | None) -> int:
    """The hour of a day's part: 3 in the afternoon is 15, 11 at night 23, 12 at night 0."""
    if part is None or hour > 12:
        return hour
    if part == 0:
        return hour % 12
    if part == _NIGHT:
        return hour + 12 if 5 <= hour < 12 else hour % 12
    if part == _NOON:
        return hour + 12 if hour <= 3 else hour
    return hour if hour == 12 else hour + 12


def _part(span: Span) -> int | None:
    for name, role in (
        ("ap", "meridiem"),
        ("p", "meridiem"),
        ("rp", "relative_part"),
        ("q", "part"),
    ):
        found = span.get(name, role)
        if found is not None:
            return int(found)
    return None


def _zone(span: Span) -> tuple[int | None, int]:
    """The zone that stands before or behind a time, and where it begins before: 北京时间 14:00."""
    line = span.line
    if span.has("z"):
        ahead = (
            int(span.num("shift") * 60) * (-1 if span.said("sign") == "-" else 1)
            if span.has("shift")
            else 0
        )
        return int(span.get("z", "zone")) + ahead, -1
    at = span.begin - 1 - line.any(span.begin - 1, "colon")
    zone = line.of(at).get("zone")
    return (None, -1) if zone is None else (int(zone), at)


def _clock(
    span: Span, hour: int, minute: int, begin: int = -1, seconds: str = ""
) -> list[Found] | None:
    if hour > 24 or minute > 59 or minute < 0:
        return None
    part = _part(span)
    at = _hour(hour, part)
    half = part is None and 0 < hour <= _AFTER and not span.said("c")[:2].isdigit()
    zone, ahead = _zone(span)
    found = Found("time", time_form(at, minute, zone, seconds), half=half)
    if begin >= 0:
        return [found._replace(begin=begin, end=span.end)]
    if ahead >= 0:
        found = found._replace(begin=ahead, end=span.end)
    day = span.get("rp", "relative")
    return (
        [found]
        if day is None
        else [found._replace(kind="date", form=f"day{day:+d}", half=False), found]
    )


def _hours(span: Span) -> list[Found] | None:
    """3 to 5 pm, 下午三到五点: the part of the day is said once."""
    late = _hour(int(span.num("h")), _part(span))
    early = _hour(int(span.num("l")), _part(span))
    early = early if early < late else int(span.num("l"))
    return [Found("time", f"{time_form(early, 0)}..{time_form(late, 0)}")] if early < late else None


def _shown(span: Span) -> list[Found] | None:
    """15:30, 3:30 pm."""
    hour, minute, seconds = span.get("c", "clock_token")
    return _clock(span, hour, minute, seconds=seconds)


def _said(span: Span) -> list[Found] | None:
    """3 pm, 3 o'clock, 下午三点半, 八点一刻."""
    if span.said("ap")[:1] >= "一":
        return None  # 一晚
    hour = int(span.num("h"))
    minute = 0
    if span.has("half"):
        minute = int(60 * float(span.get("half", "fraction") or 0.5))
    elif span.has("k"):
        minute = int(span.num("k") * 15)
    elif span.has("mi"):
        minute = int(span.num("mi"))
    if span.has("short"):
        hour, minute = hour - 1, 60 - int(span.num("short") * (15 if span.has("kq") else 1))
    return _clock(span, hour, minute)


def _bare(span: Span) -> list[Found] | None:
    """三点 alone: an hour in digits, or one that is no small count (一点 is a bit, too)."""
    if "literal" not in span.line.roles[span.at("h")] and int(span.num("h")) < 3:
        return None
    return _clock(span, int(span.num("h")), 0)


def _told(span: Span) -> list[Found] | None:
    """Half past seven, a quarter to three, ten past four."""
    hour = int(span.get("c", "clock")) if span.has("c") else int(span.num("h"))
    early = (
        "before" in span.line.roles[span.at("way")]
        and "past" not in span.line.roles[span.at("way")]
    )
    if span.has("f"):
        part = float(span.line.roles[span.at("f")].get("fraction") or span.num("f"))
        if part == _HALF and "of" in span.line.roles[span.at("way")]:
            return None  # half of one
        minutes = int(60 * part)
    else:
        minutes = int(span.num("m"))
    begin = span.at("f") if span.has("f") else span.at("m")
    return _clock(
        span, (hour - 1) % 24 if early else hour, 60 - minutes if early else minutes, begin
    )


_HALF = 0.5
_FIVES = (5, 10, 20, 25)


def _half_hour(span: Span) -> list[Found] | None:
    """Half three in the afternoon is half past three."""
    if span.line.roles[span.at("f")].get("fraction") != _HALF:
        return None
    return _clock(span, int(span.num("h")), 30)


def _ten_to(span: Span) -> list[Found] | None:
    """Ten to three: only minutes that people say so, where a time is due."""
    return _told(span) if int(span.num("m")) in _FIVES and int(span.num("h")) <= 12 else None


def _ten_to_noon(span: Span) -> list[Found] | None:
    """Ten to midnight, but for what is open from ten to midnight."""
    spelt = "literal" not in span.line.roles[span.begin]
    return _told(span) if spelt and not span.line.any(span.begin - 1, "between") else None


def _named(span: Span) -> list[Found]:
    return [Found("time", time_form(int(span.get("c", "clock")), 0))]


def _dotted(span: Span) -> list[Found] | None:
    """9.30 am."""
    num = span.get("d", "literal")
    hour, _, minute = num.digits.partition(".")
    clock = len(minute) == 2 and 0 < len(hour) < 3
    return _clock(span, int(hour), int(minute)) if clock else None


def _parted(span: Span) -> list[Found] | None:
    """A las tres, a las tres y cuarto."""
    value = span.num("n")
    minutes = 60 * (value - int(value))
    return _clock(span, int(value), int(minutes)) if minutes == int(minutes) else None


def _short(span: Span) -> list[Found] | None:
    """A las cinco menos cuarto."""
    minutes = int(60 * float(span.get("f", "fraction"))) if span.has("f") else int(span.num("m"))
    return _clock(span, (int(span.num("h")) - 1) % 24, 60 - minutes)


_AP = "ap:meridiem"


_PART = "(p:meridiem | rp:relative_part)"


_PAST = "(half:fraction | k:small quarter_mark | mi:minute minute_mark?)"


_MINUTES = "(short:minute (minute_mark/time_unit) | short:small kq:quarter_mark)"


_ZONE = "(z:zone (sign:range/and/bound_after shift:small)?)"


CLOCK: tuple[Rule, ...] = (
    (f"l:hour range h:hour {_AP}", _hours),
    (f"{_PART}? l:hour oclock? range h:hour oclock oclock? !fraction !small !minute", _hours),
    (f"{_PART} c:clock_token {_ZONE}?", _shown),
    (f"c:clock_token hour_mark? {_AP}? {_ZONE}?", _shown),
    ("c:clock !hour !clock_token", _named),
    ("f:fraction h:hour (oclock? ap:meridiem)", _half_hour),
    (f"h:hour mi:minute {_AP} {_ZONE}?", _said),
    (f"{_PART}? h:hour oclock short_of ({_MINUTES} | short:minute)", _said),
    (f"{_PART} of? h:hour oclock {_PAST}?", _said),
    ("h:hour oclock (half:fraction | k:small quarter_mark) ap:meridiem?", _said),
    (f"{_PART}? short_of {_MINUTES} h:hour oclock", _said),
    (f"{_PART}? h:hour oclock past? (mi:minute minute_mark/time_unit | k:small quarter_mark)", _said),
    ("h:hour oclock mi:minute !measure !unit ap:meridiem?", _said),
    (f"h:hour oclock {_AP} {_ZONE}?", _said),
    (f"h:hour {_AP} {_ZONE}?", _said),
    ("(f:portion/fraction | article f:fraction) way:past/before h:hour oclock? ap:meridiem?", _told),
    ("m:minute (minute_word)? way:past h:hour oclock? ap:meridiem?", _told),
    ("m:minute minute_word way:before h:hour (oclock ap:meridiem? | ap:meridiem)", _told),
    (
        "at m:minute (minute_word)? way:before h:hour !unit !time_unit !currency oclock?"
        " (ap:meridiem | rp:relative_part)?",
        _ten_to,
    ),
    ("(f:portion/fraction | article f:fraction | m:minute) way:past/before c:clock", _ten_to_noon),
    ("d:literal ap:meridiem", _dotted),
    ("at_hour h:hour less (f:fraction | m:minute) ap:meridiem?", _short),
    ("at_hour c:clock_token ap:meridiem?", _shown),
    ("at_hour n:number ap:meridiem?", _parted),
    ("h:hour oclock", _bare),
)  # fmt: skip
