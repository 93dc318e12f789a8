"""Numbers as people write them: digits, English words, Chinese characters."""

import re

DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
HAN = r"[零〇一二两三四五六七八九十百千万亿半]+"
UNCOUNTED = r"(?![次顿趟遍]|回(?![家到国来去公校老])|个(?:半|小时|钟)|天(?!气))"
"""What a Chinese weekday is not followed by: 每周三次 is three times a week, not on Wednesdays."""

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_EN = {word: n for n, word in enumerate(_SMALL)} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "hundred": 100, "thousand": 1000, "million": 1_000_000, "dozen": 12,
}  # fmt: skip
_HAN_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_UNIT = "(?:" + "|".join(sorted(_EN, key=len, reverse=True)) + ")"

ENGLISH = (
    rf"\b(?:an?\s+(?=dozen|hundred|thousand|million))?{_UNIT}(?:(?:\s+and\s+|[\s-]){_UNIT})*\b"
)


def digits(text: str) -> float:
    """Return the value of a number in digits, with or without thousands marks."""
    return float(text.replace(",", ""))


def english(text: str) -> float:
    """Return the value of an English number: `twenty-five` is 25, `two thousand` 2000."""
    total = part = 0
    for word in re.findall(_UNIT, text.lower()):
        n = _EN[word]
        if n in (12, 100) and word in ("dozen", "hundred"):
            part = (part or 1) * n
        elif n >= 1000:
            total, part = total + (part or 1) * n, 0
        else:
            part += n
    return float(total + part)


def han(text: str) -> float | None:
    """Return the value of a Chinese number, or None for what is none.

    A last digit after a unit counts in the next lower unit: 一万二 is 12,000, 五千一百八 5,180.
    """
    if "半" in text:
        rest = text.replace("半", "", 1)
        whole = han(rest) if rest else 0.0
        return None if whole is None else whole + 0.5
    if len(text) > 1 and not any(c in _HAN_UNITS for c in text):
        return float("".join(str(_HAN_DIGITS[c]) for c in text))
    total = part = 0
    digit, unit = None, 1
    for c in text:
        if c in _HAN_DIGITS:
            digit, after_zero = _HAN_DIGITS[c], c in "零〇"
            unit = 10 if after_zero else unit
            continue
        unit = _HAN_UNITS[c]
        if unit >= 10_000:
            part += digit or 0
            high = unit > 10_000 and total > 0
            total = (total + part) * unit if high else total + (part or 1) * unit
            part, digit = 0, None
        else:
            part, digit = part + (1 if digit is None else digit) * unit, None
    if digit is not None:
        part += digit * (
            unit // 10 if unit >= 100 and text[-1] not in "零〇" and "零" not in text[-2:] else 1
        )
    return float(total + part)


def numeral(text: str) -> float | None:
    """Return the value of a number in digits, English or Chinese, or None for what is none."""
    text = text.strip()
    if text[:1].isdigit():
        return digits(text)
    return han(text) if re.fullmatch(HAN, text) else english(text)


def canonical(number: float) -> str:
    """Return the one writing of a number, to ten digits."""
    return f"{number:.10g}"
