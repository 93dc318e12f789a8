"""Kill -9 at any file operation of a purge: the next one finishes, and nothing else is lost."""

import contextlib
import sqlite3

import polars as pl
import pytest

from memops import snapshot
from memops.journal import Journal
from memops.stores import open_store
from tests.stores.samples import build
from tests.test_purging import holding

from .operations import Home, killed, may_trace, operations
from .scene import sound

GONE = ("Rosa prefers tea to coffee", "用户的猫叫麻薯")
KINDS = ("clawseed", "openclaw", "jsonl")


class Purging(Home):
    """A store with nights behind it, whatever memops makes of one kept, and what is to be purged."""

    def __init__(self, kind, folder):
        super().__init__(folder)
        self.kind = kind
        store = build(kind, self.home)
        self.address = store.address
        if kind == "clawseed":
            self._core()
        with contextlib.chdir(self.home):
            self._nights()
        rows = open_store(self.address).read()
        self.ids = rows.filter(pl.col("text").is_in(GONE))["id"].sort().to_list()
        self.argv = ("purge", self.address, *self.ids)
        self.keep()
        if not all(holding(self.home, text) for text in GONE):
            raise AssertionError("there is nothing to forget")
        self.run(*self.argv)
        self.want = self.standing()
        self.reset()

    def standing(self):
        """What is there beside what was purged: the store, and each snapshot's records."""
        said = {"store": _texts(open_store(self.address).read())}
        for path in sorted((self.state / "snapshots").glob("[!.]*")):
            said[path.name] = _texts(snapshot.open_snapshot(path).records())
        for path in sorted((self.state / "runs").glob("*/undo.jsonl")):
            said[str(path)] = sorted(e["id"] for e in Journal(path).entries())
        return said

    def judged(self):
        """Return what is wrong after a purge that was killed and one that was not."""
        self.run(*self.argv)
        checked, now = self.run("check"), self.standing()
        said = [
            f"{text!r} is in {holding(self.home, text)}"
            for text in GONE
            if holding(self.home, text)
        ]
        lost = [name for name, held in self.want.items() if now.get(name) != held]
        said += [f"{name} is not as an undisturbed purge leaves it" for name in lost]
        if checked["snapshots"] != len([n for n in now if n.startswith("20")]):
            said.append("a snapshot went unseen")
        if self.kind == "clawseed" and (odd := sound(self.home / "ws" / "memory" / "brain.db")):
            said.append(odd)
        return said

    def _core(self):
        """Make what is to be purged core, and have its entries in the file clawseed starts from."""
        with (
            contextlib.closing(sqlite3.connect(self.home / "ws" / "memory" / "brain.db")) as db,
            db,
        ):
            marks = ", ".join("?" for _ in GONE)
            db.execute(f"UPDATE memories SET category = 'core' WHERE content IN ({marks})", GONE)

    def _nights(self):
        if self.kind == "clawseed":
            self.run("view", self.address, "--write")
        self.run("nightly", self.address, "--approve", "--now", "2026-06-01T12:00:00Z")
        (night,) = (path.name for path in (self.state / "snapshots").glob("[!.]*"))
        self.run("suite", "init", night, "-o", "evals/own")
        records = open_store(self.address).read()
        gone = pl.col("text").is_in(GONE)
        self.run("pin", self.address, *records.filter(gone)["id"], records.filter(~gone)["id"][0])
        last = max(p.name for p in (self.state / "snapshots").iterdir())
        self.run("report", last)
        self.run("plan", last)


def _texts(records):
    return sorted(records.select("id", "text").rows())


pytestmark = pytest.mark.skipif(not may_trace(), reason="strace is not there, or may not trace")


@pytest.fixture(
    scope="module",
    params=[*KINDS[:2], *(pytest.param(k, marks=pytest.mark.slow) for k in KINDS[2:])],
)
def scene(request, tmp_path_factory):
    return Purging(request.param, tmp_path_factory.mktemp(f"purge-{request.param}"))


def test_a_killed_purge_is_finished_by_the_next(scene):
    every = operations(scene)
    tally = killed(scene, every[3 :: len(every) // 5])
    assert tally.failures == []
    assert tally.delivered == tally.runs >= 5


@pytest.mark.slow
def test_a_purge_killed_at_every_file_operation_is_finished_by_the_next(scene):
    every = operations(scene)
    tally = killed(scene, every)
    assert tally.failures == []
    assert tally.delivered >= len(every) - 2
