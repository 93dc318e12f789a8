"""Automations: what the Prefect server does by itself for runs with the tag `memops`, and no others.

It calls a run crashed whose process fell silent, and tells of flows that failed or await approval.
"""

import os
from datetime import timedelta
from typing import Any

from approving import AWAITING
from prefect.blocks.notifications import CustomWebhookNotificationBlock, SlackWebhook
from prefect.client.orchestration import SyncPrefectClient
from prefect.events.actions import ChangeFlowRunState, SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.exceptions import ObjectNotFound
from pydantic import SecretStr

from memops.settings import Notify

_FREQUENCY = "PREFECT_FLOWS_HEARTBEAT_FREQUENCY"
HEARTBEAT = {_FREQUENCY: os.environ.get(_FREQUENCY, "30")}
"""Environment of all that is served or deployed: seconds between the heartbeats of a run."""
MISSED = 10
"""Heartbeats that a run may miss: a busy machine delays some, and a busy server loses some."""

CRASHED = "memops: flow runs whose process is gone"
WAYS: dict[str, Any] = {"webhook": CustomWebhookNotificationBlock, "email": SlackWebhook}
"""Blocks that tell; Slack's is the one that every server knows and that takes any Apprise address."""
TOLD: dict[str, dict[str, Any]] = {
    "failed": {"match": {"prefect.state-type": ["FAILED", "CRASHED"]}},
    "waiting": {"expect": {f"prefect.flow-run.{AWAITING}"}},
}
SAID = {"description", "trigger", "actions"}
SUBJECT = "memops: {{ flow_run.name }} is {{ flow_run.state.name }}"
BODY = "{{ flow_run.state.message }}\n{{ flow_run|ui_url }}"


def keep(client: SyncPrefectClient, asked: Notify) -> None:
    """Have the server watch and tell as the settings say; what they no longer name is removed."""
    wanted = {CRASHED: _watch()}
    for way in WAYS:
        if block := _block(way, asked):
            document = block.save(f"memops-{way}", overwrite=True)
            wanted |= {name: _telling(name, document, why) for why, name in _names(way).items()}
    _only(client, wanted)


def remove(client: SyncPrefectClient) -> None:
    """Remove the automations and the blocks that serving left on the server."""
    _only(client, {})
    for way, kind in WAYS.items():
        try:
            found = client.read_block_document_by_name(f"memops-{way}", kind.get_block_type_slug())
            client.delete_block_document(found.id)
        except ObjectNotFound:
            continue


def _only(client: SyncPrefectClient, wanted: dict[str, AutomationCore]) -> None:
    """Make memops' automations those that are wanted; one that is there as it should be stays."""
    for name in [CRASHED, *(name for way in WAYS for name in _names(way).values())]:
        there, one = client.read_automations_by_name(name), wanted.get(name)
        for extra in there[1 if one else 0 :]:
            client.delete_automation(extra.id)
        if one and not there:
            client.create_automation(one)
        elif one and one.model_dump(include=SAID) != there[0].model_dump(include=SAID):
            client.update_automation(there[0].id, one)


def _names(way: str) -> dict[str, str]:
    return {why: f"memops: {way} when {why}" for why in TOLD}


def _trigger(**how: Any) -> EventTrigger:
    """A trigger of flow runs with memops' tag."""
    match = {"prefect.resource.id": "prefect.flow-run.*"} | how.pop("match", {})
    tagged = {"prefect.resource.role": "tag", "prefect.resource.id": "prefect.tag.memops"}
    expect = how.pop("expect", {"prefect.flow-run.*"})
    return EventTrigger(match=match, match_related=tagged, expect=expect, threshold=1, **how)


def _watch() -> AutomationCore:
    """Call a run crashed whose process, or machine, fell silent."""
    seconds = MISSED * int(HEARTBEAT[_FREQUENCY])
    return AutomationCore(
        name=CRASHED,
        description=f"Nothing was heard of the process for {seconds} s; the next night goes on.",
        trigger=_trigger(
            after={"prefect.flow-run.heartbeat"},
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            within=timedelta(seconds=seconds),
        ),
        actions=[ChangeFlowRunState(state="CRASHED", message="its process fell silent")],
    )


def _telling(name: str, block: Any, why: str) -> AutomationCore:
    return AutomationCore(
        name=name,
        trigger=_trigger(posture=Posture.Reactive, **TOLD[why]),
        actions=[SendNotification(block_document_id=block, subject=SUBJECT, body=BODY)],
    )


def _block(way: str, asked: Notify) -> Any:
    if way == "webhook" and asked.webhook:
        told = {"subject": "{{subject}}", "text": "{{body}}"}
        return WAYS[way](name="memops", url=asked.webhook, json_data=told)
    return WAYS[way](url=SecretStr(asked.email)) if way == "email" and asked.email else None
