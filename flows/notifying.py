"""Notifying: a webhook or an e-mail when a flow failed, crashed, or waits for a person.

The server sends them itself, so it needs no process of memops. They hold names, counts and states.
"""

from typing import Any

from prefect.automations import Automation
from prefect.blocks.notifications import CustomWebhookNotificationBlock, SlackWebhook
from prefect.client.orchestration import get_client
from prefect.events.actions import SendNotification
from prefect.events.schemas.automations import EventTrigger, Posture
from pydantic import SecretStr

from memops.settings import Notify

BAD = {"failed": ["FAILED", "CRASHED"], "waiting": ["PAUSED"]}
SUBJECT = "memops: {{ flow_run.name }} is {{ flow_run.state.name }}"
BODY = "{{ flow_run.state.message }}\n{{ flow_run|ui_url }}"


async def notify(asked: Notify) -> None:
    """Keep the blocks and automations of the settings; those that they no longer name are removed."""
    blocks: dict[str, Any] = {}
    if asked.webhook:
        blocks["webhook"] = CustomWebhookNotificationBlock(
            name="memops",
            url=asked.webhook,
            json_data={"subject": "{{subject}}", "text": "{{body}}"},
        )
    if asked.email:
        # The one block that every server knows and that hands any Apprise address on as it is.
        blocks["email"] = SlackWebhook(url=SecretStr(asked.email))
    for way in ("webhook", "email"):
        for why, states in BAD.items():
            await _forget(f"memops: {way} when {why}")
            if way in blocks:
                document = await blocks[way].asave(f"memops-{way}", overwrite=True)
                await _automation(f"memops: {way} when {why}", document, states).acreate()


def _automation(name: str, block: Any, states: list[str]) -> Any:
    return Automation(
        name=name,
        trigger=EventTrigger(
            expect={"prefect.flow-run.*"},
            match={"prefect.resource.id": "prefect.flow-run.*", "prefect.state-type": states},
            match_related={
                "prefect.resource.role": "tag",
                "prefect.resource.id": "prefect.tag.memops",
            },
            posture=Posture.Reactive,
            threshold=1,
        ),
        actions=[SendNotification(block_document_id=block, subject=SUBJECT, body=BODY)],
    )


async def _forget(name: str) -> None:
    async with get_client() as client:
        for found in await client.read_automations_by_name(name):
            await client.delete_automation(found.id)
