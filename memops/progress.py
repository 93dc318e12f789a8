"""Progress: how far a long step is, told to whoever watches; nobody does unless a person asks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

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
