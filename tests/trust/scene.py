"""A scene: one store with a plan that does everything, and the command line to carry it out.

The plan inserts, edits, merges, supersedes, redacts, quarantines and deletes. `reset` puts store
and state back to the moment before it is applied; `old` and `new` are what the store holds before
and after, to the byte for Markdown and to the column for SQLite.
"""

import contextlib
import importlib.util
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl

from memops import apply as applying
from memops import cli, failpoints, files, overlay, snapshot
from memops.context import Context
from memops.guard import protect
from memops.plan import delete, edit, put
from memops.policy import Policy
from memops.rules import propose
from memops.rules.merge_exact import merge_exact
from memops.rules.normalise_superseded import normalise_superseded
from memops.rules.quarantine_injected import quarantine_injected
from memops.rules.redact_secrets import redact_secrets
from memops.schema import LIVE, from_rows
from memops.state import planfile, runs
from memops.stores import open_store
from memops.stores.sqlite import write as sqlite_write

from .forks import Forked, server

ROOT = Path(__file__).parents[2]
AGENT = Path(__file__).with_name("agent.py")
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
RULES = (normalise_superseded, redact_secrets, quarantine_injected, merge_exact)
BATCH = 20
"""Changes in a batch, so that a small plan has many."""


class Scene:
    """One store, its plan, and what it holds before and after."""

    def __init__(self, kind, folder, size=100):
        self.kind, self.folder, self.size = kind, Path(folder), size
        self.said = self.folder  # where children write what they print
        self.store_path, self.state = self.folder / "ws", self.folder / "state"
        self.address = f"{kind}:{self.store_path}"
        sqlite_write.MOST = BATCH
        BUILDERS[kind](self.store_path, size)
        self.plan = self._planned()
        self.safe = self.folder / "safe"
        shutil.copytree(self.store_path, self.safe / "ws")
        shutil.copytree(self.state, self.safe / "state")
        self.old, self.overlay_old = self.content(), self.overlay()
        self.apply()
        self.new, self.overlay_new = self.content(), self.overlay()
        if self.old == self.new:
            raise AssertionError("the plan changes nothing, so nothing can be learned from it")
        self.reset()

    def reset(self):
        """Put store and state back to the moment before the plan is applied."""
        failpoints.passed.clear()
        for name in ("ws", "state"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            shutil.copytree(self.safe / name, self.folder / name)

    def apply(self):
        found = planfile.load(self.plan, self.state)
        return applying.apply(found, self.state, NOW, approve=True, as_of=NOW)

    def resume(self):
        """Go on with the run; apply when none had begun."""
        run = self.run()
        return applying.resume(run, self.state) if run else self.apply()

    def rollback(self):
        """Take the run back, if one had begun."""
        run = self.run()
        return applying.rollback(run, self.state) if run else {"skipped": []}

    def run(self):
        found = runs.runs(self.state)
        return found[0] if found else None

    def content(self):
        """What the store holds: rows by id, or bytes by path."""
        if self.kind == "clawseed":
            return rows(self.store_path / "memory" / "brain.db")
        walked = (p for p in self.store_path.rglob("*") if p.is_file())
        return {str(p): p.read_bytes() for p in walked}

    def overlay(self):
        """What is kept beside the store, by id."""
        identity = open_store(self.address).identity()
        kept = overlay.read(snapshot.overlay_path(self.state, identity))
        return {row["id"]: row for row in kept.to_dicts()}

    def ops(self):
        return planfile.load(self.plan, self.state).ops()

    def undo(self):
        run = self.run()
        return run.undo.entries() if run else []

    def spawn(self, verb, env=None, limit=0, before=""):
        """Start the real command line on a verb of the run, in a process group of its own."""
        run = self.run()
        if verb == "apply" or run is None:
            argv = ["apply", self.plan, "--approve"]
        else:
            argv = [verb, run.id]
        argv = ["--state", self.state, *argv, "--json"]
        return Forked(server(package_root()), argv, self.said, env, BATCH, limit, before)

    def kill(self, verb, rng, tail):
        """Kill -9 a verb at a moment after it has begun to work; returns whether it struck."""
        before, process = self._marks(), self.spawn(verb)
        while process.poll() is None and self._marks() == before:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, tail))
        struck = process.poll() is None
        if struck:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return struck and process.returncode == -signal.SIGKILL

    @contextlib.contextmanager
    def agent(self, log, seed, pause=0.003, manner="reopen", foreign=(), notes=()):
        """Have an agent work on the store meanwhile."""
        target = str(self.store_path / "memory" / "brain.db")
        argv = ["clawseed", target] if self.kind == "clawseed" else [manner, ",".join(notes)]
        argv += [str(log), str(seed), str(pause), *foreign]
        process = subprocess.Popen([sys.executable, str(AGENT), *argv], stdin=subprocess.PIPE)
        while process.poll() is None and not (log.exists() and log.stat().st_size):
            time.sleep(0.002)
        try:
            yield process
        finally:
            process.stdin.close()
            if process.wait(60):
                raise AssertionError(f"the agent failed with {process.returncode}")

    def _marks(self):
        return [(p, p.stat().st_size) for p in sorted((self.state / "runs").glob("*/*.jsonl"))]

    def _planned(self):
        store = open_store(self.address)
        taken = snapshot.take(store, self.state, NOW, Policy())
        records = taken.records()
        ctx = Context(now=NOW, policy=Policy())
        changes, refused = propose(records, ctx, RULES)
        if self.kind == "openclaw":  # every file takes its grace: seven will do
            path = pl.col("id").str.split(":").list.first()
            odd = records.filter(pl.col("text").str.contains("Odd note")).select(path).to_series()
            some = sorted({*changes.select(path).to_series()} - {*odd})[:3]
            changes = changes.filter(path.is_in([*some, *odd.unique()]))
        free = records.filter(LIVE, ~pl.col("pinned"), pl.col("tier") != "core")
        free = free.join(changes.select("id"), on="id", how="anti").sort("id")
        cited = changes.select(pl.col("evidence").explode()).to_series().drop_nulls()
        free = free.filter(~pl.col("id").is_in(cited.implode()))
        junk = free.filter(pl.col("text").str.contains("Odd note"))
        away, mended = junk.head(self.size // 4), junk.slice(self.size // 4)
        new = [
            {
                "id": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"new {n}")),
                "kind": "fact",
                "text": f"Drawer {n} of the workshop holds the number {n * 7} drills",
                "created_at": NOW - timedelta(days=n % 9),
            }
            for n in range(self.size // 5)
        ]
        text = pl.col("text").str.replace("Odd note", "Mended note")
        mine = pl.concat(
            [
                put(from_rows(new), "an insertion"),
                edit(mended, "update", "an edit", text=text, risk="low"),
                delete(away, "a deletion", risk="medium"),
            ]
        ).with_columns(rule=pl.lit("trust"))
        kept, withdrawn = protect(mine, records, Policy())
        if withdrawn.height:
            raise AssertionError(f"the guard withdrew {withdrawn.height} changes of the scene")
        whole = pl.concat([changes, kept])
        plan = planfile.Planned(taken, records, whole, refused, Policy(), NOW, ["trust"])
        made = planfile.save(self.state, plan, datetime.now(UTC))
        return made.id


def rows(db):
    """Return every row of a clawseed store by id, as a dictionary of its columns."""
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=10)) as live:
        live.row_factory = sqlite3.Row
        return {row["id"]: dict(row) for row in live.execute("SELECT * FROM memories")}


def sound(db):
    """Return what is wrong with a database and its search index, '' for nothing."""
    with contextlib.closing(sqlite3.connect(":memory:")) as copy:
        with contextlib.closing(
            sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=10)
        ) as live:
            live.backup(copy)
        try:
            copy.execute(
                "INSERT INTO memories_fts(memories_fts, rank) VALUES('integrity-check', 1)"
            )
            said = copy.execute("PRAGMA integrity_check").fetchone()[0]
        except sqlite3.DatabaseError as error:
            return str(error)
        return "" if said == "ok" else said


def command(*argv):
    """Run a command line in this process; returns its code and what it printed as JSON."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = cli.run([*map(str, argv), "--json"])
    return code, json.loads(out.getvalue()) if out.getvalue().strip() else None


def package_root():
    """Where the memops that runs here is, so that a child runs the same."""
    return str(Path(files.__file__).parents[1])


def samples():
    spec = importlib.util.spec_from_file_location(
        "trust_samples", ROOT / "data" / "make_samples.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build_clawseed(workspace, size):
    """The sample store, facts that are said twice, and odd notes to delete and to mend."""
    samples().build_clawseed(workspace)
    stamp = (NOW - timedelta(days=50)).isoformat(timespec="microseconds")
    extra = [
        (f"twin_{n:04}_{t}", f"Spare part {n * 7919} lies on shelf {n}")
        for n in range(size)
        for t in "ab"
    ]
    extra += [(f"odd_{n:04}", f"Odd note {n}, 第 {n} 条杂记") for n in range(size // 2)]
    with contextlib.closing(sqlite3.connect(workspace / "memory" / "brain.db")) as db, db:
        db.executemany(
            "INSERT INTO memories(id, key, content, category, created_at, updated_at)"
            " VALUES (?, ?, ?, 'project', ?, ?)",
            [(f"id-{key}", key, text, stamp, stamp) for key, text in extra],
        )


def build_openclaw(workspace, size):
    """The sample workspace, and notes of one day with twins and odd lines."""
    samples().build_openclaw(workspace)
    lines = [f"- Spare part {n * 7919} lies on shelf {n}" for n in range(size // 4) for _ in "ab"]
    lines += [f"- Odd note {n}, 第 {n} 条杂记" for n in range(size // 2)]
    for nth in range(4):
        day = NOW - timedelta(days=90 + nth)
        path = workspace / "memory" / f"{day:%Y-%m-%d}.md"
        path.write_text(
            "\n".join([f"# {day:%Y-%m-%d}", "", "## Notes", *lines[nth::4]]) + "\n",
            encoding="utf-8",
        )
        os.utime(path, (day.timestamp(), day.timestamp()))


BUILDERS = {"clawseed": build_clawseed, "openclaw": build_openclaw}
