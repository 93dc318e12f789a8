"""Ordered: sorted arrays of numbers as sets."""

from typing import Any

import numpy as np

Array = Any
_BITS = 24  # of a table of what codes begin with
_PART = 100_000  # codes looked up at a time, so that they stay in the cache
_STEPS = 6
_FEW = 64  # of so many listed codes less than one is looked up: no table of them pays


def distinct(values: Array) -> Array:
    """Return the values sorted, each once; numpy's own hashes them, which takes longer."""
    return once(np.sort(values))


def once(values: Array) -> Array:
    """Return sorted values, each once."""
    return values[np.r_[True, values[1:] != values[:-1]]] if len(values) else values


def connected(a: Array, b: Array, n: int) -> Array:
    """Return which group each of n things is in, of those that links a-b make, numbered by their first."""
    label = np.arange(n)
    while True:
        low, before = np.minimum(label[a], label[b]), label.copy()
        for end in (a, b):
            np.minimum.at(label, before[end], low)
        while (label != label[label]).any():
            label = label[label]
        if np.array_equal(label, before):
            return np.unique(label, return_inverse=True)[1]


def within(values: Array, listed: Array) -> Array:
    """Return which values are in a sorted array."""
    if not len(listed):
        return np.zeros(len(values), bool)
    found = listed[np.minimum(np.searchsorted(listed, values), len(listed) - 1)] == values
    return np.asarray(found)


def place_in(listed: Array, codes: Array) -> Array:
    """Return where each of some 64-bit codes stands, or would stand, in a sorted array of them.

    What numpy's search finds, in a fraction of its time: a table of what codes begin with leads to
    the place or near it, as codes are spread evenly.
    """
    if len(codes) * _FEW < len(listed):
        return np.searchsorted(listed, codes).astype(np.int32)
    bits = min(max(len(listed).bit_length(), 1), _BITS)
    shift = np.uint64(64 - bits)
    first = np.bincount((listed >> shift).astype(np.int64), minlength=1 << bits)
    first = (np.cumsum(first) - first).astype(np.int32)
    ends = np.append(listed, ~np.uint64(0))
    out = np.empty(len(codes), np.int32)
    for start in range(0, len(codes), _PART):
        part = codes[start : start + _PART]
        at = first[(part >> shift).astype(np.int64)]
        left = np.flatnonzero(ends[at] < part)
        for _ in range(_STEPS):
            at[left] += 1
            left = left[ends[at[left]] < part[left]]
        at[left] = np.searchsorted(listed, part[left])
        out[start : start + _PART] = at
    return out
