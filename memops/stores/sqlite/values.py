"""Values of SQLite's, exactly: text that need not be UTF-8, bytes, infinities."""

import base64
import json
from collections.abc import Callable
from math import isfinite
from typing import Any

from memops.files import digest

JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_quoted: Callable[[str], str] = json.encoder.encode_basestring  # what that makes of a string


class Text(bytes):
    """A TEXT value as its bytes, which need not be UTF-8; a BLOB is plain bytes."""


def text_of(value: Any) -> str:
    """Return a native value as text; bytes that are no UTF-8 as replacement characters."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def as_json(value: Any) -> Any:
    """Return a value of SQLite's as JSON that loses nothing: type, bytes, infinities."""
    if isinstance(value, Text):
        try:
            return bytes(value).decode("utf-8")
        except UnicodeDecodeError:
            return {"text_b64": base64.b64encode(value).decode()}
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return {"real": str(value)}
    return value


def from_json(value: Any) -> Any:
    """Return the value that `as_json` was given."""
    if isinstance(value, dict):
        if "real" in value:
            return float(value["real"])
        if "text_b64" in value:
            return Text(base64.b64decode(value["text_b64"]))
        return base64.b64decode(value["b64"])
    return Text(value.encode()) if isinstance(value, str) else value


def bound(value: Any) -> tuple[str, Any]:
    """Return placeholder and parameter that store a value as the type it had."""
    return ("CAST(? AS TEXT)", bytes(value)) if isinstance(value, Text) else ("?", value)


def is_text(value: Any) -> bool:
    """Tell whether a native value is text that can be read, or no text at all."""
    if not isinstance(value, bytes):
        return value is not None
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def plain(value: Any) -> Any:
    """Return a native value in a form that JSON holds and that tells it from any other."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return f"sha256:{digest(value)}"


def json_of(value: Any) -> str:
    """Return `plain` of a native value as JSON."""
    if not isinstance(value, bytes):
        return repr(value) if type(value) is float and isfinite(value) else JSON(value)
    try:
        return _quoted(value.decode("utf-8"))
    except UnicodeDecodeError:
        return JSON(plain(value))
