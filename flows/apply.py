"""Carrying out a plan that a person approved, as a short Prefect flow."""

from typing import Any

from approving import settle
from flowing import COMMON, HOOKS, WORDS, as_task, by_hand, lost, refused, settings
from prefect import flow
from prefect.states import Completed, State

from memops import steps
from memops.errors import MemopsError


@flow(name="apply", **COMMON, **HOOKS)
def apply(
    plan: str,
    approve: bool = False,
    by: str = "",
    config: str | None = None,
    state: str | None = None,
) -> State[Any]:
    """Carry out a plan that awaits approval.

    What was accepted in a review is carried out, and what may run unattended. A plan that is
    refused, or has expired, is a failure; nothing is changed then.

    Args:
        plan: The plan, as the notice and the night's artifact name it.
        approve: Carry out all of it, beyond the limits of a night, too.
        by: Who approves it, for the record.
        config: The settings file; memops.toml if none.
        state: The state folder, if not the settings' own.
    """
    try:
        done = as_task(steps.apply_plan, plan, settings(config, state), approve)
    except MemopsError as error:
        return refused(plan, error)
    if "error" in done:
        return lost(plan, done["cause"], done["code"], done["error"], done["hint"])
    who = f", approved by {by}" if by else ""
    undo = f"undo: memops rollback {done.get('run')}"
    message = f"{plan}: {done['applied']} records changed{who}; {undo}"
    settle(plan, message)
    return Completed(name=WORDS.get(done["code"]), message=message)


if __name__ == "__main__":
    by_hand(apply)
