"""Forgetting in Markdown: a file's bytes without some of its entries, the others kept."""

from collections import Counter
from collections.abc import Collection
from itertools import groupby

from memops.documents.editing import without as taken
from memops.documents.lines import bare
from memops.documents.reading import parse
from memops.documents.units import FORGOTTEN, Document
from memops.errors import MemopsError
from memops.stores.markdown.carry import Build
from memops.stores.markdown.entries import Grammar, entries, of_document
from memops.stores.markdown.records import identified, path_of


def without(data: bytes, path: str, ids: Collection[str], grammar: Grammar) -> bytes:
    """Return a file without these entries, their own comments and the headings over none.

    Where lines would read differently without one, a comment that says nothing stands in for it.
    Raises MemopsError where even that would change what the others say.
    """
    document = parse(data, path, grammar)
    found = identified(of_document(document, grammar))
    gone = {entry.unit for key, entry in found if key in ids}
    left, went = taken(document, gone, path, grammar)
    if len(went) == len(gone):
        return left
    made = _marked(document, gone)
    now = parse(made, path, grammar)
    others = Counter(document.raw(u) for n, u in enumerate(document.units) if n not in gone)
    if Counter(map(now.raw, now.units)) == others:
        return made
    said = f"{path}: the lines around would read differently without what is to be forgotten"
    raise MemopsError(said, "edit the file by hand, with the agent stopped")


def by_file(ids: Collection[str]) -> dict[str, set[str]]:
    """Return the ids of entries by the file that each names, files in order."""
    named = sorted((path_of({"id": key}) or "", key) for key in ids)
    pairs = groupby(named, key=lambda pair: pair[0])
    return {path: {key for _, key in group} for path, group in pairs if path}


def cutting(path: str, ids: Collection[str], grammar: Grammar) -> Build:
    """Return what gives a file without these entries, or None where it has none of them."""

    def build(data: bytes | None) -> bytes | None:
        there = identified(entries(data, path, grammar)) if data else []
        if not data or not any(key in ids for key, _ in there):
            return None
        return without(data, path, ids, grammar)

    return build


def _marked(document: Document, gone: Collection[int]) -> bytes:
    lines = list(document.lines)
    for nth in sorted(gone, reverse=True):
        unit = document.units[nth]
        last = lines[unit.stop - 1]
        lines[unit.start : unit.stop] = [FORGOTTEN.encode() + last[len(bare(last)) :]]
    return document.bom + b"".join(lines)
