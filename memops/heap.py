"""The heap: memory that was freed and is still held, of this process and its threads."""

import ctypes
import sys
from functools import cache
from typing import Any


def given_back() -> None:
    """Give freed memory back to the system between two large steps, where the C library is glibc."""
    if library := _glibc():
        library.malloc_trim(0)


def shared() -> None:
    """Have all threads take memory from one heap, where the C library is glibc; before the first begins."""
    if library := _glibc():
        library.mallopt(_ARENA_MAX, 1)


_ARENA_MAX = -8  # malloc.h


@cache
def _glibc() -> Any:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") else None
