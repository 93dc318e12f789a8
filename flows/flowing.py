"""What the flows share: parameters, steps as tasks, artifacts, states.

Parameters are names and paths; no memory text goes into parameters, states, logs or artifacts.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NoReturn

import httpx
from prefect import artifacts, get_run_logger, runtime, task
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
from memops.nights.night import finished_first, summary
from memops.policy import from_table
from memops.settings import Settings

Minutes = Annotated[float, Field(ge=0)]


class Limits(TypedDict, total=False):
    """How much may change without a person; what is left out is as the settings say."""

    share: Annotated[float, Field(ge=0, le=1)]
    records: Annotated[int, Field(ge=0)]
    small: Annotated[int, Field(ge=0)]
    fresh_minutes: Annotated[float, Field(ge=0)]
    plan_hours: Annotated[float, Field(gt=0)]


RETRIED = {"take_snapshot", "grade_plan", "gate", "audit_store", "collect_nodes"}
"""Steps that read a store or an endpoint and change nothing; apply is resumed, not retried."""
UNTIMED = {"apply_step", "apply_plan", "accept_plan", "recover"}
"""Steps that no clock cuts off; they could be resumed, but need not be."""
STEP_SECONDS = 4 * 3600
FLOW_SECONDS = 24 * 3600
WORDS = {0: "Completed", 3: "CompletedWithSkips", 30: "GateFailed", 31: "GateInconclusive"}
COUNTS = ("rows", "live", "ops", "records", "applied", "verdict", "code")
"""What a step's line in the log tells of what it did."""


def settings(
    config: str | None,
    state: str | None,
    limits: Limits | None = None,
    policy: dict[str, Any] | None = None,
    minutes: float | None = None,
) -> Settings:
    """Return the settings of a file with a flow's own limits and policy; raises MemopsError.

    A plan waits `minutes` for a person, or as long as the settings say.
    """
    read = settings_of.read(Path(config) if config else None, Path(state) if state else None)
    wait = read.flows.approval_minutes if minutes is None else minutes
    own = {"plan_hours": wait / 60} if wait else {}
    own |= (policy or {}).get("limits", {}) | (limits or {})
    table = (policy or {}) | {"limits": own}
    return replace(read, policy=from_table(table, "parameters", read.policy))


def titled() -> str:
    """Return a flow run's name: what it does, of which store, for which day."""
    run = runtime.flow_run
    given, at = run.parameters, run.scheduled_start_time or datetime.now(UTC)
    about = given.get("store") or given.get("plan")
    about = about or ("every store" if "stores" in given else "nodes")
    return f"{run.flow_name} {about} {at:%Y-%m-%d %H:%M}"


def as_task(step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a step as a Prefect task: retried where that is safe, its result never stored."""
    return _task(step)(*args, **kwargs)


@cache
def _task(step: Callable[..., Any]) -> Any:
    name, how = step.__name__, dict[str, Any]()
    if name in RETRIED:
        how = {"retries": 2, "retry_delay_seconds": [2, 10], "retry_condition_fn": _passing}
    if name not in UNTIMED:
        how["timeout_seconds"] = STEP_SECONDS
    how |= {"cache_policy": NO_CACHE, "persist_result": False, "log_prints": False}
    return task(_quiet(step), name=name.replace("_", " "), tags=["memops"], **how)


@contextmanager
def counted(total: int) -> Iterator[Callable[..., Any]]:
    """Yield `as_task` with a progress artifact that counts the steps; at the end all are done."""
    progress, done = artifacts.create_progress_artifact(0.0, description="Steps of the night"), 0

    def call(step: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        nonlocal done
        value = as_task(step, *args, **kwargs)
        done += 1
        artifacts.update_progress_artifact(progress, min(100.0, 100.0 * done / total))
        return value

    yield call
    artifacts.update_progress_artifact(progress, 100.0)


def leave_artifacts(night: dict[str, Any], own: Settings) -> None:
    """Leave a summary with the changes by rule, the line that takes them back and the report."""
    key = f"night-{slug(night['store'])}"
    told = f"{summary(night, own.typed())}\nThe report: `{night['report']}`\n"
    artifacts.create_markdown_artifact(told, key=key, description="What the night did")


def finished(night: dict[str, Any]) -> State[Any]:
    """Return the state that says how the night ended."""
    if "error" in night:
        return lost(night["store"], night["cause"], night["code"], night["error"], night["hint"])
    counts = f"{night['ops']} changes of {night['records']} records"
    message = f"{night['store']}: {counts}, {night.get('applied', 0)} records changed"
    message += f"; {night['stopped']}" if night.get("stopped") else ""
    name = WORDS.get(night["code"], "Completed")
    return Completed(name=name, message=message + finished_first(night))


def refused(what: str, error: MemopsError) -> State[Any]:
    """Return the state of what an error ended."""
    return lost(what, type(error).__name__, error.code, error.message, error.hint)


def lost(what: str, cause: str, code: int, message: str, hint: str = "") -> State[Any]:
    """Return the state of what failed: named after its cause, with its exit code and next step."""
    then = f"; {hint}" if hint else ""
    return Failed(name=cause, message=f"{what}: {message} (exit {code}){then}")


def name_the_remedy(flow: Any, flow_run: Any, state: State[Any]) -> None:
    """Say, when a flow failed, crashed or was cancelled, which command ends what it left open."""
    given = flow_run.parameters
    store = given.get("store") or given.get("plan")
    try:
        found = steps.remedies(store, settings(given.get("config"), given.get("state")))
    except MemopsError:
        return
    log = flow_run_logger(flow_run, flow)
    for remedy in found:
        log.error("a run was cut off: %s; the next night goes on with it, too", remedy)
    if found:
        about = f"What {flow_run.name} left open ({state.name})"
        text = "\n".join(f"- {remedy}" for remedy in found)
        artifacts.create_markdown_artifact(text, key=f"remedy-{slug(store)}", description=about)


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
    when: [name_the_remedy] for when in ("on_failure", "on_crashed", "on_cancellation")
}
COMMON: dict[str, Any] = {
    "flow_run_name": titled, "log_prints": False, "persist_result": False,
    "timeout_seconds": FLOW_SECONDS,
}  # fmt: skip


def _quiet(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step whose errors quote no memory."""

    def quiet(*args: Any, **kwargs: Any) -> Any:
        error: MemopsError | None = None
        try:
            value = step(*args, **kwargs)
            said = value if isinstance(value, dict) else {}
            counts = [f"{name} {said[name]}" for name in COUNTS if name in said]
            title = step.__name__.replace("_", " ")
            get_run_logger().info("%s: %s", title, ", ".join(counts) or "done")
            return value
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
