"""Value readers: one pattern and one reading for each way in which people write a value.

READERS are tried in order; what one has read is out of reach for the next, so the specific come
before the general. Units, currencies and the words around numbers stand in
`data/lexicons/values.toml`.
"""

import re
from collections.abc import Callable, Iterable

from memops.language import values_amounts as amounts
from memops.language import values_names as names
from memops.language import values_times as times
from memops.language.lexicon import lexicon
from memops.language.numerals import DIGITS, ENGLISH, HAN, UNCOUNTED
from memops.language.values_amounts import Forms

Read = Callable[[re.Match[str]], Forms]
Reader = tuple[re.Pattern[str], Read, frozenset[str]]

_WORDS = lexicon("values")["words"]


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


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
_AFTER_AMOUNT = _any(word for word in amounts.CURRENCY if word not in "$€£¥")

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
    (r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+", names.email, "@"),
    (rf"[a-z][a-z0-9+]{{1,12}}://{_REST}+", names.url, "."),
    (rf"\b(?:www\.)?[a-z0-9][\w-]*(?:\.[\w-]+){{0,6}}\.{_SITE}\b(?:/{_REST}*)?", names.url, "."),
    (rf"{_YEAR}[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?!\d)", times.iso, _DIGIT),
    (r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)", names.address, _DIGIT),
    (rf"每个?月\s*(?P<d>{_ZH_NUM})\s*[日号]", times.zh_day, "月"),
    (r"(?:腊月|正月|农历)[初一二三四五六七八九十廿]+", times.lunar, "月农"),
    (
        rf"(?:(?P<y>\d{{4}}|[二〇零一九]{{4}})\s*年\s*)?(?P<m>{_ZH_NUM})\s*月"
        rf"(?:份|\s*(?P<d>{_ZH_NUM})\s*[日号]|(?!\w))",
        times.zh_date,
        "月",
    ),
    (
        rf"\b(?P<d>\d{{1,2}}){_NTH}\s+(?:of\s+)?(?P<mon>{_MONTH})(?=\W|$),?(?:\s+{_YEAR})?",
        times.en_date,
        _DIGIT,
    ),
    (
        rf"\b(?P<mon>{_MONTH})\s+(?:the\s+)?(?P<d>\d{{1,2}}){_NTH}\b(?!:)(?:,?\s+{_YEAR})?",
        times.en_date,
        _DIGIT,
    ),
    (rf"\b(?P<mon>{_MONTH})(?=\W|$)(?:\s+{_YEAR})?", times.en_month, ""),
    (
        rf"(?P<every>{_ZH_NUM})\s*(?P<unit>{_ZH_SPAN})一(?:次|回|换|检|付|结|洗|查|修)",
        times.frequency,
        "一",
    ),
    (rf"(?:周|星期|礼拜)([一二三四五六日天]){UNCOUNTED}", times.zh_weekday, "周期拜"),
    (rf"\b{_WEEKDAY}\b", times.weekday, ""),
    (r"\b(?P<h>\d{1,2})(?::(?P<min>\d\d))?(?::\d\d)?\s*(?P<ap>[ap]\.?m\b\.?)", times.clock, _DIGIT),
    (r"(?<![\d:.])(?P<h>\d{1,2})[:：](?P<min>\d\d)(?!\d)", times.clock, _DIGIT),
    (
        rf"(?P<part>{_any(_WORDS['parts'])})?\s*(?P<h>{_ZH_NUM})\s*点(?P<whole>钟|整)?"
        rf"(?:(?P<min>半|一刻|三刻|{_ZH_NUM})分?)?(?!\d|[心子评击])",
        times.zh_clock,
        "点",
    ),
    (r"\b(?:noon|midnight)\b|中午(?!\S*点)|午夜|零点", times.noon, ""),
    (
        r"\+\d{1,3}[\s-]?\(?\d[\d\s()-]{5,14}\d|\(\d{3,4}\)\s?\d{3,4}[\s-]?\d{3,4}"
        r"|\b\d{3,4}[\s-]\d{3,4}(?:[\s-]\d{3,4})+\b|\b1\d{10}\b|\b\d{3}-\d{4}\b",
        names.phone,
        _DIGIT,
    ),
    (
        rf"(?P<alt>隔天|every other day)"
        rf"|(?P<times>once|twice|{_NUM}(?=\s+times))(?:\s+times)?{_PER}(?P<unit>{_EN_SPAN})",
        times.frequency,
        "",
    ),
    (
        r"(?:每|一)(?P<unit>天|周|星期|个?月|年|小时|分钟|秒)[^，。,.\d一二三四五六七八九十两]{0,6}"
        rf"(?P<times>{_ZH_NUM})\s*(?:[次顿遍回趟]|天(?!气))",
        times.frequency,
        "",
    ),
    (rf"\bevery\s+(?P<every>{_NUM})\s+(?P<unit>{_EN_SPAN})", times.frequency, ""),
    (rf"(?:每|隔)(?P<every>{_ZH_NUM})\s*(?P<unit>{_ZH_SPAN})", times.frequency, ""),
    (
        r"\b(?:a )?fortnight\b|\bhalf a year\b|\bhalf an hour\b|\ban hour and a half\b"
        r"|一个半小时|半个?小时|半年|半天|半个月",
        times.half,
        "",
    ),
    (
        rf"(?P<c>[$€£¥])\s?(?P<n>{DIGITS})\s?(?P<k>k|m|million)?\b"
        rf"|(?P<n2>{_NUM})\s*(?P<c2>{_AFTER_AMOUNT})(?![a-z])",
        amounts.money,
        _NUMERAL,
    ),
    (rf"(?P<times>{_NUM})\s+\w+{_PER}(?P<unit>day|week|month)\b", times.frequency, ""),
    (
        rf"(?P<n>{DIGITS})\s*(?:%|percent|per cent)|百分之(?P<n2>{_ZH_NUM})"
        r"|(?P<cheng>[一二三四五六七八九])成",
        amounts.percent,
        "%成分pP",
    ),
    (rf"\b(?P<a>\d+):(?P<b>\d+)\b|(?P<fold>{_NUM})[\s-]?fold\b", amounts.ratio, _NUMERAL),
    (
        rf"(?P<n>{_NUM})[\s-]*(?P<u>{_EN_SPAN})\b(?P<half>\s+and\s+a\s+half)?",
        times.duration,
        _NUMERAL,
    ),
    (r"(?P<y>(?:19|20)\d\d)\s*年(?!\w*[内间以])", times.zh_year, "年"),
    (rf"(?P<n>{_ZH_NUM})\s*年级", amounts.grade, "级"),
    (rf"(?P<n>{_ZH_NUM})\s*(?P<u>{_ZH_SPAN})(?P<half>半)?", times.duration, _NUMERAL),
    (
        rf"(?P<sign>(?<![\w])[-−])?(?P<n>{_NUM})\s*(?P<u>{_any(amounts.UNITS)})(?![a-z])",
        amounts.quantity,
        _NUMERAL,
    ),
    (
        rf"\b(?P<head>{_any(_WORDS['numbered'])})[\s-]*(?:no\.?\s*|#)?(?P<n>\d+(?:\.\d+)*)\b",
        names.numbered,
        _NUMERAL,
    ),
    (
        rf"第(?P<n>{_ZH_NUM})(?:\s*[章节步期季层页个])?|(?P<n2>{_ZH_NUM})\s*号(?=[一-鿿])",
        names.numbered,
        _NUMERAL,
    ),
    (
        rf"\b(?P<head>{_any(_WORDS['spelt'])})\s+(?P<n>one|two|three|four|five|six)\b",
        names.numbered,
        _NUMERAL,
    ),
    (
        r"(?<![\w.])(?:v(?=\d)(?P<v>\d+(?:\.\d+)*)|(?P<dotted>\d+(?:\.\d+){2,}))\b",
        names.version,
        _DIGIT,
    ),
    (
        r"(?<![a-z0-9_])(?=[a-z0-9_./-]{0,80}\d)(?=[a-z0-9_./-]{0,80}[a-z])"
        r"[a-z0-9_]+(?:[./-]+[a-z0-9_]+)*",
        names.name,
        _DIGIT,
    ),
    (rf"(?<![\w.]){DIGITS}(?![\w.]*\d)", amounts.plain, _NUMERAL),
    (rf"\b(?!one\b){ENGLISH}", amounts.plain, _NUMERAL),
    (rf"(?P<n>{HAN})(?=[{_WORDS['measures']}])", amounts.zh_count, _HAN_DIGIT),
    (r"(?P<n>[一二三四五六七八九十百千万两零]{2,})", amounts.zh_count, _HAN_DIGIT),
)
READERS: tuple[Reader, ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.ASCII), read, frozenset(need))
    for pattern, read, need in _PATTERNS
)
SPELLING = re.compile(ENGLISH, re.IGNORECASE | re.ASCII)
