"""Examining notes: locks, what is passed over, and bytes."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from memops.errors import MemopsError
from memops.stores.findings import Finding, of_locks, of_modes
from memops.stores.markdown import MarkdownStore, files
from memops.stores.markdown.carry_leavings import TEMPORARY

_INVALID = re.compile("[\udc80-\udcff]")


def lacking() -> Iterator[str]:
    """Yield what this machine lacks to work with such a store."""
    if not Path("/proc/self/fd").is_dir():
        yield "no /proc: who has a note open is not seen, a grace must do"


def examined(
    store: MarkdownStore, own: Callable[[Path, dict[str, str]], Iterator[Finding]]
) -> Iterator[Finding]:
    """Yield what is to be said of a memory root, at last what its `own` kind says of the texts."""
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
        do = "look at their modes, and who writes them"
        yield Finding("unreadable", "warning", unread, says, do)
    yield from own(store.path, texts)


def _left(root: Path, paths: list[str]) -> Iterator[Finding]:
    folders = {(root / path).parent for path in paths}
    left = [p for folder in folders for p in folder.iterdir() if TEMPORARY.match(p.name)]
    if left:
        says = "files that an interrupted run of memops left"
        do = "memops resume; the next run settles them"
        yield Finding("left over", "warning", len(left), says, do)


def _texts(root: Path, paths: list[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        try:
            yield path, files.read(root, path)[0].decode("utf-8", "surrogateescape")
        except MemopsError:
            continue
