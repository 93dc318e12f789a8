"""Values: numbers, dates, times, amounts and names of things, each in one form however written.

`found` reads one text; a value has a type and a canonical form, so that 10:00 is 上午十点, 1,000 is
1000, +86 138-0000-1111 is 13800001111, 2500 g is 2.5 kg and May 14 is 5 月 14 日.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from memops.numerals import DIGITS, ENGLISH, HAN, digits, english, han


class Value(NamedTuple):
    """A value and where it stands; `kind` is its type, `form` its canonical writing."""

    start: int
    end: int
    kind: str
    form: str


def found(text: str) -> list[Value]:
    """Return the values of a text in NFKC, in reading order; spans do not overlap."""
    out: list[Value] = []
    if not _HINT.search(text):
        return out
    taken = bytearray(len(text))
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            forms = list(read(match))
            if forms:
                taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
                out += [Value(match.start(), match.end(), kind, form) for kind, form in forms]
    return sorted(_counter(text, value) for value in out)


def _counter(text: str, value: Value) -> Value:
    """A bare number in brackets, or loose at the end of a sentence, numbers the text itself."""
    before, after = text[: value.start].rstrip(), text[value.end :].strip(" .。")
    bracketed = before.endswith(("(", "[", "#")) and after in (")", "]", "")
    bare = text[value.start : value.end].isdigit()
    loose = value.kind == "amount" and bare and not after and _LOOSE.search(before) is not None
    counts = value.kind in ("amount", "version", "ident") and (bracketed or loose)
    return value._replace(kind="counter") if counts else value


_LOOSE = re.compile(
    r"\w+\s\w+\s(?!(?:is|are|was|to|of|at|by|than|about|over|under|per|in|on|for|from|with|and|port|number)$)[a-z]+$"
    r"|[一-鿿]{5,}(?<![是为到成于在达约第至过号])$"
)
_NUM = rf"(?:{DIGITS}|{HAN}|{ENGLISH})"
_ZH_NUM = rf"(?:{DIGITS}|{HAN})"
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
_DAYS = "mon tue wed thu fri sat sun".split()
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sat|sun)(?:day)?s?"
_ZH_DAYS = {c: d for c, d in zip("一二三四五六日", _DAYS, strict=True)} | {"天": "sun", "末": "sat"}
_SECONDS = {
    "second": 1, "sec": 1, "秒": 1, "minute": 60, "min": 60, "mins": 60, "分钟": 60, "分": 60,
    "hour": 3600, "hr": 3600, "hrs": 3600, "小时": 3600, "钟头": 3600, "day": 86400, "天": 86400,
    "日": 86400, "week": 604800, "周": 604800, "星期": 604800, "礼拜": 604800, "fortnight": 1209600,
    "month": 2592000, "个月": 2592000, "月": 2592000, "year": 31104000, "年": 31104000,
}  # fmt: skip
_EN_SPAN = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?)"
_ZH_SPAN = r"(?:秒钟?|分钟|个?小时|个?钟头|天|个?星期|个?礼拜|周|个月|年)"
_UNITS: dict[str, tuple[str, float]] = {
    "kg": ("mass", 1000), "公斤": ("mass", 1000), "千克": ("mass", 1000), "斤": ("mass", 500),
    "g": ("mass", 1), "克": ("mass", 1), "gram": ("mass", 1), "grams": ("mass", 1), "mg": ("mass", 0.001),
    "毫克": ("mass", 0.001), "lb": ("mass", 453.6), "lbs": ("mass", 453.6), "pounds": ("mass", 453.6),
    "吨": ("mass", 1e6), "km": ("length", 1000), "公里": ("length", 1000), "千米": ("length", 1000),
    "里": ("length", 500), "m": ("length", 1), "米": ("length", 1), "cm": ("length", 0.01),
    "厘米": ("length", 0.01), "公分": ("length", 0.01), "mm": ("length", 0.001), "毫米": ("length", 0.001),
    "miles": ("length", 1609), "mile": ("length", 1609), "英里": ("length", 1609), "l": ("volume", 1),
    "升": ("volume", 1), "litre": ("volume", 1), "litres": ("volume", 1), "liters": ("volume", 1), "ml": ("volume", 0.001),
    "毫升": ("volume", 0.001), "°c": ("temperature", 1), "℃": ("temperature", 1), "度": ("temperature", 1), "摄氏度": ("temperature", 1),
    "degrees": ("temperature", 1), "degrees celsius": ("temperature", 1), "v": ("volt", 1), "伏": ("volt", 1), "w": ("watt", 1), "瓦": ("watt", 1),
    "gb": ("bytes", 1024), "g内存": ("bytes", 1024), "mb": ("bytes", 1), "kb": ("bytes", 1 / 1024), "tb": ("bytes", 1 << 20),
    "ms": ("duration", 0.001), "毫秒": ("duration", 0.001), "平米": ("area", 1), "平方米": ("area", 1), "平": ("area", 1),
}  # fmt: skip
_CURRENCY = {
    "$": "usd", "usd": "usd", "dollars": "usd", "dollar": "usd", "美元": "usd", "美金": "usd", "刀": "usd",
    "€": "eur", "eur": "eur", "euros": "eur", "euro": "eur", "欧元": "eur", "£": "gbp", "gbp": "gbp",
    "pounds sterling": "gbp", "英镑": "gbp", "¥": "cny", "元": "cny", "块": "cny", "块钱": "cny",
    "人民币": "cny", "cny": "cny", "rmb": "cny", "yuan": "cny", "日元": "jpy", "yen": "jpy", "港币": "hkd",
}  # fmt: skip
_NUMBERED = (
    "sprint|room|invoice|ticket|pr|issue|line|chapter|version|flight|kiln|floor|building|gate|platform|bus|step|"
    "phase|milestone|episode|season|part|antibody|table|unit|section|page|lot|batch|case|order|bay|course|level|q"
)

Forms = Iterator[tuple[str, str]]


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
    late = m["part"] in ("下午", "晚上", "傍晚", "晚", "夜里", "今晚", "明晚", "午后") and hour < 12
    hour += 12 if late or (m["part"] == "中午" and hour < 3) else 0
    minute = {"半": 30.0, "一刻": 15.0, "三刻": 45.0}.get(m["min"] or "", None)
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
    special = {"fortnight": 1209600.0, "half a year": 15552000.0, "half an hour": 1800.0, "半年": 15552000.0,
               "半小时": 1800.0, "半个小时": 1800.0, "半天": 43200.0, "半个月": 1296000.0, "an hour and a half": 5400.0, "一个半小时": 5400.0}  # fmt: skip
    yield "duration", _form(special[re.sub(r"\s+", " ", m[0].lower()).removeprefix("a ")])


def _quantity(m: re.Match[str]) -> Forms:
    unit = re.sub(r"\s+", " ", m["u"].lower())
    kind, scale = _UNITS[unit]
    value = _number(m["n"])
    if value is not None:
        sign = "-" if m["sign"] else ""
        yield kind, sign + _form(value * scale)


def _ratio(m: re.Match[str]) -> Forms:
    yield (
        "ratio",
        _form(digits(m["b"]) / digits(m["a"])) if m["a"] else _form(_number(m["fold"]) or 0),
    )


def _name(m: re.Match[str]) -> Forms:
    yield "ident", m[0].lower().rstrip("./-_")


def _version(m: re.Match[str]) -> Forms:
    yield "version", m["v"].lower()


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


def _reader(
    pattern: str, read: Callable[[re.Match[str]], Forms]
) -> tuple[re.Pattern[str], Callable[[re.Match[str]], Forms]]:
    return re.compile(pattern, re.IGNORECASE), read


_UNIT_WORDS = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_MONEY_AFTER = "|".join(
    sorted(
        (re.escape(c) for c in _CURRENCY if not c.startswith(tuple("$€£¥"))), key=len, reverse=True
    )
)
_DAY_PART = r"(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|今晚|明晚|夜里|午后|早|晚)"
_MEASURES = "个只次节名位件张本台辆份杯顿条间套把瓶盒袋箱支枚颗棵层楼号岁人字票块场届集章页行遍回趟口栋座片组队批对双门种盏封笔单"

_HINT = re.compile(
    rf"\d|[一二三四五六七八九十百千万亿两零半隔午月周]|星期|礼拜|[@/.]\w|\b(?:{_MONTH}|{_WEEKDAY}|noon|midnight|once|twice"
    rf"|half|every|fortnight|{ENGLISH})\b",
    re.IGNORECASE,
)
_READERS = (
    _reader(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", _email),
    _reader(r"(?:[a-z][a-z0-9+]*://[^\s，。；）)\]】]+)|(?:\b(?:www\.)?[a-z0-9][\w-]*(?:\.[\w-]+)*\.(?:com|org|net|io|dev|cn|example|app|ai|co|edu|gov|de|uk)\b(?:/[^\s，。；）)\]】]*)?)", _url),
    _reader(r"(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)", _iso),
    _reader(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])", _address),
    _reader(r"(?:腊月|正月|农历)[初一二三四五六七八九十廿]+", _lunar),
    _reader(rf"(?:(?P<y>\d{{4}}|[二〇零一九]{{4}})\s*年\s*)?(?P<m>{_ZH_NUM})\s*月(?:份|\s*(?P<d>{_ZH_NUM})\s*[日号]|(?!\w))", _zh_date),
    _reader(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mon>{_MONTH})(?=\W|$),?(?:\s+(?P<y>(?:19|20)\d\d))?", _en_date),
    _reader(rf"\b(?P<mon>{_MONTH})\s+(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(?P<y>(?:19|20)\d\d))?", _en_date),
    _reader(rf"\b(?P<mon>{_MONTH})(?=\W|$)(?:\s+(?P<y>(?:19|20)\d\d))?", _en_month),
    _reader(r"(?:周|星期|礼拜)([一二三四五六日天])", _zh_weekday),
    _reader(rf"\b{_WEEKDAY}\b", _weekday),
    _reader(r"\b(?P<h>\d{1,2})(?::(?P<min>\d\d))?(?::\d\d)?\s*(?P<ap>[ap]\.?m\b\.?)", _clock),
    _reader(r"(?<![\d:.])(?P<h>\d{1,2})[:：](?P<min>\d\d)(?!\d)", _clock),
    _reader(rf"(?P<part>{_DAY_PART})?\s*(?P<h>{_ZH_NUM})\s*点(?P<whole>钟|整)?(?:(?P<min>半|一刻|三刻|{_ZH_NUM})分?)?(?!\d|[心子评击])", _zh_clock),
    _reader(r"\b(?:noon|midnight)\b|中午(?!\S*点)|午夜|零点", _noon),
    _reader(r"\+\d{1,3}[\s-]?\(?\d[\d\s()-]{5,14}\d|\(\d{3,4}\)\s?\d{3,4}[\s-]?\d{3,4}|\b\d{3,4}[\s-]\d{3,4}(?:[\s-]\d{3,4})+\b|\b1\d{10}\b|\b\d{3}-\d{4}\b", _phone),
    _reader(rf"(?P<alt>隔天|every other day)|(?P<times>once|twice|{_NUM}(?=\s+times))(?:\s+times)?\s+(?:an?|per|each|every)\s+(?P<unit>{_EN_SPAN})", _frequency),
    _reader(rf"(?:每|一)(?P<unit>天|周|星期|个?月|年|小时)[^，。,.\d一二三四五六七八九十两]{{0,6}}(?P<times>{_ZH_NUM})\s*[次顿遍回趟]", _frequency),
    _reader(rf"(?:\bevery\s+(?P<every>{_NUM})\s+(?P<unit>{_EN_SPAN}))", _frequency),
    _reader(rf"(?:每|隔)(?P<every>{_ZH_NUM})\s*(?P<unit>{_ZH_SPAN})", _frequency),
    _reader(r"\b(?:an? )?fortnight\b|\bhalf a year\b|\bhalf an hour\b|\ban hour and a half\b|一个半小时|半个?小时|半年|半天|半个月", _half),
    _reader(rf"(?P<c>[$€£¥])\s?(?P<n>{DIGITS})\s?(?P<k>k|m|million)?\b|(?P<n2>{_NUM})\s*(?P<c2>{_MONEY_AFTER})(?![a-z])", _money),
    _reader(rf"(?P<times>{_NUM})\s+\w+\s+(?:an?|per|each|every)\s+(?P<unit>day|week|month)\b", _frequency),
    _reader(rf"(?P<n>{DIGITS})\s*(?:%|percent|per cent)|百分之(?P<n2>{_ZH_NUM})|(?P<cheng>[一二三四五六七八九])成", _percent),
    _reader(rf"\b(?P<a>\d+):(?P<b>\d+)\b|(?P<fold>{_NUM})[\s-]?fold\b", _ratio),
    _reader(rf"(?P<n>{_NUM})[\s-]*(?P<u>{_EN_SPAN})\b(?P<half>\s+and\s+a\s+half)?", _duration),
    _reader(rf"(?P<n>{_ZH_NUM})\s*(?P<u>{_ZH_SPAN})(?P<half>半)?", _duration),
    _reader(rf"(?P<sign>(?<![\w])[-−])?(?P<n>{_NUM})\s*(?P<u>{_UNIT_WORDS})(?![a-z])", _quantity),
    _reader(rf"\b(?P<head>{_NUMBERED})[\s-]*(?:no\.?\s*|#)?(?P<n>\d+(?:\.\d+)*)\b", _numbered),
    _reader(rf"第(?P<n>{_ZH_NUM})(?:\s*[章节步期季层页个])?|(?P<n2>{_ZH_NUM})\s*号(?=[一-鿿])", _numbered),
    _reader(r"\b(?P<head>kiln|room|gate|lane|unit|floor|version|phase|step)\s+(?P<n>one|two|three|four|five|six)\b", _numbered),
    _reader(r"(?<![\w.])v(?P<v>\d+(?:\.\d+)*)\b", _version),
    _reader(r"(?<![a-z0-9_])(?=[a-z0-9_./-]*\d)(?=[a-z0-9_./-]*[a-z])[a-z0-9_]+(?:[./-]+[a-z0-9_]+)*", _name),
    _reader(rf"(?<![\w.]){DIGITS}(?![\w.]*\d)", _plain),
    _reader(rf"\b(?!one\b){ENGLISH}", _plain),
    _reader(rf"(?P<n>{HAN})(?=[{_MEASURES}])", _zh_count),
    _reader(rf"(?P<n>[一二三四五六七八九十百千万两零]{{2,}})", _zh_count),
)  # fmt: skip
