"""Shapes of the net: mail, URL, path and file, addresses of machines, telephone numbers."""

import ipaddress
import posixpath
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from memops.values.lexicon import Lexicon, Word
from memops.values.shape import REST, SEVEN, Shape, address

_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])", re.A
)
_SITES = (
    "com|org|net|io|dev|cn|app|ai|co|edu|gov|de|uk|us|me|info|xyz|eu|fr|jp|hk|tw|example|local|internal|test"
    "|site|tv|cc"
)
_URL = re.compile(
    rf"(?:[a-z][a-z0-9+]{{1,12}}://{REST}+"
    rf"|(?<![\w@.-])(?:[a-z0-9][\w-]{{0,62}}\.){{1,6}}(?:{_SITES})(?![\w-])(?::\d{{2,5}})?(?:/{REST}*)?)",
    re.A,
)
_PATH = re.compile(
    r"(?<![\w:/.~$-])(?:~|\$home|\.{1,2}|[a-z]:)?[/\\](?:[\w.@+-]{1,120}[/\\]{0,2}){1,40}", re.A
)
_FILE = re.compile(
    r"(?<![\w.@/-])[\w-]{1,64}(?:\.[\w-]{1,32}){0,3}\.[a-z][a-z0-9]{0,4}(?![\w.-]|/)", re.A
)
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:])", re.A)
_IP6 = re.compile(r"(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])", re.A)
_IP4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?!\.?\d)", re.A)
_PHONE = re.compile(
    r"(?<![\w.+/-])(?:(?:\+|00)\s?\d{1,3}[\s.-]?(?:\(0?\d{1,4}\)|\d)[\d\s().-]{4,18}\d"
    r"|\(\d{2,4}\)\s?\d{3,4}[\s.-]?\d{3,4}|0\d{1,3}[\s-]\d{3,4}[\s-]?\d{3,4}|\d{3}[\s.-]\d{3,4}[\s.-]\d{4}"
    r"|1[3-9]\d[\s-]?\d{4}[\s-]?\d{4}|\d{3}-\d{4}|1[3-9]\d{9}|0\d{9,11})(?:\s?(?:ext\.?|x|转)\s?(?P<ext>\d{1,5}))?(?![\w-]|\.\d)",
    re.A,
)
_NAMED = re.compile(r"\.[a-z]")
_SHORT = 3  # "/s" is a denominator, not a path


def _url(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    bare = said.rstrip("/.,;:!?")
    scheme, mark, rest = bare.partition("://")
    if mark and scheme.lower() not in ("http", "https"):
        return address(lex, "url", bare)
    host, slash, path = (rest if mark else bare).partition("/")
    if not slash and _IP4.fullmatch(host):
        return address(lex, "ip", host)
    host = re.sub(r"^www\.|:(?:80|443)$", "", host.lower())
    return address(lex, "url", host + slash + path)


def _path(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    bare = said.rstrip("/\\.,;:")
    if len(bare) <= _SHORT:
        return None
    tidy = posixpath.normpath(bare.replace("\\", "/"))
    tidy = tidy[0].lower() + tidy[1:] if tidy[1:2] == ":" else tidy
    return address(lex, "path", "~" + tidy[5:] if tidy.startswith("$HOME/") else tidy)


def _file(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    """notes.txt; not the end of a sentence that lacks its space, nor e.g."""
    parts = said.split(".")
    if parts[-1] != parts[-1].lower() or all(len(part) == 1 or part.isdigit() for part in parts):
        return None
    return address(lex, "path", said)


def _ip(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    head, slash, tail = m[0].partition("/")
    if not any(sign.isalnum() for sign in head):
        return None
    try:
        return address(lex, "ip", str(ipaddress.ip_address(head)) + slash + tail)
    except ValueError:
        return None


def _phone(m: re.Match[str], lex: Lexicon, said: str) -> Word | None:
    form = phone_form(m[0].partition("ext")[0].partition("x")[0].partition("转")[0], lex.regions)
    if form is None:
        return None
    return address(lex, "phone", form + (f" ext {m['ext']}" if m["ext"] else ""))


def _dialled(parsed: Any, bare: str, region: str) -> bool:
    """Whether people at home write it so: where numbers begin with a 0, those of lines do."""
    import phonenumbers

    told = phonenumbers.PhoneMetadata.metadata_for_region(region)
    if told is None or told.national_prefix != "0" or bare.startswith("0"):
        return True
    kinds = phonenumbers.PhoneNumberType
    short = (kinds.MOBILE, kinds.TOLL_FREE, kinds.SHARED_COST, kinds.PREMIUM_RATE)
    return phonenumbers.number_type(parsed) in short


@lru_cache(maxsize=10_000)
def phone_form(said: str, regions: Sequence[str]) -> str | None:
    """Return a telephone number with its country's code, or None for what is none."""
    import phonenumbers

    bare = re.sub(r"\D", "", said)
    if said.startswith("00"):
        said = "+" + said[2:].lstrip()
    if said.startswith("+"):
        try:
            return phonenumbers.format_number(
                phonenumbers.parse(said, None), phonenumbers.PhoneNumberFormat.E164
            )
        except phonenumbers.NumberParseException:
            return None
    for region in regions:
        try:
            parsed = phonenumbers.parse(said, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed) and _dialled(parsed, bare, region):
            return str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164))
    return (
        f"tel {bare}"
        if re.search(r"\D", said.strip()) and re.fullmatch(r"[\d\s().-]+", said.strip())
        else None
    )


def _named(low: str) -> bool:
    return "." in low and _NAMED.search(low) is not None


MAIL = Shape(lambda low: "@" in low, _MAIL, lambda m, lex, said: address(lex, "email", m[0]))
URL = Shape(lambda low: "://" in low or _named(low), _URL, _url)
PATH = Shape(lambda low: "/" in low or "\\" in low, _PATH, _path)
FILE = Shape(_named, _FILE, _file)
SHORT_IP6 = Shape(lambda low: "::" in low, _IP6, _ip)
MAC = Shape(
    lambda low: low.count("-") + low.count(":") >= 5,
    _MAC,
    lambda m, lex, said: address(lex, "ident", m[0].replace("-", ":")),
)
IP6 = Shape(lambda low: low.count(":") >= 2, _IP6, _ip)
IP4 = Shape(lambda low: low.count(".") >= 3, _IP4, _ip)
PHONE = Shape(SEVEN.search, _PHONE, _phone)
