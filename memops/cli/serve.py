"""The commands that hand the flows to Prefect."""

import os
import runpy
from typing import Any

import click

from memops.cli import at
from memops.cli.output import emit, json_option
from memops.errors import MemopsError


@click.command()
@click.pass_context
def serve(ctx: click.Context) -> None:
    """Serve the flows with their schedules to Prefect; runs until it is stopped."""
    settings = at(ctx)
    _serving(settings)["serve_all"](settings)


@click.command()
@click.option("--pool", default="memops", show_default=True, help="The work pool; made if absent.")
@json_option
@click.pass_context
def deploy(ctx: click.Context, pool: str, as_json: bool) -> None:
    """Hand the flows with their schedules to a Prefect work pool, for its workers to run."""
    settings = at(ctx)
    made = _serving(settings)["deploy_all"](settings, pool)
    said = {"pool": pool, "deployments": made}
    emit(said, as_json, lambda: "\n".join([*made, f"prefect worker start --pool {pool}"]))


def _serving(settings: Any) -> dict[str, Any]:
    """What flows/serving.py holds, with Prefect told to keep to itself and to the state folder."""
    from importlib.util import find_spec

    from memops.language.lexicon import resource

    if find_spec("prefect") is None:
        raise MemopsError("Prefect is not installed", 'pip install "memops[flows]"')
    for name, value in {
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_HOME": str(settings.state / "prefect"),
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    }.items():
        os.environ.setdefault(name, value)
    return runpy.run_path(str(resource("flows/serving.py")))
