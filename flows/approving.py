"""The wait for a person: a night whose plan goes beyond its limits is asked about, by Prefect's pause.

Stores take turns, and one that waits lets the others go on.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from flowing import slug
from prefect import runtime
from prefect.artifacts import create_markdown_artifact
from prefect.client.orchestration import get_client
from prefect.concurrency.sync import concurrency
from prefect.exceptions import FlowPauseTimeout
from prefect.flow_runs import pause_flow_run
from prefect.input import RunInput
from prefect.states import Running
from pydantic import Field

from memops.nights.night import summary

TURNS = "memops-stores"
"""The concurrency limit by which stores queue; made by `memops serve` and `memops deploy`."""


class Approval(RunInput):  # type: ignore[misc]
    """What a person answers when a plan goes beyond its limits."""

    approve: bool = Field(description="Apply the plan although it goes beyond the limits.")
    by: str = Field(default="", description="Who says so.")


class Turn:
    """A store's turn: so many of them work at once, and one that waits for a person lets go.

    A process that is killed loses its turn within a minute; one that a busy server forgets keeps
    on working, since the lock of its store is what protects it.
    """

    def __init__(self) -> None:
        self._held: AbstractContextManager[None] | None = None

    def __enter__(self) -> "Turn":
        self._held = concurrency(
            TURNS, occupy=1, lease_duration=60, raise_on_lease_renewal_failure=False
        )
        self._held.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._held:
            self._held.__exit__(None, None, None)
            self._held = None


def asking(minutes: float, turn: Turn) -> Callable[[dict[str, Any]], bool]:
    """Return a function that pauses the flow until a person has answered for a night's plan.

    A plan that nobody approves in time stays a plan; the flow goes on, and says so in its state.
    """

    def ask(night: dict[str, Any]) -> bool:
        if minutes <= 0:
            return False
        key = slug(night["store"])
        create_markdown_artifact(
            summary(night) + f"\nThe plan: `{night['path']}/ops.jsonl`\n",
            key=f"approval-{key}",
            description="A plan that waits for a person",
        )
        wanted = Approval.with_initial_data(
            description=f"{night['stopped']}. Its changes: {night['path']}/ops.jsonl", approve=False
        )
        turn.__exit__()
        try:
            said = pause_flow_run(
                wait_for_input=wanted, timeout=max(1, round(60 * minutes)), poll_interval=2
            )
        except FlowPauseTimeout:
            night["waited"] = "ApprovalExpired"
            _running()
            return False
        finally:
            turn.__enter__()
        night["waited"] = "Approved" if said.approve else "ApprovalRefused"
        return bool(said.approve)

    return ask


def _running() -> None:
    """Put a run that waited in vain back to running; the server would only let it fail."""
    with get_client(sync_client=True) as client:
        state = Running(name="ApprovalExpired")
        client.set_flow_run_state(runtime.flow_run.id, state, force=True)
