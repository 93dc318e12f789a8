"""The night of one store as a Prefect flow: the steps of `night.curate`, each a task."""

from datetime import datetime
from typing import Any

import flowing
from approving import awaiting, replaced
from flowing import COMMON, HOOKS, Limits, Minutes
from httpx import HTTPError
from prefect import flow, get_run_logger, runtime
from prefect.exceptions import PrefectException
from prefect.states import State

from memops import steps
from memops.errors import MILD, MemopsError
from memops.nights import notices, several

STEPS = 7
"""Of a night with a suite: recover, snapshot, plan, grade, apply, report, prune."""


@flow(name="nightly", **COMMON, **HOOKS)
def nightly(
    store: str,
    config: str | None = None,
    state: str | None = None,
    suite: str | None = None,
    approve: bool = False,
    now: str | None = None,
    limits: Limits | None = None,
    policy: dict[str, Any] | None = None,
    approval_minutes: Minutes | None = None,
) -> State[Any]:
    """Snapshot, plan, grade, gate, apply and report one store.

    What may happen unattended is done first; what waits for a person then, all of it when the plan
    goes beyond its limits, is a completed flow that awaits approval. A failed gate is one that says
    so; a store that is lost is a failure.

    Args:
        store: A name in memops.toml, or an address such as openclaw:WORKSPACE.
        config: The settings file; memops.toml if none.
        state: The state folder, if not the settings' own.
        suite: The suite to grade with, if not the store's.
        approve: Apply even beyond the limits of a night.
        now: Fix the clock, e.g. 2026-06-01T02:00:00Z.
        limits: How much may change without a person; what is left out is as the settings say.
        policy: Other settings of the policy for this run alone, by section and name.
        approval_minutes: How long what waits for a person can be approved; 0 is its whole life.
    """
    how = {"suite": suite, "approve": approve, "migrate": runtime.flow_run.flow_name == "migrate"}
    passing = (PrefectException, HTTPError)
    try:
        own = flowing.settings(config, state, limits, policy, approval_minutes)
        at = steps.fixed(now)
        with several.turn(own), flowing.counted(STEPS) as call:
            night = several.night(store, own, at, passing, call=call, **how)
    except MemopsError as error:
        return flowing.refused(store, error)
    if "report" in night:
        flowing.leave_artifacts(night, own)
        replaced(night)
    for said in notices.tell(
        [night], own, own.typed(), datetime.fromisoformat(night["now"]), ("command", "ping")
    ):
        get_run_logger().warning(said)  # by the other ways the server tells
    waits = night.get("waiting") and night["code"] in MILD
    return awaiting(night, own) if waits else flowing.finished(night)


if __name__ == "__main__":
    flowing.by_hand(nightly)
