"""The wait for a person: the night ends, its plan waits, and approval starts the short flow `apply`."""

import json
import shlex
from typing import Any
from urllib.parse import quote

from flowing import reach, slug
from prefect.artifacts import create_markdown_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas import filters
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL
from prefect.states import Completed, State
from prefect.utilities.urls import url_for

from memops.errors import StoreNotFound
from memops.nights.night import finished_first, summary
from memops.settings import Settings

APPLY = "apply/apply"
"""The deployment that carries out what was approved."""
AWAITING, STILL = "AwaitingApproval", "StillAwaitingApproval"
APPROVED, EXPIRED = "Approved", "ApprovalExpired"
CODE = 34
"""Exit code of a night that awaits approval."""


def awaiting(night: dict[str, Any], own: Settings) -> State[Any]:
    """Return the state of a night that waits for a person; an artifact says how it is approved.

    Where they were asked about all of it before, the state is another, of which no notice tells.
    """
    memops, plan = own.typed(), night["plan"]
    hours = own.policy.limits.plan_hours
    until = f"It expires after {hours:g} hours."
    text = "\n".join([summary(night, memops), *_ways(memops, plan), "", until])
    key = f"approval-{slug(night['store'])}"
    create_markdown_artifact(text, key=key, description="A plan that waits for a person")
    rules = ", ".join(f"{rule} {n}" for rule, n in night["open"].items())
    done = night.get("stopped") or f"{night.get('applied', 0)} records changed without asking"
    counts = f"{night['waiting']} of {night['ops']} changes wait ({rules}); {done}"
    said = (
        f"{night['store']}: {counts}{finished_first(night)}; {memops} review {plan} (exit {CODE})"
    )
    return Completed(name=AWAITING if night["new"] else STILL, message=said)


def start(plan: str, accept: str) -> str:
    """Have the deployment `apply` carry out changes of a plan; returns the run's name.

    Nothing is started, and '' returned, for a plan that no night on this server waits with.
    """
    try:
        reach()
        if not (_waiting(plan) and (found := _deployment())):
            return ""
    except StoreNotFound:
        return ""
    given = {"plan": plan, "accept": [accept], "by": "memops review"}
    with get_client(sync_client=True) as client:
        return str(client.create_flow_run_from_deployment(found.id, parameters=given).name)


def settle(plan: str, message: str) -> None:
    """Say on the run of the night that waited with a plan that it was carried out."""
    _ended(_waiting(plan), APPROVED, message)


def replaced(night: dict[str, Any]) -> None:
    """Say on the nights of a store that waited in vain that a newer plan took their plans' place."""
    late = [run for run in _waiting("") if run.parameters.get("store") == night["store"]]
    said = f"{night['store']}: nobody approved it; plan {night['plan']} took its place"
    _ended(late, EXPIRED, said)


def _ways(memops: str, plan: str) -> list[str]:
    lines = [
        "### To approve it",
        "",
        f"- look: `{memops} review {plan}`",
        f"- some of it: `{memops} review {plan} --accept NUMBER|RULE|all`",
        f"- all of it, in a terminal: `{memops} apply {plan} --approve`",
    ]
    if found := _deployment():
        given = {**found.parameters, "plan": plan, "approve": True}
        # The form takes them out of its address encoded twice.
        filled = quote(quote(json.dumps(given), safe=""), safe="")
        form = f"{url_for('deployment', found.id)}/run?parameters={filled}"
        api = f"{PREFECT_API_URL.value()}/deployments/{found.id}/create_flow_run"
        asked = shlex.quote(json.dumps({"parameters": {"plan": plan, "approve": True}}))
        lines += [
            f"- all of it, [in the form of apply]({form})",
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
    state = filters.FlowRunFilterState(name=filters.FlowRunFilterStateName(any_=[AWAITING, STILL]))
    asked = filters.FlowRunFilter(state=state)
    with get_client(sync_client=True) as client:
        found = client.read_flow_runs(flow_run_filter=asked, limit=200)
    return [run for run in found if run.state and f"review {plan}" in (run.state.message or "")]


def _ended(runs: list[FlowRun], name: str, message: str) -> None:
    with get_client(sync_client=True) as client:
        for run in runs:
            client.set_flow_run_state(run.id, Completed(name=name, message=message), force=True)
