"""Keeping: what a function says of things, asked once for each of as many as are kept."""

from collections.abc import Callable
from typing import TypeVar

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
