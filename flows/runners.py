"""Runners: where a flow's heavy steps run: threads, processes or a Dask cluster."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import ThreadPoolTaskRunner

from memops.errors import MemopsError
from memops.settings import Runner

RETRIES = 2
"""Of a part whose worker died, or that failed; it leaves its file whole or not at all."""


@contextmanager
def mapping(runner: Runner) -> Iterator[Callable[..., list[Any]] | None]:
    """Open the runner of the settings; yields what runs jobs on it, None where steps open it.

    Threads are Prefect tasks. Processes and Dask workers get the bare functions: a task would
    carry the flow's whole context along.
    """
    if runner.kind in ("plain", "processes"):
        yield None
    elif runner.kind == "threads":
        with ThreadPoolTaskRunner(max_workers=runner.workers) as pool:
            yield lambda step, jobs: _results(pool.submit(_part(step, job), {}) for job in jobs)
    else:
        with _client(runner) as client:
            how = {"pure": False, "retries": RETRIES}
            yield lambda step, jobs: _results(client.submit(step, *job, **how) for job in jobs)


def _results(futures: Iterable[Any]) -> list[Any]:
    return [future.result() for future in list(futures)]


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


def _client(runner: Runner) -> Any:
    """A client of the Dask scheduler, or of a local cluster; raises MemopsError without Dask."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MemopsError("Dask is not installed", 'pip install "memops[dask]"') from error
    if runner.address:
        return Client(runner.address)
    return Client(n_workers=runner.workers, threads_per_worker=1, dashboard_address=None)
