"""Forms and subjects: how a unit speaks, and what its place says that it speaks of.

Told by structure alone, so that they hold in every language: a box is a task, a time at the head
an event, `label: value` an attribute. What words mean is not read here.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from memops.documents.leads import CLOCK, DATE, attribute
from memops.documents.units import Document, Place
from memops.schema import SUBJECT

TITLED = ("curated", "profile", "daily", "session")
"""Roles of files whose title names the file or the day, and nothing that the text is about."""

_KINDS = {
    "turn": "quotation", "quote": "quotation", "table": "table", "code": "code", "matter": "code",
    "comment": "generated",
}  # fmt: skip
_BULLET = re.compile(r"^\s*(?:(?:[-*+•‣▪◦]|\d{1,9}[.)])(?:\s+|$))?")
_BOX = re.compile(r"^\[[ xX~/-]\]\s")
_TIME = re.compile(
    r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AaPp]\.?[Mm]\b\.?)?"
    r"(?:\s*(?:UTC|GMT|Z)\b(?:[+-]\d{1,2})?)?"
)
_STAMP = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{1,2}:\d{2}|^[A-Z][a-z]{2} {1,2}\d{1,2} \d{2}:\d{2}:\d{2}"
)
"""A day with its time, as software writes when something was done."""
_EMPHASIS = re.compile(r"(?<!\w)(_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_OWN = "-_~=+$"  # marks that belong to the word which they touch
_DAY = re.compile(r"(?<!\d)\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?(?!\d)")


def form_of(whole: str, text: str, kind: str, place: Place, role: str, told: bool = False) -> str:
    """Return how a unit of this kind speaks (schema.FORMS): `whole` is all of it, `text` what it
    states, without the marks before it; `told`: as a part of an account of some hours.
    """
    if role == "machine" or place.managed:
        return "generated"
    if kind in _KINDS:
        return _KINDS[kind]
    said = _BULLET.sub("", whole, count=1)
    if _BOX.match(said):
        return "task"
    if CLOCK.match(said) or DATE.match(said) or _STAMP.search(text.partition("\n")[0]):
        return "event"
    if role == "instructions":
        return "instruction"
    if kind in ("item", "paragraph") and attribute(text):
        return "attribute"
    return "event" if told else "claim"


def accounts(document: Document) -> set[int]:
    """Return the sections (frames) that tell what was done at a time of the day.

    Their heading has a time and a name, and more than one note stands under it, or further headings
    do; a time over a single note only says when that was written down.
    """
    units = Counter(unit.frame for unit in document.units)
    parted = {frame.parent for frame in document.frames} | {n for n in units if units[n] > 1}
    named = {n for n, frame in enumerate(document.frames) if _session(frame.text)} & parted
    return {n for n in range(len(document.frames)) if named.intersection(document.over(n))}


@lru_cache(maxsize=4096)
def _session(heading: str) -> bool:
    return bool(_TIME.search(heading) and _plain(heading))


def subject_of(place: Place, role: str, titled: bool = False) -> str | None:
    """Return the headings and labels over a unit as a subject; None where nothing is over it.

    Days and times, numbers in front, emphasis and the colon at the end are left out: they say when
    and which, not what. `titled` says that the first heading is the file's title; for a file of
    notes on a subject that names it, for others it is left out. A file on a subject that has no
    title goes by its name.
    """
    under = place.under[1:] if titled and role in TITLED else place.under
    parts = [part for text in (*under, *place.leads) if (part := _plain(text))]
    if role == "topic" and not titled:
        parts.insert(0, re.sub(r"\.md$", "", place.path.rpartition("/")[2]))
    return SUBJECT.join(parts) or None


@lru_cache(maxsize=4096)
def _plain(heading: str) -> str:
    """A heading or label in plain words, each of them whole: of less, none could tell a key."""
    text = re.sub(r"^\s*(?:#{1,6}\s+|[-*+•]\s+)", "", heading)
    text = re.sub(r"[*`]+", "", _TIME.sub(" ", _DAY.sub(" ", text)))
    text = _EMPHASIS.sub(r"\2", text)
    text = re.sub(r"^\s*\d{1,3}[.)、．]\s*", "", " ".join(text.split()))
    start, end = 0, len(text)
    while start < end and not _said(text[start]):
        start += 1
    while end > start and not _said(text[end - 1]) and text[end - 1] not in ")）]】”’\"'%+#":
        end -= 1
    while start and text[start - 1] in _OWN:
        start -= 1
    while text[end : end + 1] in _OWN and end < len(text):
        end += 1
    plain = re.sub(r"\(\s*\W*\s*\)|（\s*\W*\s*）|\[\s*\W*\s*\]", "", text[start:end]).strip()
    return plain.replace(SUBJECT.strip(), ">") if any(map(_said, plain)) else ""


def _said(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] in "LN" or char in "([（【“‘\"'@#/."
