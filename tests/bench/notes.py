"""What extraction makes of labelled notes: how often it is right, and what it loses or lets slip.

usage: python -m tests.bench.notes [--wrong] [--model ACCURACY [--mode MODE] [--stubborn]] FILE...

Each line of a file is {id, theme, lang, note, action, facts: [{kind, text, contains}]}; action is
extract, tombstone (surely junk) or keep (neither). A fact is found when one extraction of its note
holds every word of `contains` (NFKC, case and white space aside), a record of a failure counting
as a lesson (with its kind, tagged with it, or of any); an extraction is right when it holds a word
of a fact of its note, whole when it holds all of one. Lost are notes of action extract or keep that the plan retires with nothing made of
them; leaks are extractions of notes that hold no fact. With a model of that accuracy, notes that rules
are not sure of are asked about as `migrate --ask` does; this needs facts whose text holds their
`contains`, which those of seventh.jsonl do not.
"""

import argparse
import json
import sys
import tempfile
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops.context import Context
from memops.extract.asking import heard
from memops.extract.verdicts import judged_notes
from memops.models.completions import Endpoint
from memops.models.wire import place
from memops.policy import Policy
from memops.schema import from_rows
from tests.model_server import Model
from tests.note_reader import MODES, Reader

NOW = datetime(2026, 6, 1, tzinfo=UTC)
NOTES = Path(__file__).parents[2] / "evals" / "notes"
Row = dict[str, Any]
Said = list[tuple[str, str | None, str]]
Made = tuple[str, Said]


def labelled(*paths: Path) -> list[Row]:
    """Return the notes of files, or of every file of evals/notes."""
    files = paths or tuple(sorted(NOTES.glob("*.jsonl")))
    return [
        json.loads(line) | {"writer": path.stem}
        for path in files
        for line in path.open(encoding="utf-8")
    ]


def flat(text: str) -> str:
    """Return a text as it is compared."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def records(notes: list[Row]) -> pl.DataFrame:
    """Return the notes as records of a store, numbered."""
    said = [{"id": f"{n:06}", "kind": "note", "text": row["note"]} for n, row in enumerate(notes)]
    return from_rows(said)


def asked(notes: list[Row], reader: Reader, right: float) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return what notes come to with a model that is so often right, and figures of the asking."""
    server = Model(reader)
    where, path = place(server.url, "model")
    of, ctx = Endpoint(where, f"{path}/chat/completions", "reader", ""), Context(NOW, Policy())
    with tempfile.TemporaryDirectory() as state:
        said = heard(records(notes), ctx, Path(state), of, right)
    server.close()
    return said.told, said.figures


def read(
    notes: list[Row], policy: Policy | None = None, told: pl.DataFrame | None = None
) -> list[Made]:
    """Return action, and kind, next kind and text of each extraction, for each note.

    `told` is what a model said of them.
    """
    rows = records(notes)
    judged, told = judged_notes(rows, Context(NOW, policy or Policy(), told=told))
    verdicts = dict(judged.select("id", "verdict").iter_rows())
    said = dict(told.group_by("note").agg(pl.struct("kind", "also", "text")).iter_rows())
    named = {"demote": "keep"}
    return [
        (
            named.get(verdicts[row["id"]], verdicts[row["id"]]),
            [
                ("lesson" if s["kind"] == "failure" else s["kind"], s["also"], s["text"])
                for s in said.get(row["id"], [])
            ],
        )
        for row in rows.sort("id").to_dicts()
    ]


def figures(notes: list[Row], made: list[Made]) -> Counter[str]:
    """Return counts, which add up over parts of a set."""
    told: Counter[str] = Counter(notes=len(notes))
    for row, (action, said) in zip(notes, made, strict=True):
        told += one(row, action, said)
    return told


def one(row: Row, action: str, said: Said) -> Counter[str]:
    """Return the counts of one note."""
    wanted = [(fact["kind"], [flat(word) for word in fact["contains"]]) for fact in row["facts"]]
    given = [flat(text) for *_, text in said]
    holds = [[all(word in text for word in words) for text in given] for _, words in wanted]
    kinds, tagged = (
        sum(
            any(held and kind in has[:most] for held, has in zip(row_, said, strict=True))
            for row_, (kind, _) in zip(holds, wanted, strict=True)
        )
        for most in (1, 2)
    )
    return Counter(
        right_action=action == row["action"],
        facts=len(wanted),
        found=sum(map(any, holds)),
        found_kind=kinds,
        found_tagged=tagged,
        made=len(given),
        made_right=sum(any(w in text for _, words in wanted for w in words) for text in given),
        made_whole=sum(map(any, zip(*holds, strict=True))) if wanted else 0,
        worth=row["action"] != "tombstone",
        lost=row["action"] != "tombstone" and action == "tombstone",
        lost_extract=row["action"] == "extract" and action == "tombstone",
        leaks=len(given) if row["action"] != "extract" else 0,
        leaks_keep=len(given) if row["action"] == "keep" else 0,
    )


def line(name: str, told: Counter[str]) -> str:
    """Return one line of the table."""
    share = lambda a, b: f"{told[a] / max(told[b], 1):6.3f}"  # noqa: E731
    return (
        f"{name:12}{told['notes']:6}{share('right_action', 'notes'):>8}"
        f"{share('found_kind', 'facts'):>8}{share('found_tagged', 'facts'):>8}{share('found', 'facts'):>8}"
        f"{share('made_right', 'made'):>8}{share('made_whole', 'made'):>8}"
        f"{told['lost']:6}/{told['worth']:<5}{told['leaks']:6} ({told['leaks_keep']})"
    )


HEAD = f"{'':12}{'notes':>6}{'action':>8}{'kind':>8}{'tagged':>8}{'any':>8}{'right':>8}{'whole':>8}{'lost':>6}{'':6}{'leaks':>6} (keep)"


def show(notes: list[Row], made: list[Made]) -> None:
    """Print the table, whole and for each language and theme."""
    print(HEAD)
    print(line("all", figures(notes, made)))
    for name in ("lang", "theme"):
        for value in sorted({row[name] for row in notes}):
            some = [n for n, row in enumerate(notes) if row[name] == value]
            print(line(value, figures([notes[n] for n in some], [made[n] for n in some])))


def main(argv: list[str]) -> None:
    """Measure the files named, one after the other."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--wrong", action="store_true", help="show the notes that are not right")
    options.add_argument("--model", type=float, help="a model that is so often right is asked, too")
    options.add_argument("--mode", default="honest", choices=[*MODES], help="how it answers")
    options.add_argument("--stubborn", action="store_true", help="it bears out what it said")
    options.add_argument("--right", type=float, help="how often it is taken to be right")
    given = options.parse_args(argv)
    for path in given.files or sorted(NOTES.glob("*.jsonl")):
        notes = labelled(path)
        print(path.name)
        told = None
        if given.model is not None:
            reader = Reader(notes, given.model, mode=given.mode, stubborn=given.stubborn)
            told, costs = asked(notes, reader, given.right or given.model)
            print(costs)
        made = read(notes, told=told)
        show(notes, made)
        for row, (action, said) in zip(notes, made, strict=True):
            told = one(row, action, said)
            if given.wrong and (not told["right_action"] or told["found_kind"] < told["facts"]):
                facts = [(fact["kind"], fact["contains"]) for fact in row["facts"]]
                print(f"{row['id']} {row['action']}>{action} {row['note']!r}\n  {facts}\n  {said}")


if __name__ == "__main__":
    main(sys.argv[1:])
