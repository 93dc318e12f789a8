"""The audit of a store as a Prefect flow: what is wrong in it, counted; nothing is changed."""

import sys
from pathlib import Path
from typing import Annotated, Any

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.states import Completed, State
from pydantic import Field

sys.path.insert(0, str(Path(__file__).parent))
from flowing import COMMON, Config, Folder, Now, Store, as_task, by_hand, lost, settings, slug

from memops import steps
from memops.errors import Finding, MemopsError

FailOn = Annotated[
    list[str], Field(description="Classes whose findings are worth an alert: secrets, injections.")
]


@flow(name="audit", **COMMON)
def audit(
    store: Store,
    fail_on: FailOn = [],  # noqa: B006  (it is only read, and a form shows it)
    config: Config = None,
    state: Folder = None,
    now: Now = None,
) -> State[Any]:
    """Count what is wrong in a store; a finding in `fail_on` is a completed flow that says so."""
    try:
        said = as_task(
            steps.audit_store, store, settings(config, state), steps.instant(now), fail_on
        )
    except MemopsError as error:
        return lost(store, type(error).__name__, error.code, error.message, error.hint)
    rows = [
        {"class": name, "findings": found.get("count", "not measurable")}
        for name, found in said["classes"].items()
    ]
    create_table_artifact(rows, key=f"audit-{slug(store)}", description="Findings by class")
    if said["failed"]:
        message = f"{store}: findings of {', '.join(said['failed'])} (exit {Finding.code})"
        return Completed(name="Findings", message=message)
    return Completed(message=f"{store}: {said['live']} live records examined")


if __name__ == "__main__":
    by_hand(audit)
