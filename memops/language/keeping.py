"""Keeping: what a function says of things, asked once for each, and expressions that stay compiled."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Kept(dict[K, V]):
    """Answers of a function, which are looked up as fast as a dictionary's."""

    def __init__(self, of: Callable[[K], V], most: int = 200_000) -> None:
        self._of, self._most = of, most

    def __missing__(self, thing: K) -> V:
        answer = self._of(thing)
        if len(self) < self._most:
            self[thing] = answer
        return answer


class _OwnThread(ThreadPoolExecutor):
    """One thread; when the program is ending and no thread begins any more, that which asks."""

    def submit(self, work: Callable[..., V], /, *args: Any, **named: Any) -> Future[V]:
        try:
            return super().submit(work, *args, **named)
        except RuntimeError:
            done = Future[V]()
            done.set_result(work(*args, **named))
            return done


@cache
def own_thread(*name: object) -> ThreadPoolExecutor:
    """Return the thread of a name, in which what it asks again need not be compiled again.

    Polars keeps the last 32 expressions of each thread; to compile those of a search for secrets
    takes a tenth of a second, however little it looks at.
    """
    return _OwnThread(1)
