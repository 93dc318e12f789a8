"""File operations: a command killed at each of them in turn, as the kernel counts them.

A scene has `reset()`, `argv` (the command line), `home` (the folder that it is called in) and
`judged()`, which says what is wrong after the command was killed, and after it is called again.
"""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path

from memops import cli, overlay, snapshot
from memops.stores import open_store
from tests.stores.clawseed_db import dump
from tests.stores.samples import build

from .checker import Tally
from .forks import Forked, server
from .scene import package_root

CALLS = (
    "write,pwrite64,writev,ftruncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,link,"
    "linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,utimensat,chmod,fchmod,copy_file_range,sendfile"
)
STRACE = shutil.which("strace")
OLD = 10**9  # seconds of an instant that is long past
_READY = """
import os, time
os.chdir({home!r})
while not os.path.exists({go!r}):
    time.sleep(0.002)
"""


def may_trace():
    """Tell whether strace is there and may do what it is for."""
    argv = [STRACE, "-o", "/dev/null", "true"]
    return bool(STRACE) and subprocess.run(argv, capture_output=True).returncode == 0


class Home:
    """A folder with a store and its state, put back as often as need be."""

    argv = ()

    def __init__(self, folder):
        self.folder, self.home = Path(folder), Path(folder) / "home"
        self.safe, self.state = self.folder / "safe", self.home / "state"
        self.home.mkdir(parents=True)

    def keep(self):
        """Take the folder as it is for what `reset` puts back."""
        shutil.rmtree(self.safe, ignore_errors=True)
        shutil.copytree(self.home, self.safe)

    def reset(self):
        shutil.rmtree(self.home)
        shutil.copytree(self.safe, self.home)

    def ended(self, *argv):
        """Run a command in this process, in the folder of the store; its code, and its JSON."""
        out = io.StringIO()
        with (
            contextlib.chdir(self.home),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            code = cli.run(["--state", str(self.state), *map(str, argv), "--json"])
        return code, json.loads(out.getvalue())

    def run(self, *argv):
        """Run a command and return its JSON; raises for a failure."""
        code, said = self.ended(*argv)
        if code:
            raise AssertionError(f"{argv[0]} ended with {code}: {str(said)[-300:]}")
        return said

    def left(self):
        """What a process that died may leave beside whole files, wherever it is."""
        odd = re.compile(r"\.(part|draft|tmp|new|old)$|-journal$|^restoring\.json$")
        return sorted(
            str(p.relative_to(self.home)) for p in self.home.rglob("*") if odd.search(p.name)
        )


class Stored(Home):
    """A store of one kind, what it holds, and what its agent does to it."""

    def __init__(self, kind, folder):
        super().__init__(folder)
        self.kind, self.store = kind, build(kind, self.home)
        self.address, self.root = self.store.address, self.home / "ws"

    @property
    def db(self):
        return self.root / "memory" / "brain.db"

    def content(self):
        """Rows by id; or bytes, time and mode by path. Leavings are no part of it."""
        if self.kind == "clawseed":
            open_store(self.address).identity()  # which rolls back what was half-written
            return dump(self.db)
        found = {}
        for path in self.root.rglob("*.md"):
            about = path.stat()
            found[str(path.relative_to(self.root))] = (
                path.read_bytes(),
                about.st_mtime_ns,
                about.st_mode,
            )
        return found

    def beside(self):
        """What the overlay says."""
        path = snapshot.overlay_path(self.state, open_store(self.address).identity())
        return overlay.read(path).to_dicts()

    def lived(self, n):
        """Have the agent add, change and remove something."""
        if self.kind == "clawseed":
            with contextlib.closing(sqlite3.connect(self.db)) as live, live:
                columns = "id, key, content, category, created_at, updated_at"
                stamp = "2026-05-01T00:00:00+00:00"
                row = (f"new{n}", f"new{n}", f"Shelf {n} is full", "project", stamp, stamp)
                live.execute(f"INSERT INTO memories({columns}) VALUES (?, ?, ?, ?, ?, ?)", row)
                live.execute("UPDATE memories SET importance = importance / 2 WHERE rowid % 2")
                live.execute("DELETE FROM memories WHERE rowid = 3")
            return
        notes = sorted(self.root.rglob("*.md"))
        with notes[-1].open("a", encoding="utf-8") as file:
            file.write(f"- Shelf {n} is full\n")
        (made := notes[-1].with_name(f"2026-05-{n:02}.md")).write_text(f"- Shelf {n} is new\n")
        if len(notes) > 2:
            notes[0].unlink()
        for path in (notes[-1], made):
            os.utime(path, (OLD, OLD))


def called(scene, fault=None):
    """Call the command in a process of its own, killed at the nth of a call; its code and calls."""
    log, go = scene.folder / "trace", scene.folder / "go"
    go.unlink(missing_ok=True)
    argv = ["--state", scene.state, *scene.argv, "--json"]
    before = _READY.format(home=str(scene.home), go=str(go))
    child = Forked(server(package_root()), argv, scene.folder, before=before)
    trace = [STRACE, "-f", "-s", "0", "-o", log, "-e", f"trace={CALLS}"]
    trace += ["-e", "inject={}:signal=KILL:when={}".format(*fault)] if fault else []
    tracer = subprocess.Popen([*trace, "-p", str(child.pid)], stderr=subprocess.PIPE)
    said = tracer.stderr.readline()
    go.touch()
    child.communicate()
    tracer.communicate()
    if b"attached" not in said:
        raise AssertionError(said.decode())
    calls = re.findall(rf"(?m)^{child.pid} +(\w+)\(", log.read_text(errors="replace"))
    return child.returncode, calls


def operations(scene):
    """Return every file operation of an undisturbed call, in order: the call, and its how many."""
    scene.reset()
    (code, calls), seen = called(scene), Counter()
    if code:
        raise AssertionError(f"{scene.argv[0]} ended with {code}")
    return [(call, seen[call]) for call in calls if not seen.update([call])]


def killed(scene, faults):
    """Kill the command at each of these file operations, and judge; returns the tally."""
    tally = Tally()
    for fault in faults:
        scene.reset()
        code, _ = called(scene, fault)
        tally.runs, tally.delivered = tally.runs + 1, tally.delivered + (code == -signal.SIGKILL)
        where = "killed at {} {}".format(*fault)
        try:
            tally.failures += [f"{where}: {what}" for what in scene.judged()]
        except AssertionError as error:
            tally.failures.append(f"{where}: {error}")
    return tally
