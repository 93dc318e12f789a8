"""Commands on suites of golden queries."""

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from memops.cli import in_force, typed
from memops.cli.options import PATH, now_option
from memops.cli.output import cut, emit, listing, say, table, wants_json
from memops.evaluation.exchange import EXPORTS, IMPORTS

_ROOM = 100


@click.group()
def suite() -> None:
    """Work with suites of golden queries."""


@suite.command("init")
@click.argument("store")
@click.option("-o", "--folder", type=PATH, help="The suite's folder [evals/NAME].")
@click.option("--each", default=20, show_default=True, help="Most proposals of a category.")
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
@click.option("--keep", multiple=True, metavar="ID|CATEGORY", help="Keep it (repeatable).")
@click.option("--drop", multiple=True, metavar="ID|CATEGORY", help="Drop it (repeatable).")
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
