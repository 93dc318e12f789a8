"""Outputs: what memops wrote outside the state folder, so that a purge knows of it.

<state>/outputs.jsonl   path, and the store whose records it is made of, if it is one's
"""

from pathlib import Path

from memops import files
from memops.journal import Journal


def note(state: Path, path: Path, own: str = "") -> Path:
    """Write down a file or folder that is about to be written; returns it."""
    said = {"path": str(path.absolute()), "store": own}
    journal = Journal(files.folder(state) / "outputs.jsonl")
    if not path.absolute().is_relative_to(state.absolute()) and said not in journal.entries():
        journal.add(said)
    return path


def noted(state: Path) -> list[tuple[Path, str]]:
    """Return those that are still there, each with its store's name or ''."""
    entries = Journal(state / "outputs.jsonl").entries()
    return [(path, e["store"]) for e in entries if (path := Path(e["path"])).exists()]
