"""Commands that choose how to search, and with which model."""

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from memops.cli import in_force
from memops.cli.options import PATH, now_option, several
from memops.cli.output import emit, table


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
@click.option("--dims", default=256, show_default=True, help="Dimensions that are kept.")
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
