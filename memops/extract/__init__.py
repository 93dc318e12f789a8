"""Extraction: from notes in Chinese and English to typed, keyed facts in the third person.

Deterministic and without a network: cues of the lexicons, checked values, and rules of modality
that say which sentences assert nothing.
"""

from dataclasses import dataclass
from typing import Any

import polars as pl

from memops.extract.modality import BARS
from memops.extract.reading import CANDIDATES, read
from memops.policy import Policy

__all__ = ["CANDIDATES", "Candidate", "facts", "inspect", "read"]


@dataclass(frozen=True)
class Candidate:
    """One fact that a note holds: `span` is its evidence, in characters of the note."""

    kind: str
    text: str
    entity_key: str | None
    confidence: float
    span: tuple[int, int]
    tier: str
    importance: float
    pinned: bool


def facts(text: str, lang: str | None = None) -> list[Candidate]:
    """Return the facts of one note; `lang` (zh, en) keeps only statements in that language."""
    policy = Policy()
    found, _, _ = read(pl.DataFrame({"text": [text]}), policy)
    if lang is not None:
        han = pl.col("text").str.contains(r"\p{Han}")
        found = found.filter(han if lang == "zh" else ~han)
    return [
        Candidate(
            row["kind"],
            row["text"],
            row["key"],
            row["confidence"],
            (row["start"], row["end"]),
            "core" if row["kind"] in policy.extract.core else "working",
            policy.extract.importance.get(row["kind"], 0.65),
            row["kind"] in policy.extract.pinned,
        )
        for row in found.to_dicts()
    ]


def inspect(text: str, policy: Policy | None = None) -> list[dict[str, Any]]:
    """Return what extraction makes of a text: candidates with their spans, and what was passed
    over and why, in reading order.
    """
    found, parts, verdicts = read(pl.DataFrame({"text": [text]}), policy or Policy())
    if (why := verdicts["noise"][0]) is not None:
        return [{"start": 0, "end": len(text), "passed_over": why}]
    kept = [
        {
            "start": row["start"],
            "end": row["end"],
            "kind": row["kind"],
            "text": row["text"],
            "entity_key": row["key"],
            "confidence": row["confidence"],
            "cue": row["cue"],
        }
        for row in found.to_dicts()
    ]
    passed = [
        {
            "start": row["start"],
            "end": row["end"],
            "passed_over": BARS.get(row["barred"] or "", "nothing lasting is said"),
        }
        for row in parts.filter(
            pl.col("kind").is_null(), pl.col("start") < pl.col("end")
        ).to_dicts()
        if not any(k["start"] <= row["start"] and row["end"] <= k["end"] for k in kept)
    ]
    return sorted(kept + passed, key=lambda item: (item["start"], item["end"]))
