"""The command that hands the flows to Prefect."""

import os
import runpy

import click

from memops.cli import at
from memops.errors import MemopsError


@click.command()
@click.pass_context
def serve(ctx: click.Context) -> None:
    """Serve the flows with their schedules to Prefect; runs until it is stopped."""
    from importlib.util import find_spec

    from memops.lexicon import resource

    if find_spec("prefect") is None:
        raise MemopsError("Prefect is not installed", 'pip install "memops[flows]"')
    settings = at(ctx)
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("PREFECT_HOME", str(settings.state / "prefect"))
    runpy.run_path(str(resource("flows/serving.py")))["serve_all"](settings)
