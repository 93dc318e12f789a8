"""What the flows share: parameters, steps as tasks, artifacts, states.

Parameters are names and paths; no memory text goes into parameters, states, logs or artifacts.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn

import httpx
from prefect import runtime, task
from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.cache_policies import NO_CACHE
from prefect.exceptions import PrefectException
from prefect.logging.loggers import flow_run_logger
from prefect.settings import PREFECT_API_URL
from prefect.states import Completed, Failed, State
from pydantic import Field
from typing_extensions import TypedDict

from memops import settings as settings_of
from memops import steps
from memops.errors import MemopsError, StoreNotFound, told
from memops.nights.night import summary
from memops.policy import from_table
from memops.settings import Settings

Store = Annotated[str, Field(title="Store", description="A name in memops.toml, or an address.")]
Config = Annotated[str | None, Field(description="The settings file; memops.toml if none.")]
Folder = Annotated[str | None, Field(description="The state folder, if not the settings' own.")]
Suite = Annotated[str | None, Field(description="The suite to grade with, if not the store's.")]
Approve = Annotated[bool, Field(description="Apply even beyond the limits of a night.")]
Now = Annotated[str | None, Field(description="Fix the clock, e.g. 2026-06-01T02:00:00Z.")]
Minutes = Annotated[
    float | None,
    Field(ge=0, description="How long a plan beyond its limits waits for a person; 0: not at all."),
]


class Limits(TypedDict, total=False):
    """How much may change without a person; what is left out is as the settings say."""

    share: Annotated[float, Field(ge=0, le=1)]
    records: Annotated[int, Field(ge=0)]
    small: Annotated[int, Field(ge=0)]
    fresh_minutes: Annotated[float, Field(ge=0)]
    plan_hours: Annotated[float, Field(gt=0)]


RETRIED = {"take_snapshot", "grade_plan", "gate", "audit_store", "collect_nodes"}
"""Steps that read a store or an endpoint and change nothing; apply is resumed, not retried."""
UNTIMED = {"apply_step", "recover"}
"""Steps that no clock cuts off; they could be resumed, but need not be."""
STEP_SECONDS = 4 * 3600
FLOW_SECONDS = 24 * 3600
WORDS = {
    0: "Completed",
    3: "CompletedWithSkips",
    23: "AwaitingApproval",
    30: "GateFailed",
    31: "GateInconclusive",
}


def settings(
    config: str | None,
    state: str | None,
    limits: Limits | None = None,
    policy: dict[str, Any] | None = None,
) -> Settings:
    """Return the settings of a file with a flow's own limits and policy; raises MemopsError."""
    read = settings_of.read(Path(config) if config else None, Path(state) if state else None)
    table = {**(policy or {}), "limits": {**(policy or {}).get("limits", {}), **(limits or {})}}
    return replace(read, policy=from_table(table, "parameters", read.policy))


def titled() -> str:
    """Return a flow run's name: what it does, of which store, for which day."""
    run = runtime.flow_run
    given, at = run.parameters, run.scheduled_start_time or datetime.now(UTC)
    about = given.get("store") or ("every store" if "stores" in given else "nodes")
    return f"{run.flow_name} {about} {at:%Y-%m-%d %H:%M}"


def as_task(step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a step as a Prefect task: retried where that is safe, its result never stored."""
    name = step.__name__
    retries: dict[str, Any] = {}
    if name in RETRIED:
        retries = {"retries": 2, "retry_delay_seconds": [2, 10], "retry_condition_fn": _passing}
    if name not in UNTIMED:
        retries["timeout_seconds"] = STEP_SECONDS
    made = task(
        _quiet(step),
        name=name.replace("_", " "),
        tags=["memops"],
        cache_policy=NO_CACHE,
        persist_result=False,
        log_prints=False,
        **retries,
    )
    return made(*args, **kwargs)


def counted(total: int) -> Callable[..., Any]:
    """Return `as_task` with a progress artifact that counts the steps."""
    progress, done = create_progress_artifact(0.0, description="Steps of the night"), 0

    def call(step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        nonlocal done
        value = as_task(step, *args, **kwargs)
        done += 1
        update_progress_artifact(progress, min(100.0, 100.0 * done / total))
        return value

    return call


def leave_artifacts(night: dict[str, Any]) -> None:
    """Leave a summary, the changes by rule and a link to the report."""
    key = slug(night["store"])
    create_markdown_artifact(summary(night), key=f"night-{key}", description="What the night did")
    rows = [
        {"rule": rule, "change": op, "records": n}
        for rule, ops in night["by_rule"].items()
        for op, n in ops.items()
    ]
    create_table_artifact(rows, key=f"changes-{key}", description="Changes by rule")
    create_link_artifact(f"file://{night['report']}", key=f"report-{key}", link_text="report")


def finished(night: dict[str, Any]) -> State[Any]:
    """Return the state that says how the night ended."""
    if "error" in night:
        return lost(night["store"], night["cause"], night["code"], night["error"], night["hint"])
    name = WORDS.get(night["code"], "Completed")
    if night["code"] == 23:
        name = night.get("waited", name)
    message = f"{night['store']}: {night['ops']} planned, {night.get('applied', 0)} applied"
    if night.get("stopped"):
        message += f"; {night['stopped']}"
    return Completed(name=name, message=message)


def lost(what: str, cause: str, code: int, message: str, hint: str = "") -> State[Any]:
    """Return the state of what failed: named after its cause, with its exit code and next step."""
    then = f"; {hint}" if hint else ""
    return Failed(name=cause, message=f"{what}: {message} (exit {code}){then}")


def name_the_remedy(flow: Any, flow_run: Any, state: State[Any]) -> None:
    """Say, when a flow failed, crashed or was cancelled, which command ends what it left open."""
    given = flow_run.parameters
    store = given.get("store")
    try:
        found = steps.remedies(store, settings(given.get("config"), given.get("state")))
    except MemopsError:
        return
    log = flow_run_logger(flow_run, flow)
    for remedy in found:
        log.error("a run was cut off: %s; the next night goes on with it, too", remedy)
    if found:
        create_markdown_artifact(
            "\n".join(f"- {remedy}" for remedy in found),
            key=f"remedy-{slug(store)}",
            description=f"What {flow_run.name} left open ({state.name})",
        )


def reach() -> None:
    """Raise StoreNotFound when the Prefect server that is configured does not answer at all."""
    url = PREFECT_API_URL.value()
    if not url:
        return  # a run starts a server of its own
    try:
        httpx.get(f"{url}/health", timeout=10)
    except httpx.HTTPError as error:
        said = f"the Prefect server at {url} does not answer: {type(error).__name__}"
        hint = "start it with `prefect server start`, or leave PREFECT_API_URL unset"
        raise StoreNotFound(said, hint) from None


def by_hand(flow: Any) -> NoReturn:
    """Run a flow from a shell, `python flows/FLOW.py STORE [SUITE]`; exits 1 if it failed."""
    if len(sys.argv) < 2 and flow.name != "nights":
        sys.exit(f"python flows/{flow.name}.py STORE")
    try:
        reach()
    except StoreNotFound as error:
        print(f"memops: {error.message}\n  {error.hint}", file=sys.stderr)
        sys.exit(error.code)
    given = [sys.argv[1:]] if flow.name in ("nights", "collect") else sys.argv[1:]
    sys.exit(flow(*given, return_state=True).is_failed())


def slug(name: str) -> str:
    """Return a name as artifacts' keys allow it; one in other letters by its numbers."""
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
    if not plain.strip("-"):
        plain = name.encode().hex()
    return plain.strip("-")[-60:].strip("-")


HOOKS: dict[str, Any] = {
    "on_failure": [name_the_remedy],
    "on_crashed": [name_the_remedy],
    "on_cancellation": [name_the_remedy],
}
COMMON: dict[str, Any] = {
    "flow_run_name": titled,
    "log_prints": False,
    "persist_result": False,
    "timeout_seconds": FLOW_SECONDS,
}


def _quiet(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step whose errors quote no memory."""

    def quiet(*args: Any, **kwargs: Any) -> Any:
        error: MemopsError | None = None
        try:
            return step(*args, **kwargs)
        except (TimeoutError, PrefectException):
            raise
        except Exception as caught:
            error = told(caught)
        raise error  # outside of the handler, so that it carries no other error along

    quiet.__name__ = quiet.__qualname__ = step.__name__
    return quiet


def _passing(task: Any, run: Any, state: State[Any]) -> bool:
    """Whether what failed may pass by itself: a store that is busy or out of reach."""
    return any(name in (state.message or "") for name in ("StoreNotFound", "Locked"))
