"""Workers: processes that do the nights of several stores at a time."""

import os
from concurrent.futures import ProcessPoolExecutor

from memops import heap


def workers(count: int) -> ProcessPoolExecutor:
    """Return so many processes that take calls, and end with this one, however it ends."""
    import multiprocessing

    cores = os.cpu_count() or 1
    os.environ.setdefault("POLARS_MAX_THREADS", str(max(1, cores // count)))  # they inherit it
    spawn = multiprocessing.get_context("spawn")  # a fork would take over polars' threads and locks
    return ProcessPoolExecutor(count, spawn, initializer=_begun)


def _begun() -> None:
    heap.shared()
    _die_with_the_parent()


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
