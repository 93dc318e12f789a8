"""Keeping: what a function says of things, asked once for each, expressions that stay compiled, and tables."""

import marshal
import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, TypeVar

from xxhash import xxh3_128_digest

_SUM = 16  # bytes of a digest
K = TypeVar("K")
V = TypeVar("V")


class Kept(dict[K, V]):
    """Answers of a function, which are looked up as fast as a dictionary's."""

    def __init__(self, of: Callable[[K], V], most: int = 50_000) -> None:
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


_FEW = 24
_seats: dict[str, int] = {}


def thread_of(expression: str) -> ThreadPoolExecutor:
    """Return the thread that keeps an expression, one of few, two of which are filled at a time."""
    seat = _seats.setdefault(expression, len(_seats))
    return own_thread("expressions", seat // (2 * _FEW), seat % 2)


def beside(name: str, sources: Sequence[Path], make: Callable[[], V], key: Any = None) -> V:
    """Return plain values that are made of source files and a key, kept beside the first file.

    They are kept as Python keeps a compiled module: where it may be written, as long as no source is
    of another time or size.
    """
    seen = [source.stat() for source in sources]
    stamp: Any = key, [(each.st_mtime_ns, each.st_size) for each in seen]
    place = Path(cache_from_source(str(sources[0]))).with_suffix(f".kept-{name}")
    with suppress(OSError, EOFError, ValueError, TypeError):
        data = place.read_bytes()
        before, kept = _loaded(data)
        if before == stamp:
            return kept  # type: ignore[no-any-return]
    made: Any = make()
    if not sys.dont_write_bytecode:
        with suppress(OSError, ValueError):
            place.parent.mkdir(parents=True, exist_ok=True)
            draft = place.with_suffix(f"{place.suffix}.{os.getpid()}")
            data = marshal.dumps((stamp, made))
            draft.write_bytes(xxh3_128_digest(data) + data)
            draft.replace(place)
    return made  # type: ignore[no-any-return]


def _loaded(data: bytes) -> tuple[Any, Any]:
    """What is kept, and of what it was made; nothing where a byte is another."""
    whole = data[:_SUM] == xxh3_128_digest(data[_SUM:])
    return marshal.loads(data[_SUM:]) if whole else (None, None)


def toml(path: Path) -> dict[str, Any]:
    """Return what a file of the program's own says, in TOML."""
    return beside("toml", [path], lambda: tomllib.loads(path.read_text(encoding="utf-8")))
