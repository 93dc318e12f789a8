"""The labelled sentences of tests/extract."""

from pathlib import Path

SETS = ("sentences", "blind_a", "blind_b", "blind_c", "blind_d", "blind_e")


def wordings(name):
    """Notes of a file with the verdict and the facts (kind, what its text holds) that a reader gave."""
    lines = (Path(__file__).parent / "extract" / f"{name}.tsv").read_text(encoding="utf-8")
    for line in lines.splitlines():
        if not line.startswith("#"):
            verdict, told, text = line.split("\t")
            facts = [tuple(fact.split(":", 1)) for fact in told.split(" | ") if fact]
            yield verdict, facts, text.replace("\\n", "\n")
