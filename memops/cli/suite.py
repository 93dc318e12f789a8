"""Commands on suites of golden queries, and on ways to search that are tried by them."""

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from memops.cli import in_force, typed
from memops.cli.options import PATH, now_option, several, usual
from memops.cli.output import cut, emit, listing, say, table, wants_json
from memops.evaluation.exchange import EXPORTS, IMPORTS

_ROOM = 100


@click.group()
def suite() -> None:
    """Work with suites of golden queries."""


@suite.command("init")
@click.argument("store")
@click.option("-o", "--folder", type=PATH, help="The suite's folder [evals/NAME].")
@usual("--each", 20, "Most proposals of a category.")
@now_option
def suite_init(store: str, folder: Path | None, each: int, now: datetime | None) -> None:
    """Propose golden queries from STORE (or a snapshot), for a person to review."""
    from memops.evaluation import suites

    said = suites.init(store, in_force(), folder, each, now)
    rows = list(said["by_category"].items())
    next_ = f"review them: {typed()} recall suite review {said['suite']}"
    emit(said, [table(rows, ["category", "proposed"]), next_])


@suite.command("review")
@click.argument("folder")
@several("--keep", metavar="ID|CATEGORY", help="Keep it (repeatable).")
@several("--drop", metavar="ID|CATEGORY", help="Drop it (repeatable).")
@click.option("--rest", type=click.Choice(["keep", "drop"]), help="What to do with all others.")
def suite_review(
    folder: str, keep: tuple[str, ...], drop: tuple[str, ...], rest: str | None
) -> None:
    """Keep or drop proposals of FOLDER: by name, or one by one in a terminal."""
    from memops.evaluation import suites

    said = suites.review(folder, keep, drop, None if rest is None else rest == "keep")
    one_by_one = not (keep or drop or rest or wants_json()) and sys.stdin.isatty()
    if one_by_one:
        for name, kept in _asked(said["waiting"]):
            said = suites.review(folder, [name] if kept else [], [] if kept else [name])
    lines = [] if one_by_one else [_proposal(row) for row in said["waiting"]]
    many = f"{said['kept']} kept, {said['dropped']} dropped, {len(said['waiting'])} wait"
    emit(said, [*lines, f"{many}; {said['suite']} asks {said['queries']} queries"])


@suite.command("check")
@click.argument("folder")
@click.option("--store", required=True, help="The store or snapshot that the suite was made for.")
@now_option
def suite_check(folder: str, store: str, now: datetime | None) -> int:
    """Check that a suite's golden evidence is in its store, and that its queries can decide."""
    from memops.evaluation import suites

    problems = suites.check_suite(folder, store, in_force(), now)
    wrong = any(p["level"] == "error" for p in problems)
    rows = [(p["level"], p["query_id"], p["id"], p["says"]) for p in problems]
    head = ["level", "query", "id", "problem"]
    said = {"problems": problems, "ok": not wrong}
    emit(said, listing(rows, head, "every query has its evidence"))
    return 20 if wrong else 0


@suite.command("remap")
@click.argument("folder")
@click.option("--store", required=True, help="The store whose records' ids changed.")
@now_option
def suite_remap(folder: str, store: str, now: datetime | None) -> None:
    """Write the ids of merged and migrated evidence into FOLDER, by the store's lineage."""
    from memops.evaluation import suites

    said = suites.remap(folder, store, in_force(), now)
    emit(said, f"{said['changed']} of {said['queries']} queries have other evidence now")


@suite.command("import")
@click.argument("path", type=PATH)
@click.option("--format", "kind", type=click.Choice([*IMPORTS]), required=True, help="Whose it is.")
@click.option("-o", "--folder", type=PATH, required=True, help="The new suite.")
def suite_import(path: Path, kind: str, folder: Path) -> None:
    """Make a suite of queries that another program wrote into PATH."""
    from memops.evaluation import suites

    said = suites.import_suite(path, kind, folder)
    beside = f" and {said['records']} records, {said['store']}" if said["records"] else ""
    emit(said, f"{said['suite']}: {said['queries']} queries{beside}")


@suite.command("export")
@click.argument("folder")
@click.option(
    "--format", "kind", type=click.Choice([*EXPORTS]), required=True, help="Who reads it."
)
@click.option("-o", "--output", type=PATH, required=True, help="Where to.")
@click.option("--store", help="Also write this store's live records (beir).")
@now_option
def suite_export(
    folder: str, kind: str, output: Path, store: str | None, now: datetime | None
) -> None:
    """Write FOLDER's queries as another program reads them."""
    from memops.evaluation import suites

    said = suites.export_suite(folder, kind, output, in_force(), store, now)
    emit(said, [str(output / name) for name in said["files"]])


@click.command()
@click.argument("store")
@click.option("--suite", required=True, help="Folder of a suite, or its name below evals.")
@several("--encoder", "encoders", help="One more encoder to try (repeatable).")
@click.option("-o", "--output", type=PATH, help="The picture [tune.svg].")
@now_option
def tune(
    store: str, suite: str, encoders: tuple[str, ...], output: Path | None, now: datetime | None
) -> None:
    """Try ways of searching STORE on half of a suite, and tell on the other half what they give."""
    from memops import files
    from memops.evaluation import tuning
    from memops.evaluation.grading_steps import Asked
    from memops.reports.page import render_tuning

    path = output or Path("tune.svg")
    said = tuning.tuned(Asked(store, suite, in_force(), now=now), encoders)
    files.write(path.absolute(), render_tuning(said).encode())
    said["picture"] = str(path)
    emit(said, lambda: _tune_text(said))


@click.group()
def encoder() -> None:
    """Work with encoders."""


@encoder.command("distill")
@click.argument("path")
@click.option("-o", "--output", type=PATH, required=True, help="New folder.")
@usual("--dims", 256, "Dimensions that are kept.")
@click.option("--store", help="Compare both on this store's texts, too.")
@click.option("--suite", help="And by this suite's recall.")
@now_option
def encoder_distill(
    path: str, output: Path, dims: int, store: str | None, suite: str | None, now: datetime | None
) -> None:
    """Make a static model from the sentence-transformers model at PATH, and compare them."""
    from memops.evaluation import tuning
    from memops.evaluation.grading_steps import Asked

    on = Asked(store, suite or "", in_force(), now=now) if store else None
    said = tuning.distilled(path, output, dims, on)
    emit(said, lambda: _distil_text(said))


def _asked(waiting: list[dict[str, Any]]) -> Iterator[tuple[str, bool]]:
    """Asks for each in turn, by one key, and again for a key that means nothing."""
    for nth, row in enumerate(waiting):
        ask = f"  {len(waiting) - nth} left  [k]eep  [d]rop  [s]kip  [q]uit: "
        say(_proposal(row) + f"\n{ask}", row, end="")
        key = ""
        while not key:
            key = next((typed for typed in click.getchar() if typed in "kdsq"), "")
        click.echo(key)
        if key == "q":
            return
        if key != "s":
            yield row["query_id"], key == "k"


def _proposal(row: dict[str, Any]) -> str:
    says = [f"    {cut(text, _ROOM)}" for text in row.get("says", [])[:3]]
    head = f"{row['query_id']}  {cut(row['text'], _ROOM)}"
    return "\n".join([head, *(says or ["    no memory should answer this"])])


def _tune_text(said: dict[str, Any]) -> list[str]:
    figures = {"dev": ".4f", "test": ".4f", "ms": ".2f"}
    rows = [(t["name"], *(format(t[n], f) for n, f in figures.items())) for t in said["tried"]]
    gain = said["gain"]
    gained = f"{gain['mean']:+.4f} ({gain['low']:+.4f} to {gain['high']:+.4f})"
    return [
        table(rows, ["way", f"{said['measure']} dev", "test", "ms a query"]),
        f"now: {said['now']}",
        f"chosen on dev: {said['chosen']}, on test {gained}",
        f"picture: {said['picture']}",
    ]


def _distil_text(said: dict[str, Any]) -> list[str]:
    rows = [
        (name, said[name]["dims"], said[name]["texts_per_cpu_second"], said[name].get("recall", ""))
        for name in ("model", "static")
    ]
    head = ["", "dims", "texts a CPU second", said.get("measure", "")]
    return [table(rows, head), f"agreement of cosines: {said['agreement']}", said["path"]]
