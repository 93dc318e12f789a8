"""The heap: memory that was freed and is still held."""

import ctypes
import sys
from functools import cache
from typing import Any


def given_back() -> None:
    """Give freed memory back to the system, where the C library is glibc; it keeps gigabytes.

    For between two steps of which each needs much: a heap that many sizes were freed in does not
    shrink by itself.
    """
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Any:
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
