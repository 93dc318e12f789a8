"""The audit of a store as a Prefect flow: what is wrong in it, counted; nothing is changed."""

from typing import Any

from flowing import COMMON, as_task, by_hand, refused, settings, slug
from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.states import Completed, State

from memops import steps
from memops.errors import Finding, MemopsError


@flow(name="audit", **COMMON)
def audit(
    store: str,
    fail_on: list[str] = [],  # noqa: B006  (it is only read, and a form shows it)
    config: str | None = None,
    state: str | None = None,
    now: str | None = None,
) -> State[Any]:
    """Count what is wrong in a store; a finding in `fail_on` is a completed flow that says so.

    Args:
        store: A name in memops.toml, or an address such as openclaw:WORKSPACE.
        fail_on: Classes whose findings are worth an alert: secrets, injections.
        config: The settings file; memops.toml if none.
        state: The state folder, if not the settings' own.
        now: Fix the clock, e.g. 2026-06-01T02:00:00Z.
    """
    try:
        said = as_task(steps.audit_store, store, settings(config, state), steps.fixed(now), fail_on)
    except MemopsError as error:
        return refused(store, error)
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
