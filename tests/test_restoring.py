"""Restoring beside an agent: what it writes meanwhile is in the snapshot before, or in the store."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import time

import pytest

from memops import failpoints, snapshot
from memops.stores import open_store
from memops.stores.formats import packed
from memops.stores.openclaw import OpenClaw

from .stores import rsclaw_file
from .stores.clawseed_db import build, dump

ROWS = [{"id": "a", "key": "a", "content": "Tea at four"}]
NOTES = {"memory/2026-04-01.md": "# Notes\n\n- Gate 1 is shut.\n", "MEMORY.md": "- Tea at four\n"}
AGENT = """
import sqlite3, sys, time

def insert(path, token):
    live = sqlite3.connect(path, timeout=5, isolation_level=None)
    live.execute("INSERT INTO memories(id, key, content, category, created_at, updated_at)"
                 " VALUES (?1, ?1, 'said', 'core', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')",
                 [token])
    live.close()

def append(path, token):
    with open(path, "a") as file:
        file.write(f"- {token}\\n")

path, log = sys.argv[1:]
with open(log, "w") as acks:
    for n in range(10_000):
        (insert if path.endswith(".db") else append)(path, f"token{n:05}")
        print(f"token{n:05}", file=acks, flush=True)
        time.sleep(0.02)
"""


@pytest.fixture
def notes(tmp_path):
    root = tmp_path / "ws"
    for name, text in NOTES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
        os.utime(root / name, (10**9, 10**9))
    return root


@contextlib.contextmanager
def agent(path, log):
    process = subprocess.Popen([sys.executable, "-c", AGENT, path, log])
    try:
        while process.poll() is None and not (log.exists() and log.stat().st_size):
            time.sleep(0.01)
        yield
    finally:
        process.terminate()
        process.wait()


def tree(root):
    return {str(p.relative_to(root)): p.read_text() for p in root.rglob("*.md")}


def held(state):
    """All that the snapshots hold in their exact copies, as bytes."""
    return b"".join(p.read_bytes() for p in (state / "snapshots").glob("*/raw/**/*") if p.is_file())


def taken(memops, address):
    return memops("snapshot", address)["snapshot"]


@pytest.mark.parametrize("kind", ["clawseed", "openclaw"])
def test_no_row_and_no_line_is_lost_that_an_agent_writes_beside_a_restore(
    memops, tmp_path, notes, kind
):
    path = notes / "memory" / "2026-04-01.md" if kind == "openclaw" else build(notes, ROWS)
    first, codes = taken(memops, f"{kind}:{notes}"), []
    with agent(path, log := tmp_path / "acks"):
        while len(codes) < 4 or len(log.read_text().split()) < 30:
            memops("restore", first)
            codes.append(memops.code)
            time.sleep(0.2)
    there = path.read_bytes() + held(memops.state)
    missing = [token for token in log.read_text().split() if token.encode() not in there]
    assert missing == []
    assert set(codes) <= {0, 11} and (kind == "openclaw" or 0 in codes)


class Meddled(OpenClaw):
    """A store beside which an agent writes right after it was kept."""

    def between(self):
        return None

    def restore(self, raw, keep):
        def kept(copy):
            made = keep(copy)
            self.between()
            return made

        return super().restore(raw, kept)


def test_lines_that_come_after_the_snapshot_before_stay_in_their_files(tmp_path, notes):
    (raw := tmp_path / "raw").mkdir()
    store = Meddled(str(notes))
    store.copy(raw)
    (notes / "memory" / "2026-04-01.md").write_text("- Gate 9\n")
    for name in ("2026-04-02.md", "2026-04-03.md"):
        (notes / "memory" / name).write_text(f"- of {name}\n")
    (notes / "MEMORY.md").unlink()
    os.utime(notes / "memory" / "2026-04-01.md", (10**9, 10**9))

    def between():
        for name in ("MEMORY.md", "memory/2026-04-01.md", "memory/2026-04-02.md", "memory/new.md"):
            with (notes / name).open("a") as file:
                file.write(f"- late in {name}\n")

    store.between = between
    kept = tmp_path / "kept"
    kept.mkdir()
    said = store.restore(raw, lambda copy: copy(kept) and kept)
    assert tree(notes) == {
        "MEMORY.md": NOTES["MEMORY.md"] + "- late in MEMORY.md\n",
        "memory/2026-04-01.md": NOTES["memory/2026-04-01.md"] + "- late in memory/2026-04-01.md\n",
        "memory/2026-04-02.md": "- late in memory/2026-04-02.md\n",
        "memory/new.md": "- late in memory/new.md\n",
    }
    assert said == {"MEMORY.md": 1, "memory/2026-04-01.md": 1, "memory/2026-04-02.md": 1}


@pytest.mark.parametrize("name", ["m.jsonl", "m.parquet", "brain.db", "memory.redb"])
def test_a_store_that_is_too_damaged_to_be_snapshotted_is_put_aside(memops, tmp_path, name):
    path = tmp_path / "ws" / "memory" / name
    path.parent.mkdir(parents=True)
    kind = {"brain.db": "clawseed", "memory.redb": "rsclaw"}.get(name, path.suffix[1:])
    if kind == "clawseed":
        build(tmp_path / "ws", ROWS)
    elif kind == "rsclaw":
        rsclaw_file.write(path)
    else:
        rows = memops.write("m.jsonl", [{"id": "a", "kind": "fact", "text": "Tea at four"}])
        data = rows.read_bytes()
        path.write_bytes(data if kind == "jsonl" else packed(open_store(f"jsonl:{rows}").read()))
    first, whole = taken(memops, address := f"{kind}:{path}"), path.read_bytes()
    for garbage in (b"{ no JSON of ours" * 99, b"not the same" * 99):
        path.write_bytes(garbage)
        said = memops("restore", first)
        assert (memops.code, said["before"]) == (0, None)
        assert kind == "clawseed" or path.read_bytes() == whole
        assert open_store(address).read()["id"].to_list()
    aside = [path.with_name(f"{name}.damaged").read_bytes()]
    aside += [path.with_name(f"{name}.damaged-2").read_bytes()]
    assert aside == [b"{ no JSON of ours" * 99, b"not the same" * 99]


def fail(memops, monkeypatch, spec, *argv):
    failpoints.passed.clear()
    with monkeypatch.context() as patched:
        patched.setenv("MEMOPS_FAIL", spec)
        return memops(*argv)


def test_nothing_is_planned_on_from_a_store_of_which_a_restore_was_cut_off(
    memops, notes, monkeypatch
):
    address = f"openclaw:{notes}"
    first, whole = taken(memops, address), tree(notes)
    for name in NOTES:
        with (notes / name).open("a") as file:
            file.write("- Gate 2 is open.\n- Gate 2 is open.\n")
        os.utime(notes / name, (10**9, 10**9))
    plan = memops("plan", address, "--rule", "merge_exact")["plan"]
    changed = tree(notes)
    fail(memops, monkeypatch, "carry-drafted:2:raise", "restore", first)
    half = tree(notes)
    assert half not in (whole, changed)
    before = snapshot.latest(memops.state, open_store(address).identity()).id
    for argv in (["apply", plan, "--approve"], ["nightly", address]):
        said = memops(*argv)
        said = said[0] if isinstance(said, list) else said
        assert (memops.code, tree(notes)) == (24, half)
        hint = said["hint"].replace(f" --state {memops.state}", "")
        assert (
            hint == f"go on with `memops restore {first}`, or back with `memops restore {before}`"
        )
    memops("restore", before)
    assert (memops.code, tree(notes)) == (0, changed)
    memops("restore", first)
    assert (memops.code, tree(notes)) == (0, whole)
    assert memops("nightly", address) and memops.code == 0
    assert not [p for p in notes.rglob("*") if ".memops-" in p.name]


def test_a_run_that_was_cut_off_is_not_gone_on_with_in_a_restored_store(memops, notes, monkeypatch):
    with (notes / "MEMORY.md").open("a") as file:
        file.write("- Tea at four\n- Tea at four\n")
    os.utime(notes / "MEMORY.md", (10**9, 10**9))
    whole = tree(notes)
    made = memops("plan", f"openclaw:{notes}", "--rule", "merge_exact")
    fail(memops, monkeypatch, "batch-written:1:raise", "apply", made["plan"], "--approve")
    assert tree(notes) != whole
    memops("restore", made["snapshot"])
    (run,) = memops("runs")
    assert (run["state"], tree(notes)) == ("needs-attention", whole)
    (night,) = memops("nightly", f"openclaw:{notes}")
    assert "recovered" not in night


def test_a_restore_for_which_there_is_no_room_changes_nothing(memops, tmp_path, monkeypatch):
    db = build(tmp_path / "ws", ROWS)
    first = taken(memops, f"clawseed:{tmp_path / 'ws'}")
    with sqlite3.connect(db) as live:
        live.execute("UPDATE memories SET content = 'newer'")
    live.close()
    newer = dump(db)
    said = fail(memops, monkeypatch, "file-write:2:enospc", "restore", first)
    assert (memops.code, dump(db)) == (26, newer) and "brain.db" not in said["message"]
    with sqlite3.connect(db) as live:
        assert live.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    live.close()
    memops("restore", first)
    assert memops.code == 0 and dump(db) != newer
