"""A snapshot beside a live agent is a consistent prefix, and reading never touches the store."""

import contextlib
import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest

from memops import files, snapshot
from memops.policy import Policy
from memops.stores import open_store

from .checker import Tally
from .scene import NOW, Scene, build_clawseed, command

WRITER = """
import contextlib, json, os, select, sqlite3, sys, time
with contextlib.suppress(PermissionError):  # others' work on this machine is no part of the matter
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
db, log, n, top = sys.argv[1], open(sys.argv[2], "w"), int(sys.argv[3]), int(sys.argv[4])
live = sqlite3.connect(db, timeout=5, isolation_level=None)
sql = "INSERT INTO memories(id, key, content, category, created_at, updated_at) VALUES (?, ?, ?, 'core', ?, ?)"
stamp = "2026-05-01T00:00:00.000000+00:00"
while n < top and not select.select([sys.stdin], [], [], 0.005)[0]:
    begun = time.monotonic()
    live.execute("BEGIN IMMEDIATE")
    for _ in "ab":
        live.execute(sql, (f"seq-{n:07}", f"seq_{n:07}", f"Entry {n} of the log book", stamp, stamp))
        n += 1
    live.execute("COMMIT")
    log.write(json.dumps([n, round(1000 * (time.monotonic() - begun), 2)]) + "\\n"); log.flush()
"""

HASHER = """
import hashlib, json, pathlib, sys
print(json.dumps({str(p): [hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns]
                  for p in sorted(pathlib.Path(sys.argv[1]).rglob("*")) if p.is_file()}))
"""


def prefixes(folder, repeats, rows):
    """Take snapshots while rows are added two at a time; returns the tally and two waits.

    The waits are the writer's longest commit in milliseconds: beside snapshots, and alone, on the
    same store, as the machine has it. The writer has real-time priority where that is allowed, so
    that it waits for locks and disk only. Rows are added for as long as snapshots are taken.
    """
    store_path, state = folder / "ws", folder / "state"
    build_clawseed(store_path, 50)
    store, tally, first = open_store(f"clawseed:{store_path}"), Tally(), rows // 8 * 2
    with _writing(store_path, folder / "alone", 0, first) as (process, log):
        process.wait(300)
        alone = _waits(log)
    with _writing(store_path, folder / "log", first, 10**6) as (process, log):
        while not (log.exists() and log.stat().st_size) and process.poll() is None:
            time.sleep(0.005)
        for nth in range(repeats):
            before = _acked(log)
            taken = snapshot.take(store, state, NOW, Policy(), accept_shrink=True)
            tally.runs, tally.delivered = tally.runs + 1, tally.delivered + (_acked(log) > before)
            tally.failures += [f"snapshot {nth}: {what}" for what in _no_prefix(taken, before)]
            shutil.rmtree(taken.path)
            while _acked(log) < first + rows * (nth + 1) // repeats and process.poll() is None:
                time.sleep(0.01)
    return tally, max(_waits(log)), max(alone)


@contextlib.contextmanager
def _writing(store_path, log, first, top):
    db = store_path / "memory" / "brain.db"
    argv = [sys.executable, "-c", WRITER, db, log, str(first), str(top)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE)
    try:
        yield process, log
    finally:
        process.stdin.close()
        process.wait(60)


def _waits(log):
    return [json.loads(line)[1] for line in log.read_text().split("\n")[:-1]]


def _no_prefix(taken, before):
    found = next(taken.path.rglob("brain.db"))
    uri = f"file:{found}?mode=ro&immutable=1"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as copy:
        ids = [
            i for (i,) in copy.execute("SELECT id FROM memories WHERE id LIKE 'seq-%' ORDER BY id")
        ]
        said = copy.execute("PRAGMA integrity_check").fetchone()[0]
    wrong = [] if said == "ok" else [said]
    if ids != [f"seq-{n:07}" for n in range(len(ids))]:
        wrong.append("there is a gap")
    if len(ids) % 2:
        wrong.append("half a transaction")
    if len(ids) < before:
        wrong.append(f"{before} rows were committed before it and {len(ids)} are in it")
    return wrong


def _acked(log):
    lines = log.read_text().split("\n")[:-1]
    return json.loads(lines[-1])[0] if lines else 0


def _hashes(folder):
    """Hash from another process: opening the file in this one would drop SQLite's locks.

    What SQLite itself makes for a reader, an index of the journal and an empty journal, is no data.
    """
    done = subprocess.run([sys.executable, "-c", HASHER, folder], capture_output=True, check=True)
    empty = hashlib.sha256().hexdigest()
    return {
        path: seen
        for path, seen in json.loads(done.stdout).items()
        if not path.endswith("-shm") and not (path.endswith("-wal") and seen[0] == empty)
    }


@contextlib.contextmanager
def _left(kind, folder):
    """A store whose agent is alive, was killed with a journal left behind, or is gone."""
    path = folder / "memory" / "brain.db"
    if kind == "gone":
        yield
        return
    hold = 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("UPDATE memories SET importance = 0.4 WHERE rowid = 1"); c.commit(); print(flush=True); sys.stdin.read()'
    agent = subprocess.Popen(
        [sys.executable, "-c", hold, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    agent.stdout.readline()
    if kind == "killed":
        agent.kill()
    yield
    agent.stdin.close()
    agent.stdout.close()
    agent.wait(20)


def test_a_snapshot_beside_a_writer_is_a_consistent_prefix(tmp_path):
    tally, worst, alone = prefixes(tmp_path, 3, 300)
    assert tally.failures == []
    assert tally.delivered >= 2
    assert worst < 1000 + alone  # of a machine that others use; the slow test asks for 100


@pytest.mark.parametrize("kind", ["alive", "killed", "gone"])
def test_reading_changes_no_byte_of_a_database(tmp_path, kind):
    build_clawseed(tmp_path / "ws", 10)
    with _left(kind, tmp_path / "ws"):
        before = _hashes(tmp_path / "ws")
        assert any(path.endswith("-wal") for path in before) == (kind != "gone")
        state, address = tmp_path / "state", f"clawseed:{tmp_path / 'ws'}"
        assert command("--state", state, "snapshot", address)[0] == 0
        planned = command(
            "--state", state, "plan", address, "--rule", "merge_exact", "--now", NOW.isoformat()
        )
        assert planned[0] == 0 and planned[1]["ops"] > 0
        assert command("--state", state, "audit", address)[0] == 0
        assert _hashes(tmp_path / "ws") == before


def test_reading_changes_no_byte_of_notes(tmp_path):
    scene = Scene("openclaw", tmp_path, 8)
    before = _hashes(scene.store_path)
    assert command("--state", scene.state, "snapshot", scene.address, "--accept-shrink")[0] == 0
    assert command("--state", scene.state, "audit", scene.address)[0] == 0
    assert _hashes(scene.store_path) == before


def test_a_snapshot_that_was_cut_off_is_none_and_is_swept_away(tmp_path, monkeypatch):
    build_clawseed(tmp_path / "ws", 5)
    code = "from memops.cli import main; main()"
    argv = ["--state", tmp_path / "state", "snapshot", f"clawseed:{tmp_path / 'ws'}"]
    for site in ("snapshot-copied", "snapshot-sealed"):
        monkeypatch.setenv("MEMOPS_FAIL", f"{site}:1:kill")
        killed = subprocess.run([sys.executable, "-c", code, *argv])
        assert killed.returncode == -9
        assert [p.name[0] for p in (tmp_path / "state" / "snapshots").iterdir()] == ["."]
    monkeypatch.delenv("MEMOPS_FAIL")
    assert command(*argv)[0] == 0
    (left,) = (tmp_path / "state" / "snapshots").iterdir()
    snapshot.verify(snapshot.open_snapshot(left))
    assert files.sha256(left / "manifest.json")[:8] == left.name[-8:]


@pytest.mark.slow
def test_twenty_snapshots_under_ten_thousand_appends(tmp_path):
    tally, worst, alone = prefixes(tmp_path, 20, 10_000)
    assert tally.failures == []
    assert tally.delivered >= 18
    assert worst < max(100, 2 * alone)
