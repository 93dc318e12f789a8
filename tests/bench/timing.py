"""Timing that other processes disturb little."""

import math
import statistics
import time


def cpu(work, repeats=3):
    """The least CPU seconds of some runs, and the last result."""
    least, result = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return least, result


def ratio(theirs, ours, repeats=3, each=5):
    """How often ours fits into theirs: the median over runs in turn, and both last results.

    A run of ours is the least of some, for one that takes milliseconds is disturbed by anything.
    """
    found, results = [], (None, None)
    for _ in range(repeats):
        (a, first), (b, second) = cpu(theirs, 1), cpu(ours, each)
        found.append(a / b)
        results = first, second
    return statistics.median(found), results
