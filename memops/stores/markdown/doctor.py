"""Examining notes: locks, what is passed over, bytes, sizes, and what an edit would cost."""

import re
from collections.abc import Iterator
from pathlib import Path

from memops.errors import MemopsError
from memops.stores.findings import Finding, of_locks, of_modes
from memops.stores.markdown import MarkdownStore, files
from memops.stores.markdown.carry_leavings import TEMPORARY
from memops.stores.openclaw import OpenClaw, generation, home
from memops.stores.openclaw.provenance import UNTRUSTED, contents, rows
from memops.stores.xinghebot import XingheBot

INJECTED = {"MEMORY.md": 20_000, "USER.md": 4_000}
"""Characters of a file that OpenClaw puts before a session; the rest is cut."""
CURATED = 1_000
"""Characters of MEMORY.md that XingheBot keeps at its next update, counted as runes."""

_INVALID = re.compile("[\udc80-\udcff]")
_STAMP = re.compile(r"<!-- memory_md_update: ")


def examined(store: MarkdownStore) -> Iterator[Finding]:
    """Yield what is to be said of a memory root."""
    found = list(files.walk(store.path, store.wanted))
    if passed := [f"{f.path}: {f.why}" for f in found if f.why]:
        says = f"files that are passed over: {'; '.join(passed[:5])}"
        yield Finding("passed over", "warning", len(passed), says, "put plain files in their place")
    paths = [f.path for f in found if not f.why]
    yield from of_modes(store.path / path for path in paths)
    yield from of_locks({lock.path: lock for p in paths for lock in store.locks(p)}.values())
    yield from _left(store.path, paths)
    texts = dict(_texts(store.path, paths))
    if broken := [path for path, text in texts.items() if _INVALID.search(text)]:
        says = f"files with bytes that are no UTF-8: {', '.join(broken[:5])}"
        yield Finding("texts", "info", len(broken), says, "they are kept as they are")
    if unread := len(paths) - len(texts):
        says = "files that could not be read in one state"
        yield Finding(
            "unreadable", "warning", unread, says, "look at their modes, and who writes them"
        )
    if isinstance(store, OpenClaw):
        yield from _openclaw(store.path, texts)
    if isinstance(store, XingheBot):
        yield from _xinghebot(texts)


def _left(root: Path, paths: list[str]) -> Iterator[Finding]:
    folders = {(root / path).parent for path in paths}
    left = [p for folder in folders for p in folder.iterdir() if TEMPORARY.match(p.name)]
    if left:
        says = "files that an interrupted run of memops left"
        yield Finding(
            "left over", "warning", len(left), says, "memops resume; the next run settles them"
        )


def _texts(root: Path, paths: list[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        try:
            yield path, files.read(root, path)[0].decode("utf-8", "surrogateescape")
        except MemopsError:
            continue


def _openclaw(root: Path, texts: dict[str, str]) -> Iterator[Finding]:
    which = generation(root)
    says = f"generation {which}" if which != "unknown" else "no database of OpenClaw's beside it"
    yield Finding("generation", "info", 1, says, "A to mid 2026, B is 2026.7, C since 2026.9")
    yield from _provenance(root)
    for path, limit in INJECTED.items():
        if (size := len(texts.get(path, ""))) > limit:
            says = f"{path} has {size} characters; a session is given the first {limit}"
            yield Finding("size", "warning", 1, says, "plan and apply: merged notes are shorter")


def _provenance(root: Path) -> Iterator[Finding]:
    """What OpenClaw knows of files' origin, and what an edit does to that."""
    kept = rows(home(root), root)
    now = contents(root, [row.path for row in kept])
    doubted = [row.path for row in kept if row.origin == UNTRUSTED]
    edited = [r.path for r in kept if r.path not in doubted and r.edited(now.get(r.path))]
    whole = [r.path for r in kept if r.path in now and r.path not in {*doubted, *edited}]
    if whole:
        says = (
            f"files whose origin OpenClaw keeps: {', '.join(whole[:5])}; after an edit from outside "
            "its agent's next write makes such a file untrusted for good: it is not read out again"
        )
        do = "let facts go to memory/memops/, which has no such row; leave these to the agent"
        yield Finding("provenance", "warning", len(whole), says, do)
    if edited:
        says = (
            f"files edited since the agent wrote them: {', '.join(edited[:5])}; its next write "
            "makes them untrusted for good"
        )
        do = "if you vouch for them as they are: `memops store doctor STORE --repair provenance`"
        yield Finding("edited", "warning", len(edited), says, do)
    if doubted:
        says = f"files that OpenClaw no longer trusts: {', '.join(doubted[:5])}"
        do = "if you vouch for them as they are: `memops store doctor STORE --repair untrusted`"
        yield Finding("untrusted", "error", len(doubted), says, do)


def _xinghebot(texts: dict[str, str]) -> Iterator[Finding]:
    curated = texts.get("MEMORY.md")
    if curated is None:
        yield Finding("layout", "info", 1, "no MEMORY.md", "XingheBot makes it when it next starts")
        return
    if not curated.startswith("# MEMORY"):
        says = "MEMORY.md does not begin with '# MEMORY'"
        yield Finding(
            "layout", "warning", 1, says, "put the heading back; its updates are made under it"
        )
    if not _STAMP.search(curated):
        says = "MEMORY.md has no stamp of an update"
        yield Finding("stamp", "info", 1, says, "XingheBot sets one at its next update")
    if len(curated) > CURATED:
        says = f"MEMORY.md has {len(curated)} characters; the next update keeps {CURATED}"
        yield Finding("size", "warning", 1, says, "shorten it: the Notes section goes first")
