"""The wait for a person: the night ends, its plan waits, and approval starts the short flow `apply`.

No process waits. A person approves in the form of the deployment `apply`, with `memops review
--accept`, or through the API; each runs the step that `memops apply` runs.
"""

import json
import shlex
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from flowing import slug
from prefect.artifacts import create_markdown_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas import filters
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL
from prefect.states import Completed, State
from prefect.utilities.urls import url_for

from memops.nights.night import summary
from memops.settings import Settings

APPLY = "apply/apply"
"""The deployment that carries out what was approved."""
AWAITING, APPROVED, EXPIRED = "AwaitingApproval", "Approved", "ApprovalExpired"
CODE = 34
"""Exit code of a night that awaits approval."""


def awaiting(night: dict[str, Any], own: Settings) -> State[Any]:
    """Return the state of a night whose plan waits; an artifact says how it is approved."""
    memops, plan = _typed(own), night["plan"]
    hours = own.policy.limits.plan_hours
    create_markdown_artifact(
        "\n".join([summary(night), *_ways(memops, plan), "", f"It expires after {hours:g} hours."]),
        key=f"approval-{slug(night['store'])}",
        description="A plan that waits for a person",
    )
    counts = f"{night['ops']} changes of {night['records']} records wait"
    said = f"{night['store']}: {counts}; {night['stopped']}; {memops} review {plan} (exit {CODE})"
    return Completed(name=AWAITING, message=said)


def start(plan: str) -> str:
    """Have the deployment `apply` carry out what was accepted of a plan; returns the run's name.

    Nothing is started, and '' returned, for a plan that no night on this server waits with.
    """
    with get_client(sync_client=True) as client:
        if not (_waiting(plan) and (found := _deployment())):
            return ""
        run = client.create_flow_run_from_deployment(found.id, parameters={"plan": plan})
    return str(run.name)


def settle(plan: str, message: str) -> None:
    """Say on the run of the night that waited with a plan that it was carried out."""
    _ended(_waiting(plan), APPROVED, message)


def expire(store: str, own: Settings) -> None:
    """Say on the nights of a store that waited in vain that their plans have expired."""
    since = datetime.now(UTC) - timedelta(hours=own.policy.limits.plan_hours)
    late = [
        run
        for run in _waiting("")
        if run.parameters.get("store") == store and run.state and run.state.timestamp < since
    ]
    _ended(late, EXPIRED, f"{store}: nobody approved the plan in time")


def _typed(own: Settings) -> str:
    """What a person types before a command, from any folder."""
    given = [f"--config {shlex.quote(str(own.path))}"] if own.path else []
    return " ".join(["memops", *given, f"--state {shlex.quote(str(own.state))}"])


def _ways(memops: str, plan: str) -> list[str]:
    lines = [
        "### To approve it",
        "",
        f"- look: `{memops} review {plan}`",
        f"- all of it, in a terminal: `{memops} apply {plan} --approve`",
    ]
    if found := _deployment():
        given = {**found.parameters, "plan": plan, "approve": True}
        # The form takes them out of its address encoded twice.
        form = (
            f"{url_for(found)}/run?parameters={quote(quote(json.dumps(given), safe=''), safe='')}"
        )
        api = f"{PREFECT_API_URL.value()}/deployments/{found.id}/create_flow_run"
        asked = shlex.quote(json.dumps({"parameters": {"plan": plan, "approve": True}}))
        lines += [
            f"- all of it, [in the form of `apply`]({form})",
            f"- through the API: `curl -H 'content-type: application/json' -d {asked} {api}`",
        ]
    return lines


def _deployment() -> Any:
    with get_client(sync_client=True) as client:
        try:
            return client.read_deployment_by_name(APPLY)
        except ObjectNotFound:
            return None


def _waiting(plan: str) -> list[FlowRun]:
    """The runs of nights that wait with a plan, or with any."""
    state = filters.FlowRunFilterState(name=filters.FlowRunFilterStateName(any_=[AWAITING]))
    asked = filters.FlowRunFilter(state=state)
    with get_client(sync_client=True) as client:
        found = client.read_flow_runs(flow_run_filter=asked, limit=200)
    return [run for run in found if run.state and f"review {plan}" in (run.state.message or "")]


def _ended(runs: list[FlowRun], name: str, message: str) -> None:
    with get_client(sync_client=True) as client:
        for run in runs:
            state = Completed(name=name, message=message)
            client.set_flow_run_state(run.id, state, force=True)
