"""Kill -9 at any file operation of a purge: the next one finishes, and nothing else is lost."""

import contextlib
import io
import json
import re
import shutil
import signal
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from memops import cli, files, snapshot
from memops.stores import open_store
from tests.stores.samples import build
from tests.test_purging import holding

from .checker import Tally
from .forks import Forked, server
from .scene import package_root, sound
from .test_order import STRACE, _works

GONE = ("Rosa prefers tea to coffee", "用户的猫叫麻薯")
CALLS = (
    "write,pwrite64,writev,ftruncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,link,"
    "linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,utimensat,chmod,fchmod,copy_file_range,sendfile"
)
KINDS = ("clawseed", "openclaw", "jsonl")
_READY = """
import os, time
os.chdir({home!r})
while not os.path.exists({go!r}):
    time.sleep(0.002)
"""


class Scene:
    """A store with nights behind it, whatever memops makes of one kept, and what is to be purged."""

    def __init__(self, kind, folder):
        self.kind, self.folder, self.home = kind, Path(folder), Path(folder) / "home"
        self.home.mkdir(parents=True)
        self.state = self.home / "state"
        store = build(kind, self.home)
        self.address = store.address
        if kind == "clawseed":
            self._core()
        with contextlib.chdir(self.home):
            self._nights()
        rows = open_store(self.address).read()
        self.ids = rows.filter(pl.col("text").is_in(GONE))["id"].sort().to_list()
        self.safe = self.folder / "safe"
        shutil.copytree(self.home, self.safe)
        if not all(holding(self.home, text) for text in GONE):
            raise AssertionError("there is nothing to forget")
        self.run("purge", self.address, *self.ids)
        self.want = self.standing()
        self.reset()

    def reset(self):
        shutil.rmtree(self.home)
        shutil.copytree(self.safe, self.home)

    def run(self, *argv):
        """Run a command in this process, in the folder of the store; raises for a failure."""
        out = io.StringIO()
        with contextlib.chdir(self.home), contextlib.redirect_stdout(out):
            code = cli.run(["--state", str(self.state), *map(str, argv), "--json"])
        if code:
            raise AssertionError(f"{argv[0]} ended with {code}: {out.getvalue()[-300:]}")
        return json.loads(out.getvalue())

    def standing(self):
        """What is there beside what was purged: the store, and each snapshot's records."""
        said = {"store": _texts(open_store(self.address).read())}
        for path in sorted((self.state / "snapshots").glob("[!.]*")):
            said[path.name] = _texts(snapshot.open_snapshot(path).records())
        for path in sorted((self.state / "runs").glob("*/undo.jsonl")):
            said[str(path)] = sorted(e["id"] for e in files.Journal(path).entries())
        return said

    def purge(self, fault=None):
        """Purge in a process of its own, killed at the nth of a call; returns its exit code."""
        log, go = self.folder / "trace", self.folder / "go"
        go.unlink(missing_ok=True)
        argv = ["--state", self.state, "purge", self.address, *self.ids, "--json"]
        before = _READY.format(home=str(self.home), go=str(go))
        child = Forked(server(package_root()), argv, self.folder, before=before)
        trace = [STRACE, "-f", "-s", "0", "-o", log, "-e", f"trace={CALLS}"]
        trace += ["-e", "inject={}:signal=KILL:when={}".format(*fault)] if fault else []
        tracer = subprocess.Popen([*trace, "-p", str(child.pid)], stderr=subprocess.PIPE)
        said = tracer.stderr.readline()
        go.touch()
        child.communicate()
        tracer.communicate()
        if b"attached" not in said:
            raise AssertionError(said.decode())
        self.traced = re.findall(rf"(?m)^{child.pid} +(\w+)\(", log.read_text(errors="replace"))
        return child.returncode

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
        self.run("suite", "init", self.address)
        self.run("nightly", self.address, "--approve", "--now", "2026-06-01T12:00:00Z")
        records = open_store(self.address).read()
        gone = pl.col("text").is_in(GONE)
        self.run("pin", self.address, *records.filter(gone)["id"], records.filter(~gone)["id"][0])
        last = max(p.name for p in (self.state / "snapshots").iterdir())
        self.run("report", last)
        self.run("plan", last)


def _texts(records):
    return sorted(records.select("id", "text").rows())


def judged(scene):
    """Return what is wrong after a purge that was killed and one that was not."""
    try:
        scene.run("purge", scene.address, *scene.ids)
        checked = scene.run("check")
    except AssertionError as error:
        return [str(error)]
    said = [
        f"{text!r} is in {holding(scene.home, text)}" for text in GONE if holding(scene.home, text)
    ]
    now = scene.standing()
    lost = [name for name, held in scene.want.items() if now.get(name) != held]
    said += [f"{name} is not as an undisturbed purge leaves it" for name in lost]
    if checked["snapshots"] != len([n for n in now if n.startswith("20")]):
        said.append("a snapshot went unseen")
    if scene.kind == "clawseed" and (odd := sound(scene.home / "ws" / "memory" / "brain.db")):
        said.append(odd)
    return said


def killed(scene, faults):
    """Kill a purge at each of these file operations, then purge again; returns the tally."""
    tally = Tally()
    for fault in faults:
        scene.reset()
        struck = scene.purge(fault) == -signal.SIGKILL
        tally.runs, tally.delivered = tally.runs + 1, tally.delivered + struck
        where = "killed at {} {}".format(*fault)
        tally.failures += [f"{where}: {what}" for what in judged(scene)]
    return tally


def operations(scene):
    """Return every file operation of an undisturbed purge, in order: the call, and its how many."""
    scene.reset()
    code, seen = scene.purge(), Counter()
    if code:
        raise AssertionError(f"the purge ended with {code}")
    return [(call, seen[call]) for call in scene.traced if not seen.update([call])]


pytestmark = pytest.mark.skipif(not _works(), reason="strace is not there, or may not trace")


@pytest.fixture(scope="module", params=KINDS)
def scene(request, tmp_path_factory):
    return Scene(request.param, tmp_path_factory.mktemp(f"purge-{request.param}"))


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
