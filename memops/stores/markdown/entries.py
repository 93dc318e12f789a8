"""Markdown entries: the units of a file as an agent's grammar reads them, each to be a record.

`prefix + text + suffix` of an entry is always its exact bytes.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from memops.documents.forms import accounts, form_of, subject_of
from memops.documents.lines import decoded, encoded
from memops.documents.reading import parse
from memops.documents.units import Dialect, Document, Place

WORDS = ("", "item", "paragraph", "turn")
"""Kinds of units that are notes in words, with marks before and behind; '' is one not yet read."""


@dataclass(frozen=True)
class Entry:
    """One memory: `height` lines from `line` (from 1) on, after the comments that belong to it."""

    place: Place
    line: int
    height: int
    prefix: str
    text: str
    suffix: str
    fields: dict[str, Any] = field(default_factory=dict)
    kind: str = ""
    unit: int = -1

    @property
    def raw(self) -> bytes:
        """The entry's bytes, without the end of its last line."""
        return encoded(self.prefix + self.text + self.suffix)

    @cached_property
    def digest(self) -> str:
        """The part of its id that its bytes give."""
        return digest_of(self.raw)


class Grammar(Dialect):
    """What the files of one kind of workspace are for, and what their units say."""

    def role(self, place: Place) -> str:
        """Return what a place is for (schema.ROLES)."""
        raise NotImplementedError

    def split(self, text: str, place: Place, kind: str) -> tuple[str, str, str, dict[str, Any]]:
        """Return prefix, text, suffix and the record's columns that they and the place give."""
        raise NotImplementedError


def digest_of(raw: bytes) -> str:
    """Return what an entry's bytes give to its id."""
    return hashlib.sha256(raw).hexdigest()[:12]


def parted(
    text: str, start: int, end: int, fields: Callable[[str, str], dict[str, Any]]
) -> tuple[str, str, str, dict[str, Any]]:
    """Return what stands before, in and behind a range of a text, and the columns that `fields` tells."""
    said = text[start:end].rstrip()
    end = start + len(said)
    return text[:start], said, text[end:], fields(text[end:], said)


def entries(data: bytes, path: str, grammar: Grammar) -> Iterator[Entry]:
    """Yield the entries of a file in order."""
    return of_document(parse(data, path, grammar), grammar)


def of_document(document: Document, grammar: Grammar) -> Iterator[Entry]:
    """Yield the entries of a parsed file; one with an unfinished merge in it is only read."""
    titled, sessions = _titled(document), accounts(document)
    for nth, unit in enumerate(document.units):
        whole = decoded(document.raw(unit))
        prefix, text, suffix, fields = grammar.split(whole, unit.place, unit.kind)
        if not text.strip():
            continue
        role = "machine" if document.conflict else grammar.role(unit.place)
        kind = "turn" if fields.get("kind") == "session" else unit.kind
        told = unit.frame in sessions
        fields = {"form": form_of(whole, text, kind, unit.place, role, told)} | fields
        fields |= {
            "subject": subject_of(unit.place, role, titled),
            "role": role,
            "block": unit.block,
            "_readonly": fields.get("_readonly") or document.conflict,
            "_repeats": document.repeated(unit.line),
        }
        height = unit.stop - unit.line
        yield Entry(unit.place, unit.line + 1, height, prefix, text, suffix, fields, unit.kind, nth)


def _titled(document: Document) -> bool:
    """Tell whether the first heading is the title of the whole file."""
    top = [frame for frame in document.frames if frame.level == 1]
    said = (unit.start for unit in document.units if unit.kind not in ("matter", "comment"))
    first = next(said, 0)
    return len(top) == 1 and document.frames[0].level == 1 and document.frames[0].start <= first
