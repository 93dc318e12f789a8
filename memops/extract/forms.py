"""Forms: the checks and normal forms of captured values, so that one value has one spelling."""

import re
from collections.abc import Callable
from functools import cache

from memops.language.lexicon import lexicon
from memops.values import numeral, read

_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643-1999
_CHECK = "10X98765432"
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SPOKEN = str.maketrans("零〇一二三四五六七八九幺", "001234567891")


def normal(form: str, value: str) -> tuple[str, str] | None:
    """Return how a record shows the value and the key that equal values share, or None.

    None means that the value is not what the pattern took it for: a wrong check digit, no such
    day, no number that a telephone could have.
    """
    return FORMS[form](value.replace("\u0001", ",").strip(" .,;:!?\"'"))


def id_card(value: str) -> tuple[str, str] | None:
    """Check a Chinese resident number by its check digit and its date of birth."""
    number = re.sub(r"[ -]", "", value).upper()
    if not re.fullmatch(r"\d{17}[\dX]", number):
        return None
    total = sum(int(digit) * weight for digit, weight in zip(number, _WEIGHTS, strict=False))
    real = _CHECK[total % 11] == number[17] and _is_day(int(number[10:12]), int(number[12:14]))
    return (number, number) if real and 1800 <= int(number[6:10]) <= 2100 else None


def phone(value: str) -> tuple[str, str] | None:
    """Check a telephone number by the numbering plans; numbers without + are read as Chinese."""
    import phonenumbers as plans

    value = value.translate(_SPOKEN)
    digits = re.sub(r"[^0-9+]", "", value)
    tries = [(value, "CN"), ("+" + digits, None)] if digits.startswith("86") else [(value, "CN")]
    if re.fullmatch(r"\(?[2-9]\d{2}\)?[ .-]?\d{3}[ .-]?\d{4}", value):
        tries.append((value, "US"))
    for text, region in tries:
        try:
            number = plans.parse(text, region)
        except plans.NumberParseException:
            continue
        if plans.is_valid_number(number):
            key = plans.format_number(number, plans.PhoneNumberFormat.E164)
            home = number.country_code == 86 and len(str(number.national_number)) == 11
            return (str(number.national_number) if home else key, key)
    return None


def email(value: str) -> tuple[str, str] | None:
    """Check an e-mail address; what addresses a machine is none of the user's."""
    local, _, domain = value.rpartition("@")
    odd = local.lower() in ("git", "root", "noreply", "no-reply", "admin", "ssh", "hg", "svn")
    plain = re.fullmatch(r"[\w.%+-]+", local, re.ASCII) and ".." not in value
    labels = domain.lower().split(".")
    internal = labels[-1] in ("internal", "local", "lan", "localhost")
    if not plain or odd or internal or len(labels) < 2 or any(not part for part in labels):
        return None
    return value, value.lower()


def date(value: str) -> tuple[str, str] | None:
    """Read a birthday in digits, Chinese numerals or English; the year may be missing."""
    lunar = "农历" if re.search("农历|阴历|正月|腊月|冬月|初|廿", value) else ""
    text = re.sub(r"农历|阴历|公历|阳历|每年|的|\s{1,4}(?=[年月日号])", "", value).strip()
    parts = _digits(text) or _named(text)
    if parts is None or not _is_day(parts[1], parts[2]):
        return None
    year, month, day = parts
    shown = f"{year:04d}-{month:02d}-{day:02d}" if year else f"{month:02d}-{day:02d}"
    return (f"{lunar}{shown}" if lunar else shown, f"lunar-{shown}" if lunar else shown)


def number(value: str) -> tuple[str, str] | None:
    """Read a whole number in digits or words."""
    told = numeral(value)
    return (f"{told:.0f}", f"{told:.0f}") if told is not None and told == int(told) else None


def name(value: str) -> tuple[str, str] | None:
    """Accept what can be a name: no function word, no sentence."""
    words = value.split()
    if not value or len(words) > 4 or _no_name().search(value):
        return None
    shown = " ".join(
        word.capitalize() if word.islower() and word.isascii() else word for word in words
    )
    return shown, shown.casefold()


def full_name(value: str) -> tuple[str, str] | None:
    """Accept a Chinese surname with a given name that is no common noun."""
    odd = re.search(str(lexicon("extract_slots")["words"]["no_full_name"]), value)
    return None if odd else name(value)


def address(value: str) -> tuple[str, str] | None:
    """Accept an address that says where: a place and, in most, a number."""
    places = re.findall(r"[省市区县镇乡村路街道巷弄号楼栋幢室座苑园里]", value)
    english = re.search(str(lexicon("extract_slots")["words"]["street"]), value, re.IGNORECASE)
    good = 4 <= len(value) <= 120 and (len(places) >= 2 or english or re.search(r"\d", value))
    return (value, re.sub(r"[\s,]", "", value.casefold())) if good else None


def plain(value: str) -> tuple[str, str] | None:
    """Accept a short value as it stands."""
    good = 1 <= len(value) <= 60 and not _no_name().search(value)
    return (value, value.casefold()) if good else None


FORMS: dict[str, Callable[[str], tuple[str, str] | None]] = {
    form.__name__: form
    for form in (id_card, phone, email, date, number, name, full_name, address, plain)
}


@cache
def _no_name() -> re.Pattern[str]:
    return re.compile(str(lexicon("extract_slots")["words"]["no_name"]), re.IGNORECASE)


def _is_day(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else (1900 if int(text) > 30 else 2000) + int(text)


def _digits(text: str) -> tuple[int, int, int] | None:
    found = re.match(
        r"(?:(\d{4}|\d{2}) ?[年./-] ?)?(\d{1,2}) ?[月./-] ?(\d{1,2})(?:[./-](\d{4}))?", text
    )
    if not found:
        return None
    year, month, day, late = found.groups()
    if late:  # 25/12/1988 or 12/25/1988: only one reading may be a day
        first, second = int(month), int(day)
        if first <= 12 and second <= 12 and first != second:
            return None
        return (int(late), second, first) if first > 12 else (int(late), first, second)
    return (_year(year) if year else 0, int(month), int(day))


def _named(text: str) -> tuple[int, int, int] | None:
    """Year, month and day of a text that is a date in words."""
    for value in read(text):
        told = _DATE.fullmatch(value.form)
        if told:
            return int(told["y"] or 0), int(told["m"]), int(told["d"])
    return None


_DATE = re.compile(r"(?:lunar |XXXX-|(?P<y>\d{4})-)(?P<m>\d+)-(?P<d>\d+)")
