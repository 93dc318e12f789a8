"""The nights of several stores, none of which keeps the others from theirs."""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from memops import heap, locks
from memops.errors import Locked, MemopsError, told
from memops.nights import monitoring
from memops.nights.night import curate
from memops.settings import Settings
from memops.state import history
from memops.state.sources import clock

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_TRIES = 2
_LOOK = 1.0  # seconds after which a store that waits for its turn looks again


def night(
    name: str,
    settings: Settings,
    now: datetime | None = None,
    passing: tuple[type[BaseException], ...] = (),
    **how: Any,
) -> dict[str, Any]:
    """Return a store's night; one that fails has its `code`, `error`, `hint` and `cause`, errors `passing` go on."""
    at, name = now or clock(), settings.called(name)
    try:
        done = curate(name, settings, at, passing=passing, **how)
    except passing:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        done = _failed(name, settings, at, error)
    try:
        monitoring.publish(settings, clock())
    except (OSError, MemopsError) as error:
        done = _why(settings, told(error)) | done | {"code": done["code"] or told(error).code}
    return done


def _failed(name: str, settings: Settings, at: datetime, error: BaseException) -> dict[str, Any]:
    """Note a night that failed in the history, if it began; what is said of it."""
    said = told(error)
    done = {"store": name, "now": at.isoformat(), "code": said.code}
    busy = isinstance(error, Locked) and not error.begun
    known = name in settings.stores or ":" in name  # any other is no store that had a night
    if known and not busy:
        with contextlib.suppress(OSError, MemopsError):
            history.append(settings.state, done | {"place": settings.place(name)})
    return done | _why(settings, said)


def _why(settings: Settings, said: MemopsError) -> dict[str, Any]:
    return {"error": said.message, "hint": settings.hint(said), "cause": type(said).__name__}


@contextmanager
def turn(settings: Settings) -> Iterator[None]:
    """Wait until fewer than `flows.at_once` stores are at work on this machine, and be one of them."""
    folder = settings.state / "locks"
    with ExitStack() as held:
        while True:
            for n in range(settings.flows.at_once):
                try:
                    held.enter_context(locks.hold(folder / f"turn-{n}.lock", timeout=0.0))
                except Locked:
                    continue
                yield
                return
            time.sleep(_LOOK)


def nights(
    names: Sequence[str], settings: Settings, now: datetime | None = None, jobs: int = 1, **how: Any
) -> list[dict[str, Any]]:
    """Return the nights of several stores, in their order, at most `jobs` at a time, each in a process of its own.

    Nights whose process was killed are done again, once: what one of them had begun it finishes first.
    """
    if min(jobs, len(names)) < 2:
        return [night(name, settings, now, **how) for name in names]
    done: dict[str, dict[str, Any]] = {}
    for _ in range(_TRIES):
        left = [name for name in dict.fromkeys(names) if name not in done]
        with workers(min(jobs, len(left) or 1)) as pool:
            begun = {name: pool.submit(night, name, settings, now, **how) for name in left}
            for name, future in begun.items():
                with contextlib.suppress(BrokenExecutor):
                    done[name] = future.result()
    lost = MemopsError("its process was killed", "look for want of memory; fewer --jobs need less")
    return [done.get(name) or _failed(name, settings, now or clock(), lost) for name in names]


def workers(count: int) -> "ProcessPoolExecutor":
    """Return so many processes that take calls, and end with this one, however it ends."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    cores = os.cpu_count() or 1
    os.environ.setdefault("POLARS_MAX_THREADS", str(max(1, cores // count)))  # they inherit it
    spawn = multiprocessing.get_context("spawn")  # a fork would take over polars' threads and locks
    return ProcessPoolExecutor(count, spawn, initializer=_begun)


def _begun() -> None:
    """End a worker whose parent was killed, which would wait for its next job for ever."""
    import threading
    from multiprocessing import connection, parent_process

    heap.shared()
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
