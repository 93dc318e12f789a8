"""Runners: the Dask cluster that a flow's heavy steps may run on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from memops.errors import MemopsError
from memops.settings import Runner

RETRIES = 2
"""Of a part whose worker died, or that failed; it leaves its file whole or not at all."""


@contextmanager
def mapping(runner: Runner) -> Iterator[Callable[..., list[Any]] | None]:
    """Open a Dask cluster if the settings name one; yields what runs jobs on it, else None.

    Threads and processes are opened by the steps. Workers get bare functions: a Prefect task
    would carry the flow's whole context along.
    """
    if runner.kind != "dask":
        yield None
        return
    with _client(runner) as client:

        def run(step: Callable[..., Any], jobs: Any) -> list[Any]:
            parts = [client.submit(step, *job, pure=False, retries=RETRIES) for job in jobs]
            done: list[Any] = client.gather(parts)
            return done

        yield run


def _client(runner: Runner) -> Any:
    """A client of the Dask scheduler, or of a local cluster; raises MemopsError without Dask."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MemopsError("Dask is not installed", 'pip install "memops[dask]"') from error
    if runner.address:
        return Client(runner.address)
    return Client(n_workers=runner.workers, threads_per_worker=1, dashboard_address=None)
