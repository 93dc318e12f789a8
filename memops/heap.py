"""The heap: memory that was freed and is still held, of this process and its threads."""

import ctypes
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def given_back() -> None:
    """Give freed memory back to the system between two large steps, where the C library is glibc."""
    if library := _glibc():
        library.malloc_trim(0)


def shared() -> None:
    """Have all threads take memory from one heap, where the C library is glibc; before the first begins.

    What was freed is used again for some time before the system has it back, which costs a fault for
    each page: arrays up to `_LARGE` come from the heap, and polars, once it is loaded, holds its own.
    Arrow's own heap would keep all that it ever read a file with.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:5000,muzzy_decay_ms:5000")
    if library := _glibc():
        for setting, value in (
            (_ARENA_MAX, 1),
            (_MMAP_THRESHOLD, _LARGE),
            (_TRIM_THRESHOLD, _FREE),
        ):
            library.mallopt(setting, value)


_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # malloc.h
_LARGE, _FREE = 1 << 25, 1 << 28  # bytes: glibc takes no larger threshold for arrays


@cache
def _glibc() -> Any:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") else None


def in_one(tables: list["pl.DataFrame"]) -> "pl.DataFrame":
    """Return tables, which are taken off their list, as one without chunks, of which one column is held twice."""
    import polars as pl  # which takes its settings from `shared`

    whole = pl.concat(tables)
    tables.clear()
    return pl.DataFrame([whole.drop_in_place(name).rechunk() for name in whole.columns])
