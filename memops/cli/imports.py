"""Commands that bring memories together."""

from datetime import datetime
from pathlib import Path

import click

from memops.cli import in_force
from memops.cli.output import PATH, emit, now_option, table


@click.command("import")
@click.argument("name")
@click.option("--to", required=True, help="The store to add to; a new jsonl:FILE is made.")
@click.option("--plan-only", is_flag=True, help="Stop after the plan.")
@now_option
def import_(name: str, to: str, plan_only: bool, now: datetime | None) -> int:
    """Add the export that [import.NAME] of memops.toml describes to a store."""
    from memops.commands.importing import import_records

    said = import_records(name, to, in_force(), now, plan_only)
    counts = [(n, said[n]) for n in ("read", "ops", "applied", "already")]
    odd = [(f"entry {p['entry']} passed over", p["why"]) for p in said["passed_over"]]
    emit(said, lambda: table([*counts, *odd], ["import", name]))
    return int(said.get("code", 0)) or (3 if odd else 0)


globals()["import"] = import_  # a command is found by its name, which is no name in Python


@click.command()
@click.argument("roots", nargs=-1, required=True)
@click.option("--into", type=PATH, help="The root that sessions are copied to.")
@now_option
def collect(roots: tuple[str, ...], into: Path | None, now: datetime | None) -> None:
    """Read XingheBot ROOTS (ROOT or NODE=ROOT) as one: count, find duplicates across nodes.

    With --into their session summaries are copied there; the roots themselves are only read.
    """
    from memops import steps

    said = steps.collect_nodes(roots, str(into) if into else None, in_force(), now)
    rows = [(node, n["records"], n["sessions"]) for node, n in said["nodes"].items()]
    tail = (
        f"{len(said['copied'])} summaries copied, {said['already']} there already; "
        f"{len(said['duplicates'])} records say what another node's say"
    )
    emit(said, lambda: table(rows, ["node", "records", "sessions"]) + "\n" + tail)
