"""Lexicons: the word lists that rules read, kept as data and found from wheel and checkout alike."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from memops.language.keeping import toml


def resource(name: str) -> Path:
    """Return a bundled file or folder (`data/...`, `reports/...`, `flows/...`, `evals/sample`).

    A wheel carries them under `memops/_data`; a checkout and an editable install have them at
    the top of the repository.
    """
    inside = Path(str(files("memops"))) / "_data" / name
    return inside if inside.exists() else Path(str(files("memops"))).parent / name


@cache
def lexicon(name: str) -> dict[str, Any]:
    """Return `data/lexicons/<name>.toml`, with what language packs add to it, by language."""
    from memops.language.packs import brought

    told = toml(resource("data/lexicons") / f"{name}.toml")
    return told | {code: _both(told.get(code, {}), table) for code, table in brought(name).items()}


def _both(ours: dict[str, Any], brought: dict[str, Any]) -> dict[str, Any]:
    """What a pack brings beside what is known of its language: lists are joined, none is replaced."""
    lists = {name: words for name, words in brought.items() if isinstance(words, list)}
    joined = {name: [*dict.fromkeys([*ours.get(name, []), *lists[name]])] for name in lists}
    return ours | brought | joined
