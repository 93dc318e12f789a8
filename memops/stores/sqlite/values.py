"""Values of SQLite's, exactly: text that need not be UTF-8, bytes, infinities."""

import base64
from typing import Any


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
