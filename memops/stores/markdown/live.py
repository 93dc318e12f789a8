"""Live Markdown: the entries of a root's files as they are, parsed again only where a file changed."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from memops.schema import COUNTS, DEFAULTS
from memops.stores.markdown import files
from memops.stores.markdown.entries import Entry, Grammar, entries
from memops.stores.markdown.records import identified

Entries = list[tuple[str, Entry]]


@dataclass(frozen=True)
class Parsed:
    """A file's entries, how many live ones of each kind, and the state in which it was read."""

    state: tuple[int, int, int]
    entries: Entries
    kinds: Counter[str]


class LiveFiles:
    """The files of a memory root; whoever writes one through it makes it `forget` that one."""

    def __init__(
        self,
        root: Path,
        wanted: Callable[[str], bool],
        reads: Callable[[str], bool],
        grammar: Grammar,
    ) -> None:
        self.root, self.wanted, self.reads, self.grammar = root, wanted, reads, grammar
        self._parsed: dict[str, Parsed] = {}

    def all(self, among: Collection[str | None] | None = None) -> Iterator[tuple[str, Parsed]]:
        """Yield every file, or every one of some, by path."""
        for found in files.walk(self.root, self.wanted):
            if not found.why and self.reads(found.path) and (among is None or found.path in among):
                yield found.path, self._read(found)

    def one(self, path: str) -> Entries:
        """Return the entries of one file; none where no memory file is."""
        if not (self.wanted(path) and self.reads(path)):
            return []
        found = files.found(self.root, path)
        return self._read(found).entries if found and not found.why else []

    def counts(self, path: str, own: Entries, kinds: Collection[str], most: int) -> pl.DataFrame:
        """Return live records by scope and kind (COUNTS): of these kinds all, or `most` of each or more."""
        seen = _live_kinds(own)
        for other, parsed in self.all():
            if all(seen[kind] >= most for kind in kinds):
                break
            if other != path:
                seen.update(parsed.kinds)
        rows = [(DEFAULTS["scope"], kind, None, seen[kind]) for kind in sorted(kinds) if seen[kind]]
        return pl.DataFrame(rows, schema=COUNTS, orient="row")

    def forget(self, path: str) -> None:
        """Parse a file anew when it is asked for next."""
        self._parsed.pop(path, None)

    def _read(self, found: files.Found) -> Parsed:
        info = found.stat
        known = self._parsed.get(found.path)
        # Replacing keeps the time stamp, and a same-sized edit could keep all three: the
        # inode of our own replacement is new, so only a write in the same tick can hide.
        if known is None or known.state != (info.st_ino, info.st_size, info.st_mtime_ns):
            data, info = files.read(self.root, found.path)
            listed = identified(entries(data, found.path, self.grammar))
            state = (info.st_ino, info.st_size, info.st_mtime_ns)
            known = self._parsed[found.path] = Parsed(state, listed, _live_kinds(listed))
        return known


def _live_kinds(listed: Sequence[tuple[str, Entry]]) -> Counter[str]:
    return Counter(e.fields["kind"] for _, e in listed if "superseded_by" not in e.fields)
