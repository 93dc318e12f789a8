"""Restored again and again beside an agent: what it was told is done is in the store or a snapshot."""

import contextlib
import sqlite3
import subprocess
import sys
import time
from collections import Counter

import pytest

from .checker import Tally, history
from .operations import Stored
from .scene import AGENT

MANNERS = {
    "clawseed": (("clawseed-reopen", 0.002), ("clawseed", 0.002)),
    "openclaw": (("bursts", 0.005), ("reopen", 0.1), ("keep", 0.005), ("rewrite", 0.1)),
}
"""How the agent writes, and how many seconds it waits between two rows or lines."""


def races(stored, manner, pause, rows, seed=0):
    """Restore beside an agent until it has written so many rows or lines.

    Returns the tally, of which `delivered` are restores that were made, and what commands ended
    with, by code.
    """
    first = stored.run("snapshot", stored.address)["snapshot"]
    codes, log = Counter(), stored.folder / f"acks-{manner}-{seed}.log"
    with agent(stored, manner, pause, log, seed):
        while len(acks := history(log)) < rows:
            codes[stored.ended("restore", first)[0]] += 1
            time.sleep(0.2)
    acks = history(log)[1:]
    lost = missing(stored, acks)
    said = (
        [f"{manner}, seed {seed}: {len(lost)} of {len(acks)} lost, e.g. {lost[0]}"] if lost else []
    )
    said += [f"{manner}: a restore ended with {code}" for code in codes.keys() - {0, 11}]
    return Tally(len(acks), codes[0], said), codes


@contextlib.contextmanager
def agent(stored, manner, pause, log, seed):
    """Have an agent write to a store; raises when it failed."""
    notes = sorted(map(str, stored.root.rglob("*.md")))[-2:]
    target = str(stored.db) if stored.kind == "clawseed" else ",".join(notes)
    argv = [sys.executable, str(AGENT), manner, target, str(log), str(seed), str(pause)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE)
    try:
        while process.poll() is None and not (log.exists() and log.stat().st_size):
            time.sleep(0.002)
        yield
    finally:
        process.stdin.close()
        if process.wait(60):
            raise AssertionError(f"the agent failed with {process.returncode}")


def missing(stored, acks):
    """Return what was acknowledged and is neither in the store nor in a snapshot of it."""
    copies = (stored.state / "snapshots").glob("*/raw/**/*")
    if stored.kind == "clawseed":
        last = {ack["id"]: ack.get("content") for ack in acks if ack["op"] != "link"}
        there = contents(stored.db)
        for path in (path for path in copies if path.name == "brain.db"):
            there |= contents(path, "&immutable=1")
        return sorted(i for i, text in last.items() if text and (i, text) not in there)
    places = [*stored.root.rglob("*.md"), *copies]
    there = {line for path in places if path.is_file() for line in path.read_bytes().split(b"\n")}
    return [ack["line"] for ack in acks if ack["line"].strip().encode() not in there]


def contents(db, how=""):
    """Return the id and the text of each row of a database."""
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro{how}", uri=True)) as live:
        return set(live.execute("SELECT id, content FROM memories"))


@pytest.mark.parametrize("kind, manner, pause", [(kind, *MANNERS[kind][0]) for kind in MANNERS])
def test_nothing_that_is_written_beside_restores_is_lost(tmp_path, kind, manner, pause):
    tally, codes = races(Stored(kind, tmp_path), manner, pause, 200)
    assert tally.failures == []
    assert sum(codes.values()) >= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, manner, pause", [(kind, *how) for kind in MANNERS for how in MANNERS[kind]]
)
def test_nothing_of_ten_thousand_rows_beside_restores_is_lost(tmp_path, kind, manner, pause):
    tally, _ = races(Stored(kind, tmp_path), manner, pause, 10_000)
    assert tally.failures == []
