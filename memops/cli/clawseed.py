"""Commands for what a clawseed workspace keeps beside its records."""

from datetime import datetime

import click

from memops.cli import in_force
from memops.cli.output import emit, now_option


@click.command()
@click.argument("store")
@click.option("--write", is_flag=True, help="Put the file into the workspace.")
@now_option
def view(store: str, write: bool, now: datetime | None) -> None:
    """Print the MEMORY_SNAPSHOT.md of STORE, from which clawseed can start again.

    clawseed reads it as its own; `memops store import` reads all that is in it, exactly.
    """
    from memops.commands import repairing

    said = repairing.view(store, in_force(), write, now)
    emit(said, f"{said['entries']} memories in {said['path']}" if write else said["text"])


@click.command()
@click.argument("store")
@click.option("--model", required=True, help="Folder or name of the model that STORE is used with.")
@click.option("--approve", is_flag=True, help="Write the vectors, after a snapshot.")
@now_option
def embed(store: str, model: str, approve: bool, now: datetime | None) -> None:
    """Give the rows of STORE that have no vector theirs; refused unless the model is the same."""
    from memops.commands import repairing

    said = repairing.embed(store, model, in_force(), approve, now)
    done = f"{said['filled']} filled" if approve else "nothing was changed; --approve fills them"
    emit(
        said,
        f"{said['lacking']} rows without a vector; the model agrees on {said['compared']}; {done}",
    )
