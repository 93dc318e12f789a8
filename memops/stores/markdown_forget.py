"""Forgetting in Markdown: a file's bytes without some of its entries, the others kept."""

from collections import Counter
from collections.abc import Collection
from itertools import groupby

from memops.errors import MemopsError
from memops.stores.carry import Build
from memops.stores.markdown_edit import FileState
from memops.stores.markdown_lines import Entry, Grammar, bare, entries
from memops.stores.markdown_records import identified, path_of

_MARK = b"<!-- forgotten -->"


def without(data: bytes, path: str, ids: Collection[str], grammar: Grammar) -> bytes:
    """Return a file without these entries and the comments that belong to them.

    Where lines would read differently without one, a comment that says nothing stands in for it.
    Raises MemopsError where even that would change what the others say.
    """
    state = FileState.read(path, data, grammar)
    gone = [entry for key, entry in state.found if key in ids]
    others = Counter(entry.raw for key, entry in state.found if key not in ids)
    beneath = [entry for entry in gone if _over_others(state, entry, ids)]
    for marked in (beneath, gone):
        made = _cut(state, gone, marked)
        if Counter(entry.raw for entry in entries(made, path, grammar)) == others:
            return made
    raise MemopsError(
        f"{path}: the lines around would read differently without what is to be forgotten",
        "edit the file by hand, with the agent stopped",
    )


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


def _over_others(state: FileState, entry: Entry, ids: Collection[str]) -> bool:
    """Tell whether a point that stays is indented beneath the entry."""
    indent = len(entry.prefix) - len(entry.prefix.lstrip())
    after = entry.line + entry.height
    return any(
        other.line == after and len(other.prefix) - len(other.prefix.lstrip()) > indent
        for key, other in state.found
        if key not in ids
    )


def _cut(state: FileState, gone: list[Entry], marked: list[Entry]) -> bytes:
    lines = list(state.lines)
    for entry in sorted(gone, key=lambda e: e.line, reverse=True):
        last = lines[entry.line - 2 + entry.height]
        mark = [_MARK + last[len(bare(last)) :]] if entry in marked else []
        lines[entry.first - 1 : entry.line - 1 + entry.height] = mark
    return state.bom + b"".join(lines)
