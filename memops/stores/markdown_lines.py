"""Markdown lines: a file as entries, each a range of lines that states one memory.

Only line feeds end a line (U+2028 and its like are text). Bytes that are no UTF-8 pass through as
lone surrogates, so that `prefix + text + suffix` of an entry is always its exact bytes. What a
line means is the grammar's business; what belongs together is decided here: an entry is a line
with the indented lines, the code fence or the key block that follow it.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:\s+|$)")
_RULE = re.compile(r"^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+)$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?$")
_FENCE = re.compile(r"^\s*(?:[-*+]\s+)?(`{3,}|~{3,})")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]+-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]+-----")
_KEY_BODY = re.compile(r"^\s*[A-Za-z0-9+/=]{16,}\s*$|^\s*(?:Proc-Type|DEK-Info|Version|Comment):")
_MANAGED = re.compile(r"^\s*<!--\s*openclaw:dreaming:\w+:(start|end)\s*-->\s*$")
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Place:
    """Where an entry stands: its file, the headings over it, the comments that belong to it."""

    path: str
    under: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    managed: bool = False


@dataclass(frozen=True)
class Entry:
    """One memory: `height` lines from `line` on, after the comments that belong to it."""

    place: Place
    line: int
    height: int
    prefix: str
    text: str
    suffix: str
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def raw(self) -> bytes:
        """The entry's bytes, without the end of its last line."""
        return encoded(self.prefix + self.text + self.suffix)

    @property
    def first(self) -> int:
        """The first line that goes when the entry goes."""
        return self.line - len(self.place.above)

    @cached_property
    def digest(self) -> str:
        """The part of its id that its bytes give."""
        return hashlib.sha256(self.raw).hexdigest()[:12]


class Grammar(Protocol):
    """What lines of one kind of workspace mean."""

    def skips(self, line: str, place: Place) -> bool:
        """Tell whether a line is structure, no memory."""
        ...

    def owns(self, comment: str) -> bool:
        """Tell whether a comment belongs to the entry directly below it."""
        ...

    def goes_on(self, line: str, entry: str, place: Place) -> bool:
        """Tell whether a line that is not indented goes on with the entry above it."""
        ...

    def split(self, entry: str, place: Place) -> tuple[str, str, str, dict[str, Any]]:
        """Return prefix, text, suffix and the record's columns that they and the place give."""
        ...


def decoded(data: bytes) -> str:
    """Return bytes as text, invalid ones as lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Return what `decoded` was given; surrogates that stand for no byte become '?'."""
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


def entries(data: bytes, path: str, grammar: Grammar) -> Iterator[Entry]:
    """Yield the entries of a file in order."""
    lines = [decoded(line) for line in lines_of(data.removeprefix(BOM))]
    texts = [line.removesuffix("\n").removesuffix("\r") for line in lines]
    at, place = _front_matter(texts), Place(path)
    while at < len(texts):
        text = texts[at]
        step, place, stands = _structure(texts, at, place, grammar)
        if not stands:
            at += step
            continue
        end = _end(texts, at, place, grammar)
        whole = "".join(lines[at : end - 1]) + texts[end - 1]
        prefix, text, suffix, fields = grammar.split(whole, place)
        if text.strip():
            yield Entry(place, at + 1, end - at, prefix, text, suffix, fields)
        place, at = replace(place, above=()), end


def _structure(
    texts: list[str], at: int, place: Place, grammar: Grammar
) -> tuple[int, Place, bool]:
    """Return how many lines are structure, the place after them, and whether an entry is next."""
    text, plain = texts[at], replace(place, above=())
    if not text.strip():
        return 1, plain, False
    if heading := _HEADING.match(text):
        level = len(heading[1])
        over = tuple(h for h in place.under if _level(h) < level)
        return 1, replace(plain, under=(*over, text)), False
    if text.lstrip().startswith("<!--") and (height := _comment(texts, at)):
        if mark := _MANAGED.match(text):
            return 1, replace(plain, managed=mark[1] == "start"), False
        if grammar.owns(text):
            return height, replace(place, above=(*place.above, *texts[at : at + height])), False
        return height, plain, False
    if _RULE.match(text) or _TABLE_RULE.match(text) or grammar.skips(text, place):
        return 1, plain, False
    if (
        "|" in text
        and at + 1 < len(texts)
        and _TABLE_RULE.match(texts[at + 1])
        and "|" in texts[at + 1]
    ):
        return 2, plain, False
    return 1, place, True


def _level(heading: str) -> int:
    found = _HEADING.match(heading)
    return len(found[1]) if found else 7


def _comment(texts: list[str], at: int) -> int:
    """Lines of a comment that stands alone; 0 where text follows it or it never ends."""
    for end in range(at, len(texts)):
        _, closed, after = texts[end].partition("-->")
        if closed:
            while after.lstrip().startswith("<!--") and "-->" in after:
                after = after.partition("-->")[2]
            return 0 if after.strip() else end - at + 1
    return 0


def _front_matter(texts: list[str]) -> int:
    if not texts or texts[0].rstrip() != "---":
        return 0
    closing = next(
        (n for n, text in enumerate(texts[1:200], 1) if text.rstrip() in ("---", "...")), None
    )
    known = closing and all(
        re.match(r"^\s*(?:[\w-]+\s*:|-\s|#|$)", text) for text in texts[1:closing]
    )
    return closing + 1 if closing and known else 0


def _end(texts: list[str], at: int, place: Place, grammar: Grammar) -> int:
    """Return the line after the entry that begins at `at`."""
    end = _block(texts, at, at + 1)
    while end < len(texts):
        text = texts[end]
        if not text.strip() or _HEADING.match(text) or text.lstrip().startswith("<!--"):
            break
        deeper = len(text) - len(text.lstrip()) > len(texts[at]) - len(texts[at].lstrip())
        bullet = _BULLET.match(text)
        block = not bullet and (_FENCE.match(text) or text.lstrip().startswith("-----BEGIN "))
        joined = (deeper and not bullet) or grammar.goes_on(text, texts[end - 1], place)
        if not (joined or block):
            break
        end = _block(texts, end, end + 1)
    return end


def _block(texts: list[str], at: int, end: int) -> int:
    """Return the line after the fence or key that opens in line `at`, else `end`."""
    if fence := _FENCE.match(texts[at]):
        close = re.compile(rf"^\s*{re.escape(fence[1][0])}{{{len(fence[1])},}}\s*$")
        closed = next((n for n in range(at + 1, len(texts)) if close.match(texts[n])), None)
        return closed + 1 if closed else end
    if _KEY_BEGIN.search(texts[at]) and not _KEY_END.search(texts[at]):
        for n in range(at + 1, min(len(texts), at + 400)):
            if _KEY_END.search(texts[n]):
                return n + 1
            if not (_KEY_BODY.match(texts[n]) or not texts[n].strip()):
                return _trimmed(texts, end, n)
        return _trimmed(texts, end, min(len(texts), at + 400))
    return end


def _trimmed(texts: list[str], start: int, end: int) -> int:
    while end > start and not texts[end - 1].strip():
        end -= 1
    return end
