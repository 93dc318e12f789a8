"""Extraction: from notes in Chinese and English to typed, keyed facts in the third person.

Deterministic and without a network: checked values, cues of the lexicons that say which sentences
assert nothing, and small fitted models that weigh them with the letters and the form of a text.
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

from memops.extract.reading import CANDIDATES, read
from memops.policy import Policy
from memops.reasons import brief

__all__ = ["CANDIDATES", "inspect", "read"]


def inspect(texts: Sequence[str]) -> list[list[dict[str, Any]]]:
    """Return what extraction makes of each text: candidates with their spans, and what was passed
    over and why, in reading order.
    """
    found, parts, verdicts = read(pl.DataFrame({"text": texts}, {"text": pl.String}), Policy())
    silent = parts.filter(pl.col("kind").is_null(), pl.col("start") < pl.col("end"))
    silent = silent.select("row", "start", "end", "barred")
    kept = {
        row: told.to_dicts() for (row,), told in found.partition_by("row", as_dict=True).items()
    }
    passed = {row: p.to_dicts() for (row,), p in silent.partition_by("row", as_dict=True).items()}
    return [
        [{"start": 0, "end": len(text), "passed_over": brief(why)}]
        if why is not None
        else _told(kept.get(row, []), passed.get(row, []))
        for row, (text, why) in enumerate(zip(texts, verdicts["noise"], strict=True))
    ]


def _told(found: list[dict[str, Any]], silent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("start", "end", "kind", "text", "entity_key", "confidence", "cue")
    kept = [{name: row["key" if name == "entity_key" else name] for name in names} for row in found]
    passed = [
        {
            "start": row["start"],
            "end": row["end"],
            "passed_over": brief(f"note.{row['barred']}" if row["barred"] else "note.nothing"),
        }
        for row in silent
        if not any(k["start"] <= row["start"] and row["end"] <= k["end"] for k in kept)
    ]
    return sorted(kept + passed, key=lambda item: (item["start"], item["end"]))
