"""Issued keys: whether the make of a value alone proves that an issuer made it.

What an issuer begins its keys with is short, and files, ids and classes may begin so, too. A key is
proven where a run that a generator made follows, the longer the shorter its beginning, or where a
part of it can be decoded to what its format asks for.
"""

import base64
import binascii
import re
from functools import cache

from memops.files import json_value
from memops.language.lexicon import lexicon

_LONG, _SHORT = 16, 30  # characters behind a beginning of four letters and digits, or of fewer
_CLOUD = re.compile(r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}")  # Amazon's
_CHAT_BOT = re.compile(r"\d{8,10}:AA[\w-]{33}")  # Telegram's
_WORDS = re.compile(r"[A-Z]?[a-z]{2,}")
_DATE = re.compile(r"20\d{6}|20\d\d-\d\d")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}\b")


def proven(value: str, before: str = "", after: str = "") -> bool:
    """Return whether nothing but a key of its issuer is made like a value, by what stands around it.

    What stands in a path, or has the ending of a file, may be a name.
    """
    if before.endswith("/") or _ENDING.match(after):
        return False
    parts = value.split(".")
    if len(parts) >= 3 and value.startswith("ey"):
        return isinstance(json_value(_decoded(parts[0])), dict)
    if len(parts) == 3 and _decoded(parts[0]).isdigit():
        return True  # a bot's token: its number first
    if _CLOUD.fullmatch(value) or _CHAT_BOT.fullmatch(value):
        return True
    begun = next((one for one in _beginnings() if value.lower().startswith(one.lower())), value[:4])
    short = sum(sign.isalnum() for sign in begun) < 4
    if short and not value.startswith(begun):
        return False
    return _generated(value[len(begun) :], _SHORT if short else _LONG)


def _generated(run: str, least: int) -> bool:
    """Whether a run is so long, of both cases, with no date and little in it that could be words."""
    cased = any(map(str.isupper, run)) and any(map(str.islower, run)) and not _DATE.search(run)
    return cased and len(run) >= least and sum(map(len, _WORDS.findall(run))) <= len(run) * 0.55


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
