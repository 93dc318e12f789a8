"""How fast secrets and injections are looked for: megabytes of text a CPU second, on one core.

usage: python -m tests.bench.scan [MEGABYTES]

Everyday lines of the tests, three to a record, no two records alike; and the lines that are made
to look like orders, which cost most. Two cores do twice what is printed.
"""

import random
import sys
import time

import polars as pl

from memops.hostile import injected
from memops.secrets import found
from tests.hostile_corpus import labelled
from tests.secret_corpus import lookalikes


def texts(lines: list[str], megabytes: float) -> pl.Series:
    """Return records of three lines each, numbered so that none is repeated."""
    rng = random.Random(5)
    count = int(megabytes * 1e6 / (3 * sum(len(line.encode()) for line in lines) / len(lines)))
    return pl.Series([f"{' '.join(rng.choices(lines, k=3))} {n}" for n in range(count)])


def main(megabytes: float) -> None:
    everyday = lookalikes(2000)
    orders = [text for text, _ in labelled()]
    for name, lines in (("everyday", everyday), ("orders", orders)):
        column = texts(lines, megabytes)
        size, whole = column.str.len_bytes().sum() / 1e6, 0.0
        for scan in (found, injected):
            scan(column.head(5))
            started = time.process_time()
            scan(column)
            spent = time.process_time() - started
            whole += spent
            print(f"{name:9} {scan.__name__:9} {size / spent:6.1f} MB a CPU second")
        print(f"{name:9} {'both':9} {size / whole:6.1f} MB a CPU second")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 8.0)
