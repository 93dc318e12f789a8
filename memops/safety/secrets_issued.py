"""Issued keys: whether the make of a value alone proves that an issuer made it.

What an issuer begins its keys with is short, and files, ids and classes may begin so, too. A key is
proven where its beginning is long, where what follows a short one is a long run that a generator
made, or where a part of it can be decoded to what its format asks for.
"""

import base64
import binascii
import json
import re
from functools import cache

from memops.language.lexicon import lexicon

_LONG = 4  # letters and digits of a beginning that hardly anything else has
_RUN = 30  # characters behind a shorter one
_WORDS = re.compile(r"[a-z]{3,}")
_CHAT_BOT = re.compile(r"\d{8,10}:AA[\w-]{33}")  # Telegram's
_HASH = re.compile(r"[A-Za-z0-9]{1,4}[_-]?[0-9a-fA-F]{32,}")


def proven(value: str) -> bool:
    """Return whether nothing but a key of its issuer is made like a value."""
    parts = value.split(".")
    if len(parts) >= 3 and value.startswith("ey"):
        return isinstance(_json(_decoded(parts[0])), dict)
    if len(parts) == 3 and _decoded(parts[0]).isdigit():
        return True  # a bot's token: its number first
    begun = next((one for one in _beginnings() if value.lower().startswith(one.lower())), "")
    if not begun:
        return _CHAT_BOT.fullmatch(value) is not None or (
            ":" not in value and len(parts) < 3 and _HASH.fullmatch(value) is None
        )
    signs = sum(sign.isalnum() for sign in begun)
    return signs >= _LONG or (value.startswith(begun) and _generated(value[len(begun) :]))


def _generated(run: str) -> bool:
    """Whether a run is long, of both cases, and little of it stands in what could be words."""
    cased = any(map(str.isupper, run)) and any(map(str.islower, run))
    return cased and len(run) >= _RUN and sum(map(len, _WORDS.findall(run))) <= len(run) * 0.4


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


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return None
