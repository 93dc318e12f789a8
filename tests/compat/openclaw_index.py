"""OpenClaw's index, recall and provenance beside its files, ported from its sources.

markdown-chunks.ts and the memory index as released in 2026.9.6 (chunking version 5), its path
ranking, and what it keeps of the trust of a file when an agent has written it.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memops.stores.openclaw.provenance import AGENT, UNTRUSTED, content_hash

_PER_TOKEN = 4
_LEAST = 32
_WIDE = re.compile(
    "[\u2e80-\u9fff\ua000-\ua4ff\uac00-\ud7af\uf900-\ufaff\uff01-\uff60\uffe0-\uffe6"
    "\U00020000-\U0003134f]"
)
_ENTRY = re.compile(
    r"- |#{1,6}(?:\s|$)"
)  # curatedMarkdownEntryKind: no other bullet, none that is indented
_DAILY = re.compile(r"(?:^|/)(?:memory/)?\d{4}-\d{2}-\d{2}(?:-[^/]+)?\.md$")
_CORPUS = re.compile(r"(?:^|/)memory/\.dreams/session-corpus/\d{4}-\d{2}-\d{2}\.(?:md|txt)$")


@dataclass(frozen=True)
class Chunk:
    """What one row of the index holds: lines, counted from 1, and their text."""

    start: int
    end: int
    text: str
    entry: tuple[int, int] | None = None
    """The lines of the curated entry that it is, or is a part of."""

    @property
    def hash(self) -> str:
        """The part of the chunk's id that its text gives."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def chunks(
    content: str, tokens: int = 400, overlap: int = 80, per_entry: bool = False
) -> list[Chunk]:
    """Return a file as the index has it; `per_entry` for MEMORY.md and USER.md since 2026.9.

    A token counts four characters, a wide character one token; a chunk has 32 at least.
    """
    lines = list(enumerate(content.split("\n"), 1))
    parts = _sections(lines) if per_entry else [lines]
    most, back = max(_LEAST, tokens * _PER_TOKEN), max(0, overlap * _PER_TOKEN)
    return [
        replace(chunk, entry=_span(part) if per_entry else None)
        for part in parts
        for chunk in _filled(part, most, back, max(1, tokens))
    ]


def _span(part):
    return (part[0][0], part[-1][0]) if part[0][1].startswith("- ") else None


def chunk_id(source: str, path: str, chunk: Chunk, model: str = "fts-only") -> str:
    """Return the id of a chunk in the index."""
    key = f"{source}:{path}:{chunk.start}:{chunk.end}:{chunk.hash}:{model}"
    return hashlib.sha256(key.encode()).hexdigest()


def entry_key(source: str, path: str, start: int, end: int, claim: str = "") -> str:
    """Return the key under which a line's recalls are counted and its promotion is marked."""
    return ":".join([source, path, str(start), str(end), *([claim] if claim else [])])


def query_hash(query: str) -> str:
    """Return the name under which a query is counted."""
    return hashlib.sha1(query.strip().lower().encode(), usedforsecurity=False).hexdigest()[:12]


def is_short_term(path: str) -> bool:
    """Tell whether lines of a file may be promoted: daily notes and the session corpus."""
    if path.startswith("memory/dreaming/") or "/memory/dreaming/" in path:
        return False
    return bool(_DAILY.search(path) or _CORPUS.search(path))


def path_specificity(query, path):
    """Return 3 for the exact path, 2 for its last part, 1 for that without suffix, else 0."""
    query, name = query.strip().lower(), path.lower().rsplit("/", 1)[-1]
    if query == path.lower():
        return 3
    return 2 if query == name else 1 if query == name.rsplit(".", 1)[0] else 0


def after_write(known, before, after, by=AGENT):
    """Return hash and origin that OpenClaw keeps once a file is written, from those it kept."""
    trusted = known is None or (known[1] == AGENT and known[0] == content_hash(before))
    return content_hash(after), AGENT if by == AGENT and trusted else UNTRUSTED


def _sections(lines: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Each heading and each bullet with the lines that follow it."""
    part: list[tuple[int, str]] = []
    for number, text in lines:
        if part and _ENTRY.match(text):
            yield part
            part = []
        part.append((number, text))
    yield part


def _filled(lines: Sequence[tuple[int, str]], most: int, back: int, step: int) -> Iterator[Chunk]:
    current: list[tuple[int, str]] = []
    for number, line in lines:
        for piece in _pieces(line, most, step):
            if current and _size(current) + _weight(piece) + 1 > most:
                yield _chunk(current)
                current = _kept(current, back)
            current.append((number, piece))
    if current:
        yield _chunk(current)


def _kept(current: Sequence[tuple[int, str]], back: int) -> list[tuple[int, str]]:
    kept: list[tuple[int, str]] = []
    for item in reversed(current):
        if _size([*kept, item]) > back:
            break
        kept.insert(0, item)
    return kept


def _pieces(line: str, most: int, step: int) -> list[str]:
    coarse = [line[at : at + most] for at in range(0, len(line), most)] or [""]
    return [
        fine
        for part in coarse
        for fine in (
            [part]
            if _weight(part) <= most
            else [part[at : at + step] for at in range(0, len(part), step)]
        )
    ]


def _weight(text: str) -> int:
    return len(text) + len(_WIDE.findall(text)) * (_PER_TOKEN - 1)


def _size(lines: Sequence[tuple[int, str]]) -> int:
    return sum(_weight(text) + 1 for _, text in lines)


def _chunk(lines: Sequence[tuple[int, str]]) -> Chunk:
    return Chunk(lines[0][0], lines[-1][0], "\n".join(text for _, text in lines))
