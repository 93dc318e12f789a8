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
    accept: list[str] = [],  # noqa: B006  (it is only read, and a form shows it)
    approve: bool = False,
    by: str = "",
    config: str | None = None,
    state: str | None = None,
) -> State[Any]:
    """Carry out a plan that awaits approval: what is accepted, or with `approve` all of it.

    A plan that is refused, or has expired, is a failure; nothing is changed then.

    Args:
        plan: The plan, as the notice and the night's artifact name it.
        accept: Changes to carry out, by number (3 or 3,7), by rule, or all that are undecided.
        approve: Carry out all that is left of it, beyond the limits of a night, too.
        by: Who approves it, for the record.
        config: The settings file; memops.toml if none.
        state: The state folder, if not the settings' own.
    """
    step = steps.accept_plan if accept else steps.apply_plan
    try:
        own = settings(config, state)
        done = as_task(step, plan, own, accept or approve)
    except MemopsError as error:
        return refused(plan, error)
    if "error" in done:
        return lost(plan, done["cause"], done["code"], done["error"], done["hint"])
    who, waiting = f", approved by {by}" if by else "", done.get("waiting", 0)
    undo = f"; undo: {own.typed()} rollback {done['run']}" if done["run"] else ""
    left = f"; {waiting} changes still wait" if waiting else ""
    message = f"{plan}: {done['applied']} records changed{who}{undo}{left}"
    if not waiting:
        settle(plan, message)
    return Completed(name=WORDS.get(done["code"]), message=message)


if __name__ == "__main__":
    by_hand(apply)
