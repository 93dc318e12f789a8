"""Serving: the flows of every configured store with their schedules, here or in a work pool."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from prefect import Flow, serve
from prefect.automations import Automation
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.client.schemas.schedules import CronSchedule
from prefect.events.actions import ChangeFlowRunState
from prefect.events.schemas.automations import EventTrigger, Posture
from prefect.exceptions import ObjectAlreadyExists

sys.path.insert(0, str(Path(__file__).parent))
from approving import TURNS
from audit import audit
from collect import collect
from flowing import reach
from migrate import migrate
from nightly import nightly
from nights import nights
from notifying import notify
from recall_gate import recall_gate

from memops.settings import Configured, Settings

OTHERS = {
    migrate: "migrate",
    nights: "nights",
    recall_gate: "recall-gate",
    audit: "audit",
    collect: "collect",
}
HERE = Path(__file__).parent
CRASHED = "memops: flow runs whose process is gone"
WAITING = 8
"""Processes beside those at work that may wait, for their turn or for a person."""
BEATS = 3
"""Heartbeats that a run may miss; its process sends one every 30 seconds."""


def serve_all(settings: Settings) -> None:
    """Serve a nightly deployment for each store, and one each of the other flows; blocks."""
    reach()
    asyncio.run(_prepare(settings))
    serve(*deployments(settings), limit=settings.flows.at_once + WAITING)


def deploy_all(settings: Settings, pool: str) -> list[str]:
    """Create the same deployments in a work pool, for its workers to run; returns their names."""
    reach()
    asyncio.run(_prepare(settings))
    asyncio.run(_make_pool(pool, settings.flows.at_once + WAITING))
    made = deployments(settings, remote=True)
    for one in made:  # not by prefect.deploy, which goes on when one of them fails
        one.apply(work_pool_name=pool)
    return [f"{item.flow_name}/{item.name}" for item in made]


def deployments(settings: Settings, remote: bool = False) -> list[Any]:
    """Return the deployments; one at a time for each store, and later ones wait."""
    common = {"state": str(settings.state), "config": str(settings.path) if settings.path else None}
    nights_of = [
        _from(nightly, remote).to_deployment(
            name=f"nightly-{name}",
            schedule=_schedule(store, settings),
            parameters={"store": name, **common},
            concurrency_limit=ConcurrencyLimitConfig(
                limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE
            ),
            description=f"The night of {name}.",
            tags=["memops", name],
        )
        for name, store in settings.stores.items()
    ]
    others = [
        _from(flow, remote).to_deployment(name=name, parameters=common, tags=["memops"])
        for flow, name in OTHERS.items()
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


async def _prepare(settings: Settings) -> None:
    """Have the server let stores queue, see what crashed, and notify."""
    async with get_client() as client:
        await client.upsert_global_concurrency_limit_by_name(TURNS, settings.flows.at_once)
    await _watch()
    await notify(settings.notify)


async def _make_pool(pool: str, most: int) -> None:
    async with get_client() as client:
        try:
            made = WorkPoolCreate(name=pool, type="process", concurrency_limit=most)
            await client.create_work_pool(made)
        except ObjectAlreadyExists:
            return


async def _watch() -> None:
    """Have the server call a run crashed whose process, or machine, fell silent."""
    wanted = Automation(
        name=CRASHED,
        description="Nothing was heard of the process for a while; the next night goes on.",
        trigger=EventTrigger(
            after={"prefect.flow-run.heartbeat"},
            expect={"prefect.flow-run.*"},
            match={"prefect.resource.id": ["prefect.flow-run.*"]},
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=timedelta(seconds=30 * BEATS),
        ),
        actions=[ChangeFlowRunState(state="CRASHED", message="its process fell silent")],
    )
    async with get_client() as client:
        if not await client.read_automations_by_name(CRASHED):
            await wanted.acreate()
