"""The night of one store as a Prefect flow: the steps of `night.curate`, each a task."""

import sys
from pathlib import Path
from typing import Any

from httpx import HTTPError
from prefect import flow
from prefect.exceptions import PrefectException
from prefect.states import State

sys.path.insert(0, str(Path(__file__).parent))
from approving import Turn, asking
from flowing import (
    COMMON,
    HOOKS,
    Approve,
    Config,
    Folder,
    Limits,
    Minutes,
    Now,
    Store,
    Suite,
    by_hand,
    counted,
    finished,
    leave_artifacts,
    lost,
    settings,
)
from runners import mapping

from memops import steps
from memops.errors import MemopsError
from memops.nights import rounds

STEPS = 7
"""Of a night with a suite: recover, snapshot, plan, grade, apply, report, prune."""


@flow(name="nightly", **COMMON, **HOOKS)
def nightly(
    store: Store,
    config: Config = None,
    state: Folder = None,
    suite: Suite = None,
    approve: Approve = False,
    now: Now = None,
    limits: Limits | None = None,
    policy: dict[str, Any] | None = None,
    approval_minutes: Minutes = None,
) -> State[Any]:
    """Snapshot, plan, grade, gate, apply and report one store.

    A failed gate or a plan that waits for a person is a completed flow with a state that says so;
    a store that is lost is a failure.
    """
    return curated(**locals(), migrate=False)


def curated(
    store: str,
    config: str | None,
    state: str | None,
    limits: Limits | None,
    policy: dict[str, Any] | None,
    approval_minutes: float | None,
    now: str | None,
    **how: Any,
) -> State[Any]:
    """Run a night with every step as a task, leave its artifacts and return its state."""
    try:
        own = settings(config, state, limits, policy)
        at = steps.instant(now)
    except MemopsError as error:
        return lost(store, type(error).__name__, error.code, error.message, error.hint)
    wait = own.flows.approval_minutes if approval_minutes is None else approval_minutes
    passing = (PrefectException, HTTPError)
    try:
        with Turn() as turn, mapping(own.runner) as mapper:
            call, ask = counted(STEPS), asking(wait, turn)
            night = rounds.night(store, own, at, passing, call=call, ask=ask, mapper=mapper, **how)
    except MemopsError as error:
        return lost(store, type(error).__name__, error.code, error.message, error.hint)
    if "report" in night:
        leave_artifacts(night)
    return finished(night)


if __name__ == "__main__":
    by_hand(nightly)
