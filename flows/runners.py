"""Runners: the heavy steps of a plan as Prefect tasks on threads, processes or a Dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner, ThreadPoolTaskRunner

from memops.errors import MemopsError
from memops.settings import Runner

RETRIES = 2
"""Of a part whose worker died, or that failed; it leaves its file whole or not at all."""


@contextmanager
def mapping(runner: Runner) -> Iterator[Callable[..., list[Any]] | None]:
    """Open the task runner of the settings; yields what runs jobs on it, None for none."""
    if runner.kind == "plain":
        yield None
        return
    with _opened(runner) as pool:

        def run(step: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> list[Any]:
            futures = [pool.submit(_part(step, job), {}) for job in jobs]
            return [future.result() for future in futures]

        yield run


def _part(step: Callable[..., Any], job: tuple[Any, ...]) -> Any:
    """A job as a task without parameters, since Prefect would walk into them."""

    def part() -> Any:
        return step(*job)

    return task(
        part,
        name=step.__name__.replace("_", " "),
        tags=["memops"],
        retries=RETRIES,
        cache_policy=NO_CACHE,
        persist_result=False,
        log_prints=False,
    )


def _opened(runner: Runner) -> TaskRunner[Any]:
    """The task runner; raises MemopsError when Dask is not installed."""
    made: TaskRunner[Any]
    if runner.kind == "threads":
        made = ThreadPoolTaskRunner(max_workers=runner.workers)
    elif runner.kind == "processes":
        made = ProcessPoolTaskRunner(max_workers=runner.workers)
    else:
        try:
            from prefect_dask import DaskTaskRunner
        except ImportError as error:
            raise MemopsError("Dask is not installed", 'pip install "memops[dask]"') from error
        made = DaskTaskRunner(
            address=runner.address or None,
            cluster_kwargs=None
            if runner.address
            else {"n_workers": runner.workers, "threads_per_worker": 1, "dashboard_address": None},
        )
    return made
