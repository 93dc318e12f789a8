"""Addresses: what names one thing by its shape: mail, URL, path, IP, telephone, version, identifier, date.

They are taken out before lexing. A private character stands for each in the text that is lexed.
"""

import re
from collections.abc import Iterator

from memops.values import shapes_ids as ids
from memops.values import shapes_net as net
from memops.values import shapes_times as times
from memops.values.lexicon import Lexicon, Word
from memops.values.shape import Shape

_FIRST, _MOST = 0xE000, 0x1000
_DOCK = re.compile(r"\d\D?\d")
_LETTERED = (net.MAIL, net.URL, net.PATH, net.FILE, net.SHORT_IP6)
_NUMERIC = (
    ids.UUID, net.MAC, net.IP6, net.IP4, times.DATE, times.CLOCK, ids.CARD, net.PHONE, ids.CODE, ids.VERSION,
)  # fmt: skip
"""Shapes in the order in which they take what two fit; the second ones hold several digits."""


def masked(low: str, lex: Lexicon, plain: str) -> tuple[str, dict[str, Word]]:
    """Return a text in lower case with a private character for each address, and what these are."""
    known: dict[str, Word] = {}
    spans = [
        (m, word)
        for _, pattern, read in _wanted(low, lex)
        for m in pattern.finditer(low)
        if (word := read(m, lex, plain[m.start() : m.end()]))
    ]
    if not spans:
        return low, known
    out, at = [], 0
    taken = bytearray(len(low))
    kept = []
    for match, word in spans:
        start, end = match.span()
        end -= (
            len(match[0]) - len(match[0].rstrip(" .,;:!?/"))
            if "://" in match[0] or "." in match[0][-1:]
            else 0
        )
        if end > start and not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            kept.append((start, end, word))
    for start, end, word in sorted(kept, key=lambda one: one[0])[:_MOST]:
        sign = chr(_FIRST + len(known))
        known[sign] = word
        out.append(low[at:start] + sign * (end - start))
        at = end
    out.append(low[at:])
    return "".join(out), known


def _wanted(low: str, lex: Lexicon) -> Iterator[Shape]:
    """The shapes that may fit, by characters that each needs."""
    several = _NUMERIC if _DOCK.search(low) else (ids.LONE_VERSION,)
    yield from (shape for shape in (*_LETTERED, *several) if shape.needs(low))
    yield from ids.house(low, lex)
