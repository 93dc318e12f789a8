"""Examining a XingheBot root: the layout and size of its MEMORY.md."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from memops.stores.findings import Finding
from memops.stores.markdown import doctor

CURATED = 1_000
"""Characters of MEMORY.md that XingheBot keeps at its next update, counted as runes."""
_STAMP = re.compile(r"<!-- memory_md_update: ")


def _xinghebot(root: Path, texts: dict[str, str]) -> Iterator[Finding]:
    curated = texts.get("MEMORY.md")
    if curated is None:
        yield Finding("layout", "info", 1, "no MEMORY.md", "XingheBot makes it when it next starts")
        return
    if not curated.startswith("# MEMORY"):
        says = "MEMORY.md does not begin with '# MEMORY'"
        do = "put the heading back; its updates are made under it"
        yield Finding("layout", "warning", 1, says, do)
    if not _STAMP.search(curated):
        says = "MEMORY.md has no stamp of an update"
        yield Finding("stamp", "info", 1, says, "XingheBot sets one at its next update")
    if len(curated) > CURATED:
        says = f"MEMORY.md has {len(curated)} characters; the next update keeps {CURATED}"
        yield Finding("size", "warning", 1, says, "shorten it: the Notes section goes first")


lacking = doctor.lacking
examined = partial(doctor.examined, own=_xinghebot)
