"""Asking a model about a store: its answers on disk, so that planning stays without a network."""

from pathlib import Path
from typing import Any

import polars as pl

from memops import files
from memops.context import Context
from memops.errors import Corrupt
from memops.extract import model
from memops.extract.verdicts import TOLD
from memops.models.completions import Endpoint, ask, endpoint

ANSWERS = "answers"
"""Folder of the state folder that holds what a model said."""


def about_notes(
    records: pl.DataFrame, ctx: Context, state: Path, of: Endpoint | None = None
) -> dict[str, Any]:
    """Ask about the notes that no rule could read.

    Returns {asked, answers}: figures, and a file of facts and of the ids of notes that wait.
    """
    policy, folder = ctx.policy, files.folder(state / ANSWERS)
    notes = model.open_notes(records, ctx)
    questions = [model.question(*row) for row in notes.select("id", "text").iter_rows()]
    found = ask(
        questions,
        of or endpoint(),
        policy.model,
        folder,
        lambda _, reply: model.parsed(reply) is not None,
    )
    told = model.told(notes, found.said, policy)
    path = folder / f"notes-{files.json_digest([q.text for q in questions])}.json"
    asked = [question.text for question in questions]  # so that purging a note finds the file
    files.write_json(
        path, {"asked": asked, "told": told.to_dicts(), "waiting": sorted(found.waiting)}
    )
    figures = found.figures() | {"facts": told.height}
    return {"asked": figures, "answers": str(path)}


def read(path: Path) -> tuple[pl.DataFrame, frozenset[str]]:
    """Return facts (TOLD) and the ids of the notes that wait, as `about_notes` left them."""
    kept = files.read_json(path)
    try:
        told = pl.DataFrame(kept["told"], schema=TOLD)
        return told, frozenset(str(note) for note in kept["waiting"])
    except (KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise Corrupt(f"{path}: no answers of a model", "ask again") from error
