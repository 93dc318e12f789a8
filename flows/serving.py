"""Serving: the flows of every configured store with their schedules, here or in a work pool."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import automations
from apply import apply
from audit import audit
from collect import collect
from flowing import reach
from migrate import migrate
from nightly import nightly
from nights import nights
from prefect import Flow, serve
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterTags
from prefect.client.schemas.schedules import CronSchedule
from prefect.exceptions import ObjectAlreadyExists
from recall_gate import recall_gate

from memops import __version__
from memops.settings import Configured, Settings

OTHERS = (apply, migrate, nights, recall_gate, audit, collect)
HERE = Path(__file__).parent
FLEET = 50
"""Stores up to which each has a deployment of its own; more share the one of `nights`."""
WAITING = 8
"""Processes beside those at work: some wait for their turn, some do what is short."""


def serve_all(settings: Settings) -> None:
    """Serve a nightly deployment for each store, and one each of the other flows; blocks."""
    reach()
    with get_client(sync_client=True) as client:
        automations.keep(client, settings.notify)
    serve(*deployments(settings), limit=settings.flows.at_once + WAITING)


def deploy_all(settings: Settings, pool: str) -> list[str]:
    """Create the same deployments in a work pool, for its workers to run; returns their names."""
    reach()
    with get_client(sync_client=True) as client:
        automations.keep(client, settings.notify)
        with suppress(ObjectAlreadyExists):
            most = settings.flows.at_once + WAITING
            wanted = WorkPoolCreate(name=pool, type="process", concurrency_limit=most)
            client.create_work_pool(wanted)
    made = deployments(settings, remote=True)
    for one in made:  # not by prefect.deploy, which goes on when one of them fails
        one.apply(work_pool_name=pool)
    return [f"{item.flow_name}/{item.name}" for item in made]


def remove_all() -> list[str]:
    """Remove from the server what serving left there; returns the names of the deployments."""
    reach()
    with get_client(sync_client=True) as client:
        automations.remove(client)
        tagged = DeploymentFilter(tags=DeploymentFilterTags(all_=["memops"]))
        found = client.read_deployments(deployment_filter=tagged, limit=200)
        for one in found:
            client.delete_deployment(one.id)
    return sorted(one.name for one in found)


def deployments(settings: Settings, remote: bool = False) -> list[Any]:
    """Return the deployments; that each store has one night at a time is up to its lock.

    Prefect's own limits live in the server's memory, and a server that is killed never gives them
    back. A server slows down with the runs that it schedules, so the stores of a fleet have theirs in
    one run of `nights`, by the schedule of [flows].
    """
    given = {"state": str(settings.state), "config": str(settings.path) if settings.path else None}
    common: dict[str, Any] = {"version": __version__}
    if remote:  # what is served inherits the environment
        common["job_variables"] = {"env": automations.HEARTBEAT}
    fleet = len(settings.stores) > FLEET
    nights_of = [
        _from(nightly, remote).to_deployment(
            name=f"nightly-{name}",
            schedule=_schedule(store, settings),
            parameters={"store": name, **given},
            description=f"The night of {name}.",
            tags=["memops", name],
            **common,
        )
        for name, store in settings.stores.items()
        if not fleet
    ]
    when = {nights: _schedule(Configured(""), settings)} if fleet else {}
    common |= {"parameters": given, "tags": ["memops"]}
    others = [
        _from(flow, remote).to_deployment(
            name=flow.name.replace("_", "-"), schedule=when.get(flow), **common
        )
        for flow in OTHERS
    ]
    return [*nights_of, *others]


def _from(flow: Flow[Any, Any], remote: bool) -> Flow[Any, Any]:
    """The flow by its file, for a worker that has memops installed, or as it is."""
    if not remote:
        return flow
    name = flow.name
    found: Any = flow.from_source(source=str(HERE), entrypoint=f"{name}.py:{name}")
    return found


def _schedule(store: Configured, settings: Settings) -> Any:
    """A cron of local time: a night at 02:30 comes once, also when the clock is put on or back."""
    cron = store.schedule or settings.flows.schedule
    return CronSchedule(cron=cron, timezone=store.timezone or settings.flows.timezone)
