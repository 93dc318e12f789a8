"""Value readers: one pattern and one reading for each way in which people write a value.

READERS are tried in order; what one has read is out of reach for the next, so the specific come
before the general. Units, currencies and the words around numbers stand in
`data/lexicons/values.toml`.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from memops.language.lexicon import lexicon
from memops.language.numerals import DIGITS, ENGLISH, HAN, digits, english, han

Forms = Iterator[tuple[str, str]]
Read = Callable[[re.Match[str]], Forms]
Reader = tuple[re.Pattern[str], Read, frozenset[str]]

_TABLE = lexicon("values")
_WORDS = _TABLE["words"]
_SECONDS: dict[str, float] = _TABLE["seconds"]
_UNITS = {u: (kind, f) for kind, units in _TABLE["unit"].items() for u, f in units.items()}
_CURRENCY = {word: code for code, words in _TABLE["currency"].items() for word in words}
_MONTHS, _DAYS = _WORDS["months"], _WORDS["days"]
_ZH_DAYS = dict(zip("一二三四五六日", _DAYS, strict=True)) | {"天": "sun"}


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _number(text: str) -> float | None:
    text = text.strip()
    if text[:1].isdigit():
        return digits(text)
    return han(text) if re.fullmatch(HAN, text) else english(text)


def _form(number: float) -> str:
    return f"{number:.10g}"


def _email(m: re.Match[str]) -> Forms:
    yield "email", m[0].lower()


def _url(m: re.Match[str]) -> Forms:
    yield "url", re.sub(r"^(?:https?://)?(?:www\.)?", "", m[0].lower()).rstrip("/.,;。，；)")


def _phone(m: re.Match[str]) -> Forms:
    bare = re.sub(r"\D", "", m[0])
    if 7 <= len(bare) <= 15:
        bare = bare[2:] if len(bare) == 13 and bare.startswith("86") else bare
        bare = bare[1:] if len(bare) == 11 and bare.startswith("1") and "+1" in m[0] else bare
        yield "phone", bare


def _iso(m: re.Match[str]) -> Forms:
    yield "date", f"{int(m['m']):02}-{int(m['d']):02}"
    yield "year", m["y"]


def _zh_date(m: re.Match[str]) -> Forms:
    month, day, year = _number(m["m"]), m["d"] and _number(m["d"]), m["y"] and _number(m["y"])
    if month is None or not 1 <= month <= 12:
        return
    yield ("date", f"{month:02.0f}-{day:02.0f}") if day else ("month", f"{month:02.0f}")
    if year:
        yield "year", _form(year)


def _zh_day(m: re.Match[str]) -> Forms:
    day = _number(m["d"])
    if day and 1 <= day <= 31:
        yield "monthday", _form(day)


def _zh_year(m: re.Match[str]) -> Forms:
    yield "year", m["y"]


def _grade(m: re.Match[str]) -> Forms:
    yield "grade", _form(_number(m["n"]) or 0)


def _lunar(m: re.Match[str]) -> Forms:
    yield "date", "lunar " + m[0]


def _en_date(m: re.Match[str]) -> Forms:
    month = _MONTHS.index(m["mon"][:3].lower()) + 1
    yield "date", f"{month:02}-{int(m['d']):02}"
    if m["y"]:
        yield "year", m["y"]


def _en_month(m: re.Match[str]) -> Forms:
    if m["y"] or (m["mon"][0].isupper() and m["mon"].lower() not in ("may", "mar", "march")):
        yield "month", f"{_MONTHS.index(m['mon'][:3].lower()) + 1:02}"
        if m["y"]:
            yield "year", m["y"]


def _weekday(m: re.Match[str]) -> Forms:
    day = m[0].lower()
    if day in ("sun", "sat", "wed", "mon", "fri") and not m[0][0].isupper():
        return
    yield "weekday", next(d for d in _DAYS if day.startswith(d))


def _zh_weekday(m: re.Match[str]) -> Forms:
    yield "weekday", _ZH_DAYS[m[1]]


def _clock(m: re.Match[str]) -> Forms:
    hour, minute = int(m["h"]), int(m["min"] or 0)
    half = (m.groupdict().get("ap") or "").lower().replace(".", "").replace(" ", "")
    if hour > 24 or minute > 59 or (not half and not m["min"]):
        return
    hour = hour % 12 + (12 if half.startswith("p") else 0) if half else hour
    yield "time", f"{hour:02}:{minute:02}"


def _zh_clock(m: re.Match[str]) -> Forms:
    hour, bare = _number(m["h"]), not (m["part"] or m["min"] or m["whole"])
    if hour is None or hour > 24 or (bare and hour < 3):
        return
    late = m["part"] in _WORDS["late"] and hour < 12
    hour += 12 if late or (m["part"] == "中午" and hour < 3) else 0
    minute = {"半": 30.0, "一刻": 15.0, "三刻": 45.0}.get(m["min"] or "")
    minute = minute if minute is not None else _number(m["min"]) if m["min"] else 0.0
    yield "time", f"{int(hour):02}:{int(minute or 0):02}"


def _noon(m: re.Match[str]) -> Forms:
    yield "time", "00:00" if m[0].lower() in ("midnight", "午夜", "零点") else "12:00"


def _money(m: re.Match[str]) -> Forms:
    amount = _number(m["n"] or m["n2"])
    if amount is not None:
        scale = {"k": 1e3, "m": 1e6, "million": 1e6}.get((m["k"] or "").lower(), 1.0)
        yield "amount", _form(amount * scale)
        yield "currency", _CURRENCY[(m["c"] or m["c2"]).lower()]


def _percent(m: re.Match[str]) -> Forms:
    if m["cheng"]:
        tenths = _number(m["cheng"])
        yield "percent", _form((tenths or 0) * 10)
    else:
        value = _number(m["n"] or m["n2"])
        if value is not None:
            yield "percent", _form(value)


def _span_seconds(unit: str) -> float:
    unit = unit.lower().removeprefix("个") if unit != "个月" else unit
    unit = {"秒钟": "秒"}.get(unit, unit)
    return float(_SECONDS.get(unit) or _SECONDS[unit.rstrip("s")])


def _frequency(m: re.Match[str]) -> Forms:
    groups = m.groupdict()
    word = (groups.get("times") or "").lower()
    count = {"once": 1.0, "twice": 2.0, "": 1.0}.get(word) or _number(word)
    every = _number(groups["every"]) if groups.get("every") else 1.0
    if groups.get("alt"):
        yield "frequency", _form(172800)
    elif count and every:
        yield "frequency", _form(every * _span_seconds(groups["unit"] or "day") / count)


def _duration(m: re.Match[str]) -> Forms:
    count = _number(m["n"])
    if count is not None:
        tail = 0.5 if m["half"] else 0.0
        yield "duration", _form((count + tail) * _span_seconds(m["u"]))


def _half(m: re.Match[str]) -> Forms:
    said = re.sub(r"\s+", " ", m[0].lower()).removeprefix("a ")
    if said in _TABLE["spans"]:
        yield "duration", _form(_TABLE["spans"][said])


def _quantity(m: re.Match[str]) -> Forms:
    unit = re.sub(r"\s+", " ", m["u"].lower())
    kind, scale = _UNITS[unit]
    value = _number(m["n"])
    if value is not None:
        sign = "-" if m["sign"] else ""
        yield kind, sign + _form(value * scale)


def _ratio(m: re.Match[str]) -> Forms:
    if m["a"]:
        one = digits(m["a"])
        yield from [("ratio", _form(digits(m["b"]) / one))] if one else []
    else:
        yield "ratio", _form(_number(m["fold"]) or 0)


def _name(m: re.Match[str]) -> Forms:
    yield "ident", m[0].lower().rstrip("./-_")


def _version(m: re.Match[str]) -> Forms:
    yield "version", m["v"] or m["dotted"]


def _numbered(m: re.Match[str]) -> Forms:
    groups = m.groupdict()
    digits_ = groups["n"] or groups.get("n2") or ""
    number = digits_ if digits_[:1].isdigit() else _form(_number(digits_) or 0)
    yield "ident", f"{(groups.get('head') or 'no').lower()} {number}"


def _plain(m: re.Match[str]) -> Forms:
    number = _number(m[0])
    if number is not None:
        yield "amount", _form(number)
    if m[0].isdigit() and 7 <= len(m[0]) <= 11:
        yield "phone", m[0]


def _address(m: re.Match[str]) -> Forms:
    yield "ident", m[0]


def _zh_count(m: re.Match[str]) -> Forms:
    number = _number(m["n"])
    if number is not None:
        yield "amount", _form(number)


_NUM = rf"(?:{DIGITS}|{HAN}|{ENGLISH})"
_ZH_NUM = rf"(?:{DIGITS}|{HAN})"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sat|sun)(?:day)?s?"
_NTH = r"(?:st|nd|rd|th)?"
_YEAR = r"(?P<y>(?:19|20)\d\d)"
_EN_SPAN = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?)"
_ZH_SPAN = r"(?:秒钟?|分钟|个?小时|个?钟头|天|个?星期|个?礼拜|周|个月|年)"
_PER = r"\s+(?:an?|per|each|every)\s+"
_SITE = r"(?:com|org|net|io|dev|cn|example|app|ai|co|edu|gov|de|uk)"
_REST = r"[^\s，。；）)\]】]"
_AFTER_AMOUNT = _any(word for word in _CURRENCY if word not in "$€£¥")

HINT = re.compile(
    r"\d|[一二三四五六七八九十百千万亿两零半隔午月周]|星期|礼拜|[@/.]\w"
    rf"|\b(?:{_MONTH}|{_WEEKDAY}|noon|midnight|once|twice|half|every|fortnight|{ENGLISH})\b",
    re.IGNORECASE | re.ASCII,
)
"""Texts without a match hold no value; a cheap first look."""

_DIGIT = "0123456789"
_HAN_DIGIT = "零〇一二两三四五六七八九十百千万亿半"
SPELT = "#"
"""Stands among the characters of a text that holds a number in English words."""
_NUMERAL = _DIGIT + _HAN_DIGIT + SPELT

# A pattern, how it is read, and characters of which a text must hold one for a match. ASCII alone
# counts as letters of words: Chinese is written without spaces, and 端口是8080 holds a number.
_PATTERNS: tuple[tuple[str, Read, str], ...] = (
    (r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+", _email, "@"),
    (rf"[a-z][a-z0-9+]{{1,12}}://{_REST}+", _url, "."),
    (rf"\b(?:www\.)?[a-z0-9][\w-]*(?:\.[\w-]+){{0,6}}\.{_SITE}\b(?:/{_REST}*)?", _url, "."),
    (rf"{_YEAR}[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?!\d)", _iso, _DIGIT),
    (r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)", _address, _DIGIT),
    (rf"每个?月\s*(?P<d>{_ZH_NUM})\s*[日号]", _zh_day, "月"),
    (r"(?:腊月|正月|农历)[初一二三四五六七八九十廿]+", _lunar, "月农"),
    (
        rf"(?:(?P<y>\d{{4}}|[二〇零一九]{{4}})\s*年\s*)?(?P<m>{_ZH_NUM})\s*月"
        rf"(?:份|\s*(?P<d>{_ZH_NUM})\s*[日号]|(?!\w))",
        _zh_date,
        "月",
    ),
    (
        rf"\b(?P<d>\d{{1,2}}){_NTH}\s+(?:of\s+)?(?P<mon>{_MONTH})(?=\W|$),?(?:\s+{_YEAR})?",
        _en_date,
        _DIGIT,
    ),
    (
        rf"\b(?P<mon>{_MONTH})\s+(?:the\s+)?(?P<d>\d{{1,2}}){_NTH}\b(?!:)(?:,?\s+{_YEAR})?",
        _en_date,
        _DIGIT,
    ),
    (rf"\b(?P<mon>{_MONTH})(?=\W|$)(?:\s+{_YEAR})?", _en_month, ""),
    (r"(?:周|星期|礼拜)([一二三四五六日天])", _zh_weekday, "周期拜"),
    (rf"\b{_WEEKDAY}\b", _weekday, ""),
    (r"\b(?P<h>\d{1,2})(?::(?P<min>\d\d))?(?::\d\d)?\s*(?P<ap>[ap]\.?m\b\.?)", _clock, _DIGIT),
    (r"(?<![\d:.])(?P<h>\d{1,2})[:：](?P<min>\d\d)(?!\d)", _clock, _DIGIT),
    (
        rf"(?P<part>{_any(_WORDS['parts'])})?\s*(?P<h>{_ZH_NUM})\s*点(?P<whole>钟|整)?"
        rf"(?:(?P<min>半|一刻|三刻|{_ZH_NUM})分?)?(?!\d|[心子评击])",
        _zh_clock,
        "点",
    ),
    (r"\b(?:noon|midnight)\b|中午(?!\S*点)|午夜|零点", _noon, ""),
    (
        r"\+\d{1,3}[\s-]?\(?\d[\d\s()-]{5,14}\d|\(\d{3,4}\)\s?\d{3,4}[\s-]?\d{3,4}"
        r"|\b\d{3,4}[\s-]\d{3,4}(?:[\s-]\d{3,4})+\b|\b1\d{10}\b|\b\d{3}-\d{4}\b",
        _phone,
        _DIGIT,
    ),
    (
        rf"(?P<alt>隔天|every other day)"
        rf"|(?P<times>once|twice|{_NUM}(?=\s+times))(?:\s+times)?{_PER}(?P<unit>{_EN_SPAN})",
        _frequency,
        "",
    ),
    (
        r"(?:每|一)(?P<unit>天|周|星期|个?月|年|小时|分钟|秒)[^，。,.\d一二三四五六七八九十两]{0,6}"
        rf"(?P<times>{_ZH_NUM})\s*[次顿遍回趟]",
        _frequency,
        "",
    ),
    (rf"\bevery\s+(?P<every>{_NUM})\s+(?P<unit>{_EN_SPAN})", _frequency, ""),
    (rf"(?:每|隔)(?P<every>{_ZH_NUM})\s*(?P<unit>{_ZH_SPAN})", _frequency, ""),
    (
        r"\b(?:a )?fortnight\b|\bhalf a year\b|\bhalf an hour\b|\ban hour and a half\b"
        r"|一个半小时|半个?小时|半年|半天|半个月",
        _half,
        "",
    ),
    (
        rf"(?P<c>[$€£¥])\s?(?P<n>{DIGITS})\s?(?P<k>k|m|million)?\b"
        rf"|(?P<n2>{_NUM})\s*(?P<c2>{_AFTER_AMOUNT})(?![a-z])",
        _money,
        _NUMERAL,
    ),
    (rf"(?P<times>{_NUM})\s+\w+{_PER}(?P<unit>day|week|month)\b", _frequency, ""),
    (
        rf"(?P<n>{DIGITS})\s*(?:%|percent|per cent)|百分之(?P<n2>{_ZH_NUM})"
        r"|(?P<cheng>[一二三四五六七八九])成",
        _percent,
        "%成分pP",
    ),
    (rf"\b(?P<a>\d+):(?P<b>\d+)\b|(?P<fold>{_NUM})[\s-]?fold\b", _ratio, _NUMERAL),
    (rf"(?P<n>{_NUM})[\s-]*(?P<u>{_EN_SPAN})\b(?P<half>\s+and\s+a\s+half)?", _duration, _NUMERAL),
    (r"(?P<y>(?:19|20)\d\d)\s*年(?!\w*[内间以])", _zh_year, "年"),
    (rf"(?P<n>{_ZH_NUM})\s*年级", _grade, "级"),
    (rf"(?P<n>{_ZH_NUM})\s*(?P<u>{_ZH_SPAN})(?P<half>半)?", _duration, _NUMERAL),
    (
        rf"(?P<sign>(?<![\w])[-−])?(?P<n>{_NUM})\s*(?P<u>{_any(_UNITS)})(?![a-z])",
        _quantity,
        _NUMERAL,
    ),
    (
        rf"\b(?P<head>{_any(_WORDS['numbered'])})[\s-]*(?:no\.?\s*|#)?(?P<n>\d+(?:\.\d+)*)\b",
        _numbered,
        _NUMERAL,
    ),
    (
        rf"第(?P<n>{_ZH_NUM})(?:\s*[章节步期季层页个])?|(?P<n2>{_ZH_NUM})\s*号(?=[一-鿿])",
        _numbered,
        _NUMERAL,
    ),
    (
        rf"\b(?P<head>{_any(_WORDS['spelt'])})\s+(?P<n>one|two|three|four|five|six)\b",
        _numbered,
        _NUMERAL,
    ),
    (r"(?<![\w.])(?:v(?=\d)(?P<v>\d+(?:\.\d+)*)|(?P<dotted>\d+(?:\.\d+){2,}))\b", _version, _DIGIT),
    (
        r"(?<![a-z0-9_])(?=[a-z0-9_./-]{0,80}\d)(?=[a-z0-9_./-]{0,80}[a-z])"
        r"[a-z0-9_]+(?:[./-]+[a-z0-9_]+)*",
        _name,
        _DIGIT,
    ),
    (rf"(?<![\w.]){DIGITS}(?![\w.]*\d)", _plain, _NUMERAL),
    (rf"\b(?!one\b){ENGLISH}", _plain, _NUMERAL),
    (rf"(?P<n>{HAN})(?=[{_WORDS['measures']}])", _zh_count, _HAN_DIGIT),
    (r"(?P<n>[一二三四五六七八九十百千万两零]{2,})", _zh_count, _HAN_DIGIT),
)
READERS: tuple[Reader, ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.ASCII), read, frozenset(need))
    for pattern, read, need in _PATTERNS
)
SPELLING = re.compile(ENGLISH, re.IGNORECASE | re.ASCII)
