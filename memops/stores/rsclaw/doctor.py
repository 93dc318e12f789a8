"""Examining a gateway's memory: rows that rsclaw cannot parse, vectors, the file's state."""

import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memops.errors import Corrupt
from memops.stores.findings import Finding, of_modes, of_openers, of_widths


def examined(store: Any) -> Iterator[Finding]:
    """Yield what is to be said of a file; of an API nothing, since it tells only its records."""
    path = getattr(store, "path", None)
    if path is None:
        says = "an API gives records only: rows that it cannot parse are not in them"
        yield Finding("api", "info", 1, says, "examine memory.redb itself, too")
        return
    yield from of_openers(path)
    yield from of_modes([path])
    with tempfile.TemporaryDirectory(prefix="memops-") as folder:
        try:
            notes = store.copy(Path(folder))
        except Corrupt as error:
            yield Finding("damage", "error", 1, error.message, error.hint or "restore a snapshot")
            return
    if lost := notes["unparsed"]:
        says = f"rows that rsclaw passes over: {', '.join(notes['unparsed_ids'][:5])}"
        do = "they are kept byte for byte; mend them from a backup in var/backups"
        yield Finding("rows", "warning", lost, says, do)
    if notes["recovery_required"]:
        says = "the file asks for its recovery: a gateway was cut off, or memops built it anew"
        yield Finding("recovery", "info", 1, says, "rsclaw does it when it next starts")
    widths = {int(width): n for width, n in notes["vector_widths"].items()}
    if empty := widths.pop(0, 0):
        says = "rows without a vector: only words find them"
        yield Finding("vectors", "info", empty, says, "rsclaw embeds them when it next starts")
    yield from of_widths(widths)


def lacking() -> Iterator[str]:
    """Yield what this machine lacks to work with such a store."""
    if find_spec("xxhash") is None:
        yield "xxhash is not installed: page checksums cannot be verified"
