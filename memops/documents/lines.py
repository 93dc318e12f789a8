"""Lines: a file's bytes as lines and as text, and back, to the byte.

Only a line feed ends a line (U+2028 and its like are text). Bytes that are no UTF-8 pass through
as lone surrogates.
"""

import re

BOM = b"\xef\xbb\xbf"


def decoded(raw: bytes) -> str:
    """Return bytes as text; those that are no UTF-8 become lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Return text as bytes, exactly where it came from `decoded`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "".join(
            "?" if "\ud800" <= c <= "\udc7f" or "\udd00" <= c <= "\udfff" else c for c in text
        ).encode("utf-8", "surrogateescape")


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines with their ends; joined, they are the data."""
    return [line for line in re.split(rb"(?<=\n)", data) if line]


def line_end(lines: list[bytes]) -> bytes:
    """Return the end that the file's lines have, a line feed where it has none."""
    ended = next((line for line in lines if line.endswith(b"\n")), b"\n")
    return b"\r\n" if ended.endswith(b"\r\n") else b"\n"


def bare(line: bytes) -> bytes:
    """Return a line without its end."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def blank(text: str | bytes) -> bool:
    """Tell whether a line has nothing but spaces and tabs, which is what Markdown calls blank."""
    return not (text.strip(b" \t\r\n") if isinstance(text, bytes) else text.strip(" \t\r\n"))
