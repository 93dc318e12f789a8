"""Lines: a file's bytes as lines and as text, and back, to the byte.

A line feed ends a line, a carriage return, or both together, as in CommonMark (U+2028 and its like
are text). Bytes that are no UTF-8 pass through as lone surrogates.
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
    return [line for line in re.split(rb"(?<=\n)|(?<=\r)(?!\n)", data) if line]


def line_end(lines: list[bytes]) -> bytes:
    """Return the end that the file's lines have, a line feed where it has none."""
    first = next((x for x in lines if x.endswith(b"\n")), next(filter(ended, lines), b"\n"))
    return first.removeprefix(bare(first))


def ended(line: bytes) -> bool:
    """Tell whether a line has an end, as the last one of a file need not."""
    return line.endswith((b"\n", b"\r"))


def bare(line: bytes) -> bytes:
    """Return a line without its end."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def blank(text: str | bytes) -> bool:
    """Tell whether a line has nothing but spaces and tabs, which is what Markdown calls blank."""
    return not (text.strip(b" \t\r\n") if isinstance(text, bytes) else text.strip(" \t\r\n"))
