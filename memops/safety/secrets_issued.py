"""Issued keys: whether the make of a value alone proves that an issuer made it.

What an issuer begins its keys with is short, and files, ids and classes may begin so, too. A key is
proven by its check sum, or where it has the very length and signs that its issuer gives it.
"""

import base64
import binascii
import re
import string
import zlib
from functools import cache

from memops.language.lexicon import lexicon
from memops.safety.secrets_ends import spoken

_CHAT_BOT = re.compile(r"\d{8,10}:AA[\w-]{33}")  # Telegram's
_CHECKED = re.compile("(?:gh[pousr]|npm)_([A-Za-z0-9]{30})([A-Za-z0-9]{6})")  # GitHub's, npm's
_SIGNS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_PLACE = re.compile(r"[/\\]$|\[\[$|[?&]\w+=$")  # a path, a link to a note, a part of an address
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,12}\b")


def proven(value: str, before: str = "", after: str = "") -> bool:
    """Return whether nothing but a key of its issuer is made like a value, by what stands around it.

    What stands in a path, or has the ending of a file, may be a name. Signed tokens may be tickets,
    what names a key opens nothing, what pages show is public, and keys for tests stand in every
    manual: a person says.
    """
    if _PLACE.search(before) or _ENDING.match(after):
        return False
    parts = value.split(".")
    if len(parts) == 3 and _decoded(parts[0]).isdigit():
        return True  # a bot's token: its number first
    if _CHAT_BOT.fullmatch(value):
        return _balanced(value.partition(":AA")[2])
    return _checked(value) or any(form.fullmatch(value) for form in _forms())


def _balanced(run: str) -> bool:
    """Whether a generator may have made a run: of both cases and digits, and hardly words."""
    mixed = all(any(map(is_, run)) for is_ in (str.isupper, str.islower, str.isdigit))
    return mixed and not spoken(run)


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


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, lexicon("secrets_issuers")["whole"]))


def _decoded(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (ValueError, binascii.Error):
        return b""
