"""Progress: how far a long step is, told to whoever watches; nobody does unless a person asks."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")
Watcher = Callable[[str, int, int], None]
"""Is told a step's title, how much of it is done, and how much there is; less than 0 done tells of a
step that was given up."""

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of every step below."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


def tell(title: str, done: int, total: int) -> None:
    """Tell whoever watches how far a step is."""
    if watcher := _watcher.get():
        watcher(title, done, total)


@contextmanager
def stage(title: str) -> Iterator[None]:
    """Tell whoever watches that a step has begun, and has ended, of which no parts are known."""
    tell(title, 0, 1)
    try:
        yield
    except BaseException:
        tell(title, -1, 1)
        raise
    tell(title, 1, 1)


def tracked(title: str, items: Sequence[T]) -> Iterator[T]:
    """Go through items, and tell whoever watches how far that is."""
    try:
        for nth, item in enumerate(items):
            tell(title, nth, len(items))
            yield item
    except GeneratorExit:  # whoever goes through them left off
        tell(title, -1, len(items))
        raise
    if len(items):
        tell(title, len(items), len(items))


def at_once() -> int:
    """Return how many parts of a step are done at a time: the threads that polars may use, up to four."""
    import polars as pl

    return min(pl.thread_pool_size(), 4)


def spread(title: str, work: Callable[[S], T], items: Sequence[S]) -> list[T]:
    """Return what `work` makes of each item, in their order, made by several threads."""
    if min(len(items), at_once()) < 2:
        return [work(item) for item in tracked(title, items)]
    with ThreadPoolExecutor(at_once()) as threads:
        made = threads.map(work, items)
        return [next(made) for _ in tracked(title, items)]
