"""Tests of a model that reads notes: which of its facts are right, and what it may therefore do."""

import unicodedata
from pathlib import Path
from typing import Any

import polars as pl

from memops.context import Context
from memops.errors import MemopsError
from memops.evaluation import judge_tests
from memops.extract import asking, model
from memops.extract.verdicts import judged_notes
from memops.models.completions import endpoint
from memops.schema import MODEL, from_rows
from memops.settings import Settings
from memops.state import evidence
from memops.state.sources import clock

SHAPES = {"fact": ("extract_notes", "insert", "model.fact")}
"""The change that comes of a fact."""
_RULES = "rules"


def labelled(path: Path) -> list[dict[str, Any]]:
    """Return the notes {note, facts, lang} of a file of JSON lines; raises Corrupt for what is none."""
    hint = f"write note, and facts of kind and contains: {', '.join(model.KINDS)}"
    rows = judge_tests.rows_of(path, _note, "labelled note", hint)
    if not rows:
        raise MemopsError("no labelled notes", "name a file of JSON lines: note, facts")
    return rows


def _note(row: dict[str, Any]) -> dict[str, Any]:
    facts = [(fact["kind"], [*map(_plain, fact["contains"])]) for fact in row["facts"]]
    if not isinstance(row["note"], str) or any(kind not in model.KINDS for kind, _ in facts):
        raise ValueError(row)
    return {"note": row["note"], "facts": facts, "lang": row.get("lang") or "all"}


def test(path: Path, settings: Settings) -> dict[str, Any]:
    """Test the model that reads notes, keep what it earned, and return what a command prints."""
    rows, policy = labelled(path), settings.policy
    of, ctx = endpoint(policy.judge), Context(now=clock(), policy=policy)
    recipe = asking.recipe(of)
    right = evidence.right_of(settings.state, recipe, policy.model.right)
    notes = from_rows(
        [{"id": f"{n:08}", "kind": "note", "text": row["note"]} for n, row in enumerate(rows)]
    )
    said = asking.heard(notes, ctx, settings.state, of, right)
    _, made = judged_notes(notes, Context(now=ctx.now, policy=policy, told=said.told))
    counts = judge_tests.counted(_compared(rows, made), policy)
    earned = judge_tests.earned(counts.filter(verdict="fact"), policy, SHAPES)
    measured = _right(rows, said.tells)
    about = {"notes": len(rows), "judge": recipe, "asked": said.figures, "right": measured}
    return about | judge_tests.told(path, settings, recipe, counts, earned, measured)


def _compared(rows: list[dict[str, Any]], made: pl.DataFrame) -> pl.DataFrame:
    """A row a fact that was told, by the model (`fact`) or by rules, and one a fact that was missed.

    A fact is right that holds all words of a fact of its note and is of its kind, or tagged with it.
    """
    parts = made.select("note", "kind", "also", "cue", "text").partition_by("note", as_dict=True)
    by_note = {note: part.to_dicts() for (note,), part in parts.items()}
    out = []
    for n, row in enumerate(rows):
        given = by_note.get(f"{n:08}", [])
        hits = [[_is(fact, kind, words) for kind, words in row["facts"]] for fact in given]
        for fact, hit in zip(given, hits, strict=True):
            who = "fact" if fact["cue"] == MODEL else _RULES
            out.append((who, who if any(hit) else "none", row["lang"], any(hit)))
        missed = [not any(hit[k] for hit in hits) for k in range(len(row["facts"]))]
        out += [("missed", _RULES, row["lang"], False)] * sum(missed)
    table = pl.DataFrame(out, ["verdict", "gold", "lang", "right"], orient="row")
    return table.with_columns(stopped=pl.col("verdict") == "missed")


def _is(fact: dict[str, Any], kind: str, words: list[str]) -> bool:
    same = {"failure": "lesson"}.get(kind, kind) in (fact["kind"], fact["also"])
    return same and all(word in _plain(fact["text"]) for word in words)


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _right(rows: list[dict[str, Any]], agreed: dict[str, bool]) -> float | None:
    """Of notes that tell something, or nothing, the worse share of which the model said so."""
    shares = []
    for tells in (True, False):
        said = [told for note, told in agreed.items() if bool(rows[int(note)]["facts"]) is tells]
        shares += [sum(told is tells for told in said) / len(said)] if said else []
    return round(min(shares), 4) if shares else None
