"""Timing that other processes disturb little."""

import math
import time


def cpu(work, repeats=3):
    """The least CPU seconds of some runs, and the last result."""
    least, result = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return least, result
