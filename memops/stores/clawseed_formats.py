"""clawseed's formats and habits: what it writes, cuts, skips, prunes and asks its index.

These are the pure functions of clawseed-memory at 06bebf7 (vector.rs, consolidation.rs,
curator.rs, hygiene.rs, chunker.rs, sqlite.rs), reproduced to explain what its stores hold.
"""

import json
import re
import struct
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

PRUNED = ("conversation", "daily")
"""The categories that clawseed's hygiene removes old rows of."""
CADENCE = timedelta(hours=12)

_SKIPPED = ("[cron:", "[heartbeat", "[distilled_")
_NOISE = ("[", "#")


def vector_bytes(vector: Sequence[float]) -> bytes:
    """Return a vector as clawseed stores it: little-endian 32-bit floats, no header."""
    return struct.pack(f"<{len(vector)}f", *vector)


def vector_of(blob: bytes) -> list[float]:
    """Return the vector of a blob; up to three bytes too many are dropped."""
    whole = len(blob) // 4
    return list(struct.unpack(f"<{whole}f", blob[: 4 * whole]))


def superseded(key: str, content: str) -> str:
    """Return the text that clawseed leaves of a memory that the one with this key replaced."""
    return f"[SUPERSEDED by '{key}'] {content}"


def turn_summary(text: str, most: int = 50) -> str:
    """Return what consolidation keeps of a turn: noise lines out, cut at some 50 bytes."""
    lines = [line for line in text.split("\n") if line.strip()]
    kept = " ".join(line for line in lines if not line.strip().startswith(_NOISE))
    return kept if len(kept.encode()) <= most else _cut(kept, most)


def curated(text: str, most: int = 50) -> str:
    """Return what the curator keeps of a text: whole up to 50 characters, else cut at 50 bytes."""
    return text if len(text) <= most else _cut(text, most)


def skipped_by_autosave(content: str) -> bool:
    """Whether clawseed's webhook passes a message over."""
    trimmed = content.strip()
    return (
        not trimmed
        or trimmed.startswith(_SKIPPED)
        or trimmed[:16].lower().startswith("[memory context]")
    )


def index_query(text: str) -> str:
    """Return the query that clawseed asks its index: every word quoted, joined by OR.

    A quotation mark inside a word is not escaped, which makes the query an error.
    """
    return " OR ".join(f'"{word}"' for word in text.split())


def curation(text: str) -> tuple[list[str], list[tuple[list[str], str]]] | None:
    """Return the keys to delete and the (keys, text) merges of a curator's answer.

    None for what clawseed cannot read; both parts are needed, and a fence must be closed.
    """
    fenced = re.fullmatch(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", text, re.S)
    try:
        said = json.loads(fenced[1] if fenced else text)
        merges = [(list(m["keys"]), str(m["merged_content"])) for m in said["merge"]]
        return [str(key) for key in said["delete"]], merges
    except (ValueError, KeyError, TypeError):
        return None


def cache_key(query: str, limit: int, session: str, namespace: str) -> str:
    """Return the key of a cached recall; times are no part of it."""
    return f"{query}:{limit}:{session}:{namespace}"


def floor_of(
    category: str, general: int | None, daily: int | None, conversation: int | None
) -> int:
    """Return the fewest live rows that hygiene leaves of a category."""
    own = {"daily": daily, "conversation": conversation}.get(category)
    return own if own is not None else general or 0


def pruned(
    rows: Sequence[Mapping[str, Any]], category: str, cutoff: str, floor: int
) -> list[Mapping[str, Any]]:
    """Return the rows that hygiene deletes: those last changed before a cutoff, compared as text.

    With a floor and too few live rows nothing goes; with a floor that bites only the oldest live
    rows go, and superseded ones stay for ever.
    """
    mine = [row for row in rows if row["category"] == category]
    old = [row for row in mine if row["updated_at"] < cutoff]
    live = sum(row["superseded_by"] is None for row in mine)
    expired = sorted(
        (row for row in old if row["superseded_by"] is None), key=lambda row: row["updated_at"]
    )
    if floor == 0:
        return old
    if live <= floor:
        return []
    return old if len(expired) <= live - floor else list(expired[: live - floor])


def hygiene_due(state: str | None, now: datetime) -> bool:
    """Whether hygiene would run, by its state file; one that cannot be read means yes."""
    try:
        found = json.loads(state or "")
        last, report = found["last_run_at"], found["last_report"]
        at = datetime.fromisoformat(last)
        counts = [report["pruned_conversation_rows"], report["pruned_daily_rows"]]
        return at.tzinfo is None or len(counts) != 2 or now - at >= CADENCE
    except (ValueError, KeyError, TypeError):
        return True


def conflict_mode(text: str) -> str:
    """Return a conflict mode in its canonical form; raises ValueError as clawseed words it."""
    lower = text.lower()
    if lower in ("jaccard", "combined"):
        return lower if lower == "jaccard" else "combined(j=0.4,c=0.4,b=0.2)"
    if not (lower.startswith("combined(") and lower.endswith(")")):
        known = "expected 'jaccard', 'combined', or 'combined(j=...,c=...,b=...)'"
        raise ValueError(f"unknown ConflictMode: '{lower}', {known}")
    given = _weights(lower[9:-1])
    if set(given) != {"j", "c", "b"}:
        raise ValueError(f"invalid combined weights: '{lower}'")
    return f"combined(j={given['j']:g},c={given['c']:g},b={given['b']:g})"


def merge_strategy(text: str) -> str:
    """Return a merge strategy in its canonical form; raises ValueError as clawseed words it."""
    lower = text.lower()
    if lower in ("rrf", "weighted"):
        return "rrf(k=60)" if lower == "rrf" else "weighted(v=0.7,kw=0.3)"
    for name, wanted in (("rrf", {"k"}), ("weighted", {"v", "kw"})):
        if lower.startswith(f"{name}(") and lower.endswith(")"):
            given = _weights(lower[len(name) + 1 : -1])
            if set(given) != wanted:
                raise ValueError(f"invalid {name} format: '{lower}'")
            shown = ",".join(f"{part}={value:g}" for part, value in given.items())
            return f"{name}({shown})"
    known = "expected 'rrf', 'weighted', 'rrf(k=...)', or 'weighted(v=...,kw=...)'"
    raise ValueError(f"unknown MergeStrategy: '{lower}', {known}")


def chunks(text: str, most_tokens: int) -> list[tuple[str | None, str]]:
    """Return (heading, content) pieces of Markdown of at most 4 x `most_tokens` bytes.

    Sections are split at headings up to ###, then at blank lines with the heading repeated, then
    at lines without it; a line is never split.
    """
    made: list[tuple[str | None, str]] = []
    for heading, body in _sections(text):
        whole = f"{heading}\n{body}" if heading else body
        if len(whole.encode()) <= 4 * most_tokens:
            made.append((heading, whole.strip()))
        else:
            made += [(heading, part.strip()) for part in _split(heading, body, 4 * most_tokens)]
    return [(heading, content) for heading, content in made if content]


def _sections(text: str) -> list[tuple[str | None, str]]:
    found: list[tuple[str | None, list[str]]] = [(None, [])]
    for line in text.splitlines():
        if re.match(r"#{1,3} ", line):
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return [(heading, "\n".join(lines)) for heading, lines in found]


def _split(heading: str | None, body: str, most: int) -> list[str]:
    start = f"{heading}\n" if heading else ""
    made, current = [], start
    for paragraph in (p.strip("\n") for p in re.split(r"\n\s*\n", body) if p.strip()):
        if len((start + paragraph).encode()) > most:
            made += [current] if current != start else []
            made += _lines(paragraph, most)
            current = start
            continue
        longer = f"{current}{paragraph}\n\n"
        if current != start and len(longer.rstrip("\n").encode()) > most:
            made.append(current)
            longer = f"{start}{paragraph}\n\n"
        current = longer
    return [*made, current] if current != start or not made else made


def _lines(paragraph: str, most: int) -> list[str]:
    made, current = [], ""
    for line in paragraph.split("\n"):
        longer = f"{current}{line}\n"
        if current and len(longer.encode()) > most:
            made.append(current)
            longer = f"{line}\n"
        current = longer
    return [*made, current]


def _cut(text: str, most: int) -> str:
    kept, size = "", 0
    for char in text:
        if size >= most:
            break
        kept, size = kept + char, size + len(char.encode())
    return (kept[: kept.rindex(" ")] if " " in kept else kept) + "…"


def _weights(text: str) -> dict[str, float]:
    try:
        pairs = [part.split("=") for part in text.split(",") if part]
        return {name.strip(): float(value) for name, value in pairs}
    except ValueError:
        return {}
