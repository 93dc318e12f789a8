"""A night of hygiene over a large store: time and memory, and how much slower a plain loop is.

The loop runs on a fifth of the store, and its time is taken to grow with the records. It grows
faster, as more records share a word with a task: MEMOPS_WHOLE_LOOP=1 runs it on all of them.
"""

import os
import resource
import time

import pytest

from memops.context import Context
from memops.plan import nothing
from memops.policy import Policy
from memops.reasons import sentences
from memops.rules import HYGIENE, propose

from .aging import NOW, aged
from .hygiene_loop import planned


def night(records):
    """Wall and CPU seconds of planning, and the plan."""
    wall, cpu = time.perf_counter(), time.process_time()
    plan, refused = propose(records, Context(now=NOW), HYGIENE)
    return time.perf_counter() - wall, time.process_time() - cpu, plan, refused


def loop(records):
    """CPU seconds of the plain loop, and what it decides."""
    rows, cpu = records.to_dicts(), time.process_time()
    found = planned(rows, NOW, Policy())
    return time.process_time() - cpu, found


def decisions(plan):
    return sorted(
        plan.select("rule", "id", sentences(plan), "evidence", "tier", "confidence").rows(),
        key=lambda row: row[:2],
    )


def test_a_plain_loop_decides_the_same_and_takes_longer():
    night(aged(2000, polluted=True))  # patterns are compiled, and lexicons read, once
    for n, polluted, least in ((20_000, False, 0.01), (3000, True, 0.2)):
        records = aged(n, seed=2, polluted=polluted)
        _, quick, plan, _ = night(records)
        slow, found = loop(records)
        print(f"\n{n} records, {plan.height} changes: {quick:.2f} CPU-s, a loop {slow:.2f}")
        assert decisions(plan) == sorted(found, key=lambda row: row[:2])
        assert plan["rule"].n_unique() == 8 and plan.height >= least * n
        assert polluted or slow / quick >= 1.5  # of a million it is ten times that


@pytest.mark.slow
@pytest.mark.parametrize("polluted", [False, True])
def test_a_million_records_are_scored_tiered_and_planned_in_one_pass(polluted):
    night(aged(2000, polluted=True))
    records = aged(1_000_000, polluted=polluted)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    wall, cpu, plan, refused = night(records)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    whole = bool(os.environ.get("MEMOPS_WHOLE_LOOP"))
    part = records if whole else records.sample(200_000, seed=1).sort("id")
    slow, _ = loop(part)
    slow *= records.height / part.height
    print(
        f"\n{records.height} records, {plan.height} changes, {refused.height} held: {wall:.1f} s, "
        f"{cpu:.1f} CPU-s, peak {peak:.2f} GB (made by {before:.2f}); "
        f"a loop {slow:.0f} s (on {part.height}): {slow / cpu:.0f}x the CPU, {slow / wall:.0f}x the time"
    )
    assert slow / cpu >= 8  # some twenty where nothing else runs
    assert plan.height > nothing().height
