"""Issued keys: whether the make of a value alone proves that an issuer made it.

What an issuer begins its keys with is short, and files, ids and classes may begin so, too. A key is
proven where a run that a generator made follows, the longer the shorter its beginning, or where a
part of it can be decoded to what its format asks for.
"""

import base64
import binascii
import re
import string
import zlib
from functools import cache

from memops.language.lexicon import lexicon
from memops.safety.secrets_labels import words

_LONG, _SHORT = 16, 30  # characters behind a beginning of four letters and digits, or of fewer
_CHAT_BOT = re.compile(r"\d{8,10}:AA[\w-]{33}")  # Telegram's
_CHECKED = re.compile("(?:gh[pousr]|npm)_([A-Za-z0-9]{30})([A-Za-z0-9]{6})")  # GitHub's, npm's
_WEB_KEY = re.compile(
    r"AIza[\w-]{35}"
)  # Google's, which pages may show: a key where a label says so
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_SPEAKABLE = re.compile(r"(?i)(?!.*[^aeiouy]{5})(?=.*[aeiouy])")
_SIGNS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_TOKENS = re.compile("[a-z]+")
_NEAR = 16  # characters before a value in which a label is its own
_DATE = re.compile(r"20\d{6}|20\d\d-\d\d")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}\b")
_NUMBERS = re.compile(r"^(?:\d+-)+")  # whose key it is, before what the generator made
_SPOKEN, _DIGITS, _LEAST = 0.28, 0.4, 0.15
"""Of a run that a generator made: the most that could be words, the most digits, the least of either case."""


def proven(value: str, before: str = "", after: str = "") -> bool:
    """Return whether nothing but a key of its issuer is made like a value, by what stands around it.

    What stands in a path, or has the ending of a file, may be a name. Signed tokens may be tickets,
    what names a key opens nothing, and keys for tests stand in every manual: a person says.
    """
    if before.endswith("/") or _ENDING.match(after):
        return False
    parts = value.split(".")
    if len(parts) == 3 and _decoded(parts[0]).isdigit():
        return True  # a bot's token: its number first
    if _CHAT_BOT.fullmatch(value) or _checked(value):
        return True
    if _WEB_KEY.fullmatch(value) and _labelled(before):
        return _generated(value[4:], _LONG)
    begun = next((one for one in _beginnings() if value.startswith(one)), "")
    if not begun or "test" in begun:
        return False
    short = sum(sign.isalnum() for sign in begun) < 4
    run = value[len(begun) :]
    return _generated(run if short else _NUMBERS.sub("", run), _SHORT if short else _LONG)


def _generated(run: str, least: int) -> bool:
    """Whether a run is so long, balanced between cases and digits, with no date and hardly a word."""
    upper, lower, digits = (sum(map(is_, run)) for is_ in (str.isupper, str.islower, str.isdigit))
    spoken = sum(len(word) for word in _WORDS.findall(run) if _SPEAKABLE.match(word))
    balanced = min(upper, lower) >= len(run) * _LEAST and digits <= len(run) * _DIGITS
    return len(run) >= least and balanced and not _DATE.search(run) and spoken <= len(run) * _SPOKEN


def _checked(value: str) -> bool:
    """Whether a key ends in the check sum of what stands before it, to base 62 (CRC-32, as zlib's)."""
    parts = _CHECKED.fullmatch(value)
    if not parts:
        return False
    number, ending = zlib.crc32(parts[1].encode()), ""
    while number:
        number, sign = divmod(number, len(_SIGNS))
        ending = _SIGNS[sign] + ending
    return ending.rjust(6, "0") == parts[2]


def _labelled(before: str) -> bool:
    """Whether a label of a key stands right before a value."""
    beside = before[-_NEAR:].casefold()
    ends = {word.rpartition(" ")[2] for word in words("token")}
    latin = {end for end in ends if end.isascii()}
    return not latin.isdisjoint(_TOKENS.findall(beside)) or any(e in beside for e in ends - latin)


@cache
def _beginnings() -> tuple[str, ...]:
    """What issuers begin their keys with, the longest first."""
    issuers = lexicon("secrets_issuers")["issuer"]
    return tuple(sorted((p for one in issuers for p in one["prefixes"]), key=len, reverse=True))


def _decoded(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (ValueError, binascii.Error):
        return b""
