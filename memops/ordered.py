"""Ordered: sorted arrays of numbers as sets."""

from typing import Any

import numpy as np

Array = Any


def distinct(values: Array) -> Array:
    """Return the values sorted, each once; numpy's own hashes them, which takes longer."""
    return once(np.sort(values))


def once(values: Array) -> Array:
    """Return sorted values, each once."""
    return values[np.r_[True, values[1:] != values[:-1]]] if len(values) else values


def within(values: Array, listed: Array) -> Array:
    """Return which values are in a sorted array."""
    if not len(listed):
        return np.zeros(len(values), bool)
    found = listed[np.minimum(np.searchsorted(listed, values), len(listed) - 1)] == values
    return np.asarray(found)
