"""Examining an OpenClaw workspace: its generation, sizes, and what an edit would cost."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from memops.errors import MemopsError
from memops.policy.safety import Secrets
from memops.safety.looked import found
from memops.stores.findings import Finding
from memops.stores.markdown import doctor, files
from memops.stores.openclaw import generation, home
from memops.stores.openclaw.grammar import INSTRUCTIONS
from memops.stores.openclaw.provenance import standing

INJECTED = {"MEMORY.md": 20_000, "USER.md": 4_000}
"""Characters of a file that OpenClaw puts before a session; the rest is cut."""


def _openclaw(root: Path, texts: dict[str, str]) -> Iterator[Finding]:
    which = generation(root)
    says = f"generation {which}" if which != "unknown" else "no database of OpenClaw's beside it"
    yield Finding("generation", "info", 1, says, "A to mid 2026, B is 2026.7, C since 2026.9")
    yield from _provenance(root)
    yield from _secrets(root, texts)
    for path, limit in INJECTED.items():
        if (size := len(texts.get(path, ""))) > limit:
            says = f"{path} has {size} characters; a session is given the first {limit}"
            yield Finding("size", "warning", 1, says, "plan and apply: merged notes are shorter")


def _secrets(root: Path, texts: dict[str, str]) -> Iterator[Finding]:
    """Secrets that no rule takes out: in files that tell the agent how to act, and in headings."""
    policy = Secrets()
    policy = replace(policy, off=[*policy.off, *policy.documents])
    heads = {name: re.sub(r"(?m)^(?!#{1,6}\s).*$", "", text) for name, text in texts.items()}
    for name in INSTRUCTIONS:
        with contextlib.suppress(MemopsError):
            heads[name] = files.read(root, name)[0].decode("utf-8", "replace")
    for name, text in sorted(heads.items()):
        hits = found(pl.Series(text.splitlines(), dtype=pl.String), policy)
        if lines := sorted({row + 1 for row in hits["row"]}):
            more = ", ..." if len(lines) > 5 else ""
            named = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:5]))}{more}"
            do = "take them out by hand: no plan changes it"
            yield Finding("secrets", "warning", len(lines), f"{name} holds secrets: {named}", do)


def _provenance(root: Path) -> Iterator[Finding]:
    """What OpenClaw knows of files' origin, and what an edit does to that."""
    stand = standing(home(root), root)
    doubted, edited = ([row.path for row in some] for some in (stand.doubted, stand.edited))
    whole = [r.path for r in stand.kept if r.path in stand.now.keys() - {*doubted, *edited}]
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


lacking = doctor.lacking
examined = partial(doctor.examined, own=_openclaw)
