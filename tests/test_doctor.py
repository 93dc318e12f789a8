"""The doctor: every kind of damage and oddity that it knows is found, and a sound store has none."""

import contextlib
import os
import sqlite3
import struct
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime

import pytest

from memops.commands.doctor import missing, of_links
from memops.schema import STORES, TOMBSTONE, from_rows
from memops.stores.clawseed.doctor import wal_reset
from memops.stores.rsclaw.redb import Table
from memops.stores.rsclaw.redb_build import build as redb_file
from tests.stores import openclaw_state
from tests.stores.samples import BUILDERS, build

KINDS = sorted(BUILDERS)
NOW = ("--now", "2026-06-01T12:00:00Z")


def found(memops, store, *more):
    said = memops("doctor", store.address, *NOW, *more)
    assert all(set(f) == {"check", "level", "count", "says", "do"} for f in said["findings"])
    counts = Counter()
    for f in said["findings"]:
        counts[f["check"], f["level"]] += f["count"]
    return dict(counts)


def closed(folder):
    """Take the rights of other users away, which the test's own umask may have given."""
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sound_store_has_nothing_worse_than_a_note_and_is_not_changed(memops, tmp_path, kind):
    home = tmp_path / "home"
    home.mkdir()
    store = build(kind, home)
    closed(home)
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    found_ = found(memops, store, "--fail-on", "warning")
    assert memops.code == 0, memops.err
    assert {level for _, level in found_} <= {"info"}
    after = {p: p.read_bytes() for p in home.rglob("*") if p.is_file() and p.suffix != ".db-shm"}
    assert {p: after.get(p) for p in after if p in before} == {
        p: before[p] for p in after if p in before
    }


def changed(store, *statements):
    with contextlib.closing(sqlite3.connect(store.path)) as connection:
        for statement, *values in statements:
            connection.execute(statement, values)
        connection.commit()


def test_damage_in_clawseed_is_told_apart(memops, tmp_path):
    store = build("clawseed", tmp_path)
    closed(tmp_path)
    store.path.chmod(0o666)
    at = "UPDATE memories SET {} WHERE rowid = {}".format
    changed(
        store,
        [at("embedding = ?", 1), struct.pack("<2f", 1, 2)],
        [at("embedding = ?", 2), struct.pack("<3f", 1, 2, 3)],
        [at("embedding = ?", 3), b"12345"],
        [at("namespace = NULL", 4)],
        [at("created_at = 'soon', updated_at = '2026-05-01T10:00:00'", 5)],
        [at("created_at = '2031-01-01T00:00:00+08:00'", 6)],
        [at("superseded_by = (SELECT key FROM memories WHERE rowid = 8)", 7)],
        [at("superseded_by = (SELECT key FROM memories WHERE rowid = 7)", 8)],
        [at("superseded_by = 'nobody'", 9)],
        [at("embedding_content_hash = 'stale'", 1)],
        ["DROP TRIGGER memories_au"],
        [at("content = 'not in the index'", 10)],
        [at("content = CAST(X'ff41' AS TEXT)", 11)],
    )
    assert found(memops, store) | {("sqlite", "info"): 1} == {
        ("vectors", "error"): 1,
        ("vectors", "warning"): 2,
        ("namespaces", "warning"): 1,
        ("times", "warning"): 3,  # no instant, no offset, the future
        ("times", "info"): 4,  # two offsets; no time; used before it was made
        ("cyclic", "error"): 2,
        ("dangling", "warning"): 1,
        ("index", "error"): 2,  # a trigger is gone; the index says otherwise
        ("texts", "error"): 1,
        ("modes", "warning"): 1,
        ("modes", "info"): 1,
        ("sqlite", "info"): 1,
    }
    said = memops("doctor", store.address, *NOW, "--fail-on", "error")
    assert (memops.code, said["worst"], said["failed"]) == (32, "error", True)
    says = [f["says"] for f in said["findings"]]
    assert any("does not say what the table says" in text for text in says)
    assert any("no trigger memories_au" in text for text in says)


def test_a_database_that_is_damaged_is_a_finding_and_one_that_is_gone_an_error(memops, tmp_path):
    store = build("clawseed", tmp_path)
    data = bytearray(store.path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    store.path.write_bytes(data)
    assert ("damage", "error") in found(memops, store) and memops.code == 0
    memops("doctor", f"clawseed:{tmp_path / 'nowhere'}")
    assert memops.code == 10


def test_rows_that_rsclaw_passes_over_and_odd_vectors_are_counted(memops, tmp_path):
    store = build("rsclaw", tmp_path)
    closed(tmp_path)
    vectors = [struct.pack("<I2f", 2, 0, 1), struct.pack("<I3f", 3, 0, 1, 2), struct.pack("<I", 0)]
    rows = [(b"%d" % n, v + b'{"id": "x"}') for n, v in enumerate(vectors)]
    store.path.write_bytes(redb_file({"memory_docs": Table(b"\x01&str", b"\x01&[u8]", rows)}))
    assert found(memops, store) == {
        ("rows", "warning"): 3,
        ("recovery", "info"): 1,
        ("vectors", "warning"): 1,
        ("vectors", "info"): 1,
    }


def test_what_an_edit_would_cost_in_openclaw_is_said(memops, tmp_path):
    store = build("openclaw", tmp_path)
    closed(tmp_path)
    root = store.path
    (tmp_path / "openclaw.json").write_text("{}")
    agent = tmp_path / "agents" / "main" / "agent"
    agent.mkdir(parents=True)
    day = sorted((root / "memory").glob("*.md"))[0].name
    with contextlib.closing(sqlite3.connect(agent / "openclaw-agent.sqlite")) as db:
        db.execute("CREATE TABLE schema_meta (schema_version INTEGER)")
        db.execute("INSERT INTO schema_meta VALUES (3)")
        db.commit()
    openclaw_state.keep(root, {f"memory/{day}": ("agent", None)})
    (root / "memory" / "linked.md").symlink_to(tmp_path / "openclaw.json")
    (root / "memory" / ".memops-7-x.md.new").write_text("x")
    lock = store.locks("MEMORY.md")[0].path
    lock.parent.mkdir(exist_ok=True)
    lock.write_text("{}")
    os.utime(lock, (0, 0))
    (root / "MEMORY.md").write_bytes(b"# Memory\n- caf\xff\n" + b"- a\n" * 6000)
    (root / "MEMORY.md").chmod(0o600)
    assert found(memops, store) == {
        ("generation", "info"): 1,
        ("provenance", "warning"): 1,
        ("passed over", "warning"): 1,
        ("left over", "warning"): 1,
        ("locks", "warning"): 1,
        ("size", "warning"): 1,
        ("texts", "info"): 1,
        ("times", "info"): 6001,
    }


def test_the_layout_of_xinghebot_is_looked_at(memops, tmp_path):
    store = build("xinghebot", tmp_path)
    (store.path / "MEMORY.md").write_text("## Notes\n" + "- 记" * 600)
    closed(tmp_path)
    assert {k: n for k, n in found(memops, store).items() if k[0] != "times"} == {
        ("layout", "warning"): 1,
        ("stamp", "info"): 1,
        ("size", "warning"): 1,
    }


def test_an_agent_that_has_the_file_open_is_seen(memops, tmp_path):
    store = build("rsclaw", tmp_path)
    closed(tmp_path)
    code = f"f = open({str(store.path)!r}, 'rb'); print('open', flush=True); input()"
    agent = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert agent.stdout.readline() == b"open\n"
        assert found(memops, store)["open", "info"] == 1
    finally:
        agent.communicate(b"\n")


def test_rings_count_their_members_only():
    at = datetime(2026, 1, 1, tzinfo=UTC)
    links = {"a": "b", "b": "c", "c": "b", "d": "d", "e": "a", "f": TOMBSTONE, "g": "x", "h": None}
    rows = [{"id": i, "text": i, "created_at": at, "superseded_by": to} for i, to in links.items()]
    counts = {f.check: f.count for f in of_links(from_rows(rows))}
    assert counts == {"cyclic": 3, "dangling": 1}


def test_versions_with_the_wal_reset_bug_are_known():
    said = [
        wal_reset(v)
        for v in [(3, 6, 23), (3, 7, 0), (3, 40, 1), (3, 51, 2), (3, 51, 3), (3, 52, 0)]
    ]
    assert said == [False, True, True, True, False, False]


def test_what_this_machine_lacks_is_said_for_every_kind(memops):
    said = memops("stores")
    assert {kind: can["missing"] for kind, can in said.items()} == {k: missing(k) for k in STORES}
    lacks = [text for text in said["clawseed"]["missing"] if "WAL-reset" in text]
    assert bool(lacks) == wal_reset(sqlite3.sqlite_version_info)
