"""The commands that hand the flows to Prefect."""

import os
import runpy
import sys
from collections.abc import Iterable
from typing import Any

import click

from memops.cli import in_force
from memops.cli.options import flag, usual
from memops.cli.output import emit
from memops.errors import MemopsError


@click.command()
@flag("--remove", help="Remove from the server what serving left there.")
def serve(remove: bool) -> None:
    """Serve the flows with their schedules to Prefect; runs until it is stopped."""
    settings = in_force()
    if not remove:
        _flows("serving", settings)["serve_all"](settings)
        return
    gone = _flows("serving", settings)["remove_all"]()
    text = "\n".join([*gone, "removed, with the watch for crashed runs and the notices"])
    emit({"deployments": gone}, text)


@click.command()
@usual("--pool", "memops", "The work pool; made if absent.")
def deploy(pool: str) -> None:
    """Hand the flows with their schedules to a Prefect work pool, for its workers to run."""
    settings = in_force()
    made = _flows("serving", settings)["deploy_all"](settings, pool)
    said = {"pool": pool, "deployments": made}
    emit(said, lambda: "\n".join([*made, f"prefect worker start --pool {pool}"]))


def started(plan: str, seqs: Iterable[int], settings: Any) -> str:
    """Return the flow run that carries out changes of a plan with which a night waits on a server; '' for none."""
    from importlib.util import find_spec

    if not os.environ.get("PREFECT_API_URL") or find_spec("prefect") is None:
        return ""
    numbers = ",".join(map(str, seqs))
    run: str = _flows("approving", settings)["start"](plan, numbers)
    return run


def _flows(name: str, settings: Any) -> dict[str, Any]:
    """What a file of flows/ holds, with Prefect told to keep to itself and to the state folder."""
    from importlib.util import find_spec

    from memops.language.lexicon import resource

    if find_spec("prefect") is None:
        raise MemopsError("Prefect is not installed", 'pip install "memops[flows]"')
    for variable, value in {
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_HOME": str(settings.state / "prefect"),
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    }.items():
        os.environ.setdefault(variable, value)
    path = resource(f"flows/{name}.py")
    sys.path.insert(0, str(path.parent))
    return runpy.run_path(str(path))
