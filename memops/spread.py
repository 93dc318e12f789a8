"""Spreading: where the heavy steps of a plan run, and how their parts come and go.

A step is a function of a folder and numbers: it reads Parquet files there and leaves another, so
that it can run in this process, in others, or on another machine that sees the folder.
"""

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memops import files
from memops.errors import MemopsError
from memops.settings import Runner

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Job = tuple[Any, ...]
Mapper = Callable[[Callable[..., Any], Sequence[Job]], list[Any]]
"""Calls a function with each job's arguments; returns what it returned, in the jobs' order."""


@dataclass(frozen=True)
class Spread:
    """A mapper, the folder of the parts, and how many statements one part holds."""

    map: Mapper
    folder: Path
    size: int


def plainly(step: Callable[..., Any], jobs: Sequence[Job]) -> list[Any]:
    """Run the jobs here, one after the other."""
    return [step(*job) for job in jobs]


@contextlib.contextmanager
def spreading(runner: Runner, state: Path, mapper: Mapper | None = None) -> Iterator[Spread | None]:
    """Open the runner that the settings name; None where everything runs here and whole.

    The parts hold what the store holds; the folder is removed at the end, and one that a crash
    left behind at the next beginning. Raises MemopsError for a runner that only flows have.
    """
    if runner.kind == "plain":
        yield None
        return
    folder = files.folder(state / "parts" / f"{os.getpid()}-{uuid.uuid4().hex[:8]}")
    sweep(folder.parent, folder)
    try:
        with _pool(runner, mapper) as found:
            yield Spread(found, folder, runner.part)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _pool(runner: Runner, mapper: Mapper | None) -> Iterator[Mapper]:
    if mapper is not None:
        yield mapper
        return
    if runner.kind == "dask":
        raise MemopsError(
            "the runner dask runs flows, not commands",
            'start it with `memops serve`, or choose kind = "processes" in [runner]',
        )
    from concurrent.futures import ThreadPoolExecutor

    threads = runner.kind == "threads"
    with ThreadPoolExecutor(runner.workers) if threads else workers(runner.workers) as pool:

        def run(step: Callable[..., Any], jobs: Sequence[Job]) -> list[Any]:
            futures = [pool.submit(step, *job) for job in jobs]
            return [future.result() for future in futures]

        yield run


def workers(count: int) -> "ProcessPoolExecutor":
    """Return so many processes that take calls, and end with this one, however it ends."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    spawn = multiprocessing.get_context("spawn")  # a fork would take over polars' threads and locks
    return ProcessPoolExecutor(count, spawn, initializer=_die_with_the_parent)


def _die_with_the_parent() -> None:
    """End a worker whose parent was killed, which would wait for its next job for ever."""
    import threading
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def sweep(parts: Path, own: Path | None = None) -> None:
    """Remove the parts of processes that died."""
    for folder in parts.iterdir() if parts.is_dir() else ():
        pid = folder.name.split("-")[0]
        if folder != own and pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(folder, ignore_errors=True)
