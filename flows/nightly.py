"""The night of one store as a Prefect flow: the steps of `steps.curate`, each a task.

Parameters are names and paths; no memory text goes into parameters, states, logs or artifacts.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.states import Completed, State

from memops import settings as settings_of
from memops import steps

RETRIED = {"take_snapshot"}
"""Steps that touch a store and change nothing; apply is resumed, not retried."""


@flow(name="nightly", flow_run_name="nightly {store}", log_prints=False, validate_parameters=True)
def nightly(
    store: str,
    config: str | None = None,
    state: str | None = None,
    suite: str | None = None,
    approve: bool = False,
    now: str | None = None,
) -> State:
    """Snapshot, plan, grade, gate, apply and report one store.

    A failed gate or a plan that waits for a person is a completed flow with a state that says so;
    a store that is lost is a failure.
    """
    night = curated(store, config, state, suite, approve, now, migrate=False)
    return finished(night)


def curated(
    store: str,
    config: str | None,
    state: str | None,
    suite: str | None,
    approve: bool,
    now: str | None,
    migrate: bool,
) -> dict[str, Any]:
    """Run a night with every step as a task and leave its artifacts."""
    settings = settings_of.read(Path(config) if config else None, Path(state) if state else None)
    night = steps.curate(
        store, settings, steps.instant(now), as_task, suite, approve=approve, migrate=migrate
    )
    leave_artifacts(night)
    return night


def as_task(step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a step as a Prefect task: retried where that is safe, its result never stored."""
    retries = {"retries": 2, "retry_delay_seconds": [2, 10]} if step.__name__ in RETRIED else {}
    made = task(
        step,
        name=step.__name__.replace("_", " "),
        cache_policy=NO_CACHE,
        persist_result=False,
        log_prints=False,
        **retries,
    )
    return made(*args, **kwargs)


def leave_artifacts(night: dict[str, Any]) -> None:
    """Leave a summary, the changes by rule and a link to the report."""
    key = "".join(c if c.isalnum() else "-" for c in night["store"].lower()).strip("-")[-60:]
    create_markdown_artifact(
        steps.summary(night), key=f"night-{key}", description="What the night did"
    )
    rows = [
        {"rule": rule, "change": op, "records": n}
        for rule, ops in night["by_rule"].items()
        for op, n in ops.items()
    ]
    create_table_artifact(rows, key=f"changes-{key}", description="Changes by rule")
    create_link_artifact(f"file://{night['report']}", key=f"report-{key}", link_text="report")


def finished(night: dict[str, Any]) -> State:
    """Return the state that says how the night ended."""
    words = {
        0: "Completed",
        3: "CompletedWithSkips",
        23: "AwaitingApproval",
        30: "GateFailed",
        31: "GateInconclusive",
    }
    message = f"{night['store']}: {night['ops']} planned, {night.get('applied', 0)} applied"
    if night.get("stopped"):
        message += f"; {night['stopped']}"
    return Completed(name=words.get(night["code"], "Completed"), message=message)


if __name__ == "__main__":
    nightly("clawseed")
