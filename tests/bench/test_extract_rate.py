"""How many short notes extraction reads a second, and that it is linear in them.

Run with `pytest -m slow tests/bench/test_extract_rate.py -s`, on a machine that does nothing else.
"""

import random
import time

import polars as pl
import pytest

from memops.extract import read
from memops.policy import Policy
from tests.bench.timing import cpu
from tests.wordings import SETS, wordings

pytestmark = pytest.mark.slow
FEW, MANY = 10_000, 40_000


def notes(count):
    """Notes in Chinese, English and both, no two of them alike."""
    pick = random.Random(1)
    texts = [text for name in SETS for _, _, text in wordings(name)]
    return pl.DataFrame({"text": [f"{pick.choice(texts)} {i}" for i in range(count)]})


def test_extraction_is_linear_in_notes():
    policy, few, many = Policy(), notes(FEW), notes(MANY)
    least, _ = cpu(lambda: read(few, policy), 2)
    most, _ = cpu(lambda: read(many, policy), 2)
    started = time.perf_counter()
    read(many, policy)
    wall = time.perf_counter() - started
    print(
        f"\n{MANY / most:.0f} notes a CPU second, {MANY / wall:.0f} a second on "
        f"{pl.thread_pool_size()} threads; four times the notes take {most / least:.2f} times"
    )
    assert most / least < 1.2 * MANY / FEW
