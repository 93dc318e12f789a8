"""The clawseed store: reading every generation, exact copies, exact restoring."""

import contextlib
import json
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime

import polars as pl
import pytest

from memops.errors import Corrupt, Locked, StoreNotFound
from memops.plan import delete, edit, squash
from memops.schema import QUARANTINE, TOMBSTONE
from memops.stores import open_store
from memops.stores.clawseed import Clawseed
from memops.stores.clawseed.view import exported, parsed
from tests.stores.clawseed_db import build, cell, digest, dump, execute, in_step
from tests.stores.clawseed_sample import SAMPLE, carry_out, json_round_trip, only, some_plan, states

from .restoring import put_back


def test_rows_are_read_as_records(store):
    shown = store.read().select(
        "id", "scope", "key", "kind", "tier", "text", "superseded_by", "source"
    )
    assert shown.rows() == [
        ("a", "default", "user_name", "fact", "core", "The user's name is Ada", None, None),
        ("b", "nova", "用户_城市", "fact", "core", "用户住在杭州", None, None),
        ("c", "default", "daily_2026-05-03_1", "note", "working", "hi…", None, "consolidation"),
        ("d", "default", "user_msg", "session", "working", "last words", None, "channel"),
        ("e", "default", "old", "fact", "core", "The user's name is Eda", "a", None),
        ("f", "default", "", "preference", "working", "x\x00y\u2028z", None, None),
    ]  # fmt: skip
    assert store.read().select("subject", "role").rows() == [
        ("user_name", "curated"), ("用户_城市", "curated"), (None, "daily"), (None, "session"),
        ("old", "curated"), (None, "topic"),
    ]  # fmt: skip
    first = store.read().row(0, named=True)
    assert (first["importance"], first["origin"]) == (0.9, "memories/1")
    assert first["created_at"] == datetime(2026, 5, 1, tzinfo=UTC)
    assert json.loads(first["extra"]) == {
        "category": "core", "created_at": "2026-05-01T08:00:00.000000000+08:00",
        "embedding_bytes": 8, "embedding_content_hash": digest(first["text"]), "importance": 0.9,
        "namespace": "default", "updated_at": "2026-05-01T08:00:00.000000000+08:00",
    }  # fmt: skip
    assert json.loads(store.read().row(3, named=True)["extra"])["session_id"] == "s1"


def test_odd_rows_are_read_without_guessing(tmp_path):
    build(tmp_path, [
        {"id": "ns", "namespace": None}, {"id": "imp", "importance": None},
        {"id": "high", "importance": 1.7}, {"id": "word", "importance": "high"},
        {"id": "Core", "category": "Core"}, {"id": "naive", "created_at": "2026-01-01T00:00:00"},
        {"id": "day", "created_at": "2025-01-01"}, {"id": "odd", "created_at": "not-a-date"},
        {"id": "z", "created_at": "2026-03-01T10:00:00Z"},
        {"id": "first", "created_at": "0001-01-01T00:00:00+08:00"},
        {"id": "gone", "superseded_by": "nobody"}, {"id": "quar", "superseded_by": QUARANTINE},
        {"id": "tomb", "superseded_by": TOMBSTONE}, {"id": "empty", "superseded_by": ""},
        {"id": "prefix", "content": "[SUPERSEDED by 'k'] tea"}, {"id": None, "key": "no id"},
    ])  # fmt: skip
    records = {row["id"]: row for row in Clawseed(str(tmp_path)).read().to_dicts()}
    assert records["ns"]["scope"] == "default"
    assert [records[i]["importance"] for i in ("imp", "high", "word")] == [0.5, 1.0, 0.5]
    assert (records["Core"]["kind"], records["Core"]["tier"]) == ("note", "working")
    assert [records[i]["created_at"] for i in ("naive", "day", "odd", "first")] == [None] * 4
    assert records["z"]["created_at"] == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert json.loads(records["day"]["extra"])["created_at"] == "2025-01-01"
    links = [records[i]["superseded_by"] for i in ("gone", "quar", "tomb", "empty")]
    assert links == ["key:nobody", QUARANTINE, TOMBSTONE, "key:"]
    assert records["prefix"]["superseded_by"] is None
    assert records["prefix"]["text"] == "[SUPERSEDED by 'k'] tea"
    assert records["rowid:16"]["key"] == "no id"


def test_text_that_is_not_utf8_is_shown_and_never_written_back(tmp_path):
    path = build(tmp_path, [{"id": "a", "content": b"caf\xe9"}, {"id": "b", "content": "new"}])
    store, old, kept = Clawseed(str(tmp_path)), dump(path), []
    records = store.read()
    assert records["text"].to_list() == ["caf\ufffd", "new"]
    plan = edit(only(records, "a"), "update", "redact", text="***")
    assert states(carry_out(store, plan)) == {"a": "stale"} and dump(path) == old
    said = carry_out(
        store, edit(only(records, "a"), "supersede", "older", superseded_by="b"), kept=kept
    )
    assert states(said) == {"a": "applied"} and store.read()["superseded_by"][0] == "b"
    assert cell(path, "a", "hex(content)") == "636166E9"
    more = []
    carry_out(store, delete(store.read(), "gone"), kept=more)
    assert store.read().is_empty()
    store.revert(json_round_trip(more))
    store.revert(json_round_trip(kept))
    assert dump(path) == old


@pytest.mark.parametrize("variant", ["current", "legacy7", "hydrated"])
def test_every_generation_of_the_schema_is_read(tmp_path, variant):
    build(tmp_path, [{"id": "a", "content": "茶"}, {"id": "b", "category": "daily"}], variant)
    store = Clawseed(str(tmp_path))
    records = store.read()
    assert records.select("id", "text", "scope", "importance", "kind").rows() == [
        ("a", "茶", "default", 0.5, "fact"), ("b", "", "default", 0.5, "note"),
    ]  # fmt: skip
    assert store.project(records).equals(records)


def test_a_database_file_is_an_address_too(store, db):
    assert open_store(f"clawseed:{db}").read().equals(store.read())


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    (tmp_path / "dir.db").mkdir()
    for address in ("none", "dir.db", "none/brain.db"):
        with pytest.raises(StoreNotFound):
            open_store(f"clawseed:{tmp_path / address}").read()
        with pytest.raises(StoreNotFound):
            list(open_store(f"clawseed:{tmp_path / address}").batches(squash(some_plan())))
    assert [path.name for path in tmp_path.rglob("*")] == ["dir.db"]


def test_what_is_no_database_is_corrupt(tmp_path):
    for name, data in (
        ("empty", b""),
        ("text", b"hello\n" * 2000),
        ("short", b"SQLite format 3\0"),
    ):
        (tmp_path / f"{name}.db").write_bytes(data)
        with pytest.raises(Corrupt, match=name):
            open_store(f"clawseed:{tmp_path / name}.db").read()
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE notes (id)")
    with pytest.raises(Corrupt, match="no table 'memories'"):
        open_store(f"clawseed:{tmp_path / 'other.db'}").read()


def test_a_damaged_page_is_found_when_the_store_is_copied(tmp_path):
    path = build(tmp_path, [{"content": f"fact number {i} " * 20} for i in range(300)], wal=False)
    data = bytearray(path.read_bytes())
    for page in range(20, 40):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(data)
    (tmp_path / "raw").mkdir()
    with pytest.raises(Corrupt):
        Clawseed(str(tmp_path)).copy(tmp_path / "raw")


def test_a_store_locked_for_good_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("memops.stores.sqlite.WAIT", 0.2)
    path = build(tmp_path, SAMPLE, wal=False)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as agent:
        agent.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Locked, match="locked"):
            Clawseed(str(tmp_path)).read()


def test_reading_leaves_every_byte_alone(tmp_path, store, db):
    old = db.read_bytes()
    raw = tmp_path / "raw"
    raw.mkdir()
    store.copy(raw)
    store.read(), store.identity(), store.project(store.read())
    assert db.read_bytes() == old


def test_a_copy_holds_what_a_killed_agent_left_in_the_journal(tmp_path, store, db):
    code = f"""
import os, sqlite3
c = sqlite3.connect({str(db)!r}, isolation_level=None)
c.execute("UPDATE memories SET content = 'late' WHERE id = 'a'")
os._exit(0)"""
    subprocess.run([sys.executable, "-c", code], check=True)
    wal = db.with_name("brain.db-wal")
    old = (db.read_bytes(), wal.read_bytes())
    assert old[1]
    (tmp_path / "raw").mkdir()
    notes = store.copy(tmp_path / "raw")
    assert store.load(tmp_path / "raw")["text"][0] == "late"
    assert (notes["rows"], notes["consistency"]) == (6, "transaction")
    assert (db.read_bytes(), wal.read_bytes()) == old


def test_a_copy_beside_a_writer_is_a_whole_prefix(tmp_path):
    path = build(tmp_path, [{"content": "x" * 400} for _ in range(2000)])
    code = f"""
import sqlite3, time
c = sqlite3.connect({str(path)!r}, isolation_level=None, timeout=5)
for i in range(100000):
    c.execute("BEGIN")
    for j in (2 * i, 2 * i + 1):
        c.execute("INSERT INTO memories(id, key, content, created_at, updated_at) "
                  "VALUES (?, ?, 'w', '', '')", (f"w{{j:06}}", f"w{{j:06}}"))
    c.execute("COMMIT")
    if i == 20: print("on", flush=True)
    time.sleep(0.001)"""
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        writer.stdout.readline()
        for n in range(4):
            raw = tmp_path / f"raw{n}"
            raw.mkdir()
            Clawseed(str(tmp_path)).copy(raw)
            ids = [int(i[1:]) for i in dump(raw / "brain.db") if i.startswith(b"w")]
            assert sorted(ids) == list(range(len(ids))) and len(ids) % 2 == 0 and len(ids) >= 40
            assert in_step(raw / "brain.db")
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()


def mode(db):
    with contextlib.closing(sqlite3.connect(db)) as live:
        return live.execute("PRAGMA journal_mode").fetchone()[0]


@pytest.mark.parametrize("wal", [True, False])
def test_a_restored_database_has_the_copys_mode_and_no_journal_of_what_was_there(
    tmp_path, store, db, wal
):
    (raw := tmp_path / "raw").mkdir()
    store.copy(raw)
    execute(db, "UPDATE memories SET content = content || 'newer'")
    if not wal:
        execute(db, "PRAGMA journal_mode = DELETE")
    put_back(store, raw)
    assert [p.name for p in db.parent.iterdir()] == ["brain.db"] and mode(db) == "wal"


def test_restore_brings_every_row_back_exactly(tmp_path, store, db):
    (raw := tmp_path / "raw").mkdir()
    store.copy(raw)
    old = dump(db)
    carry_out(store, pl.concat([delete(store.read(), "gone"), some_plan()]))
    assert dump(db) != old
    put_back(store, raw)
    assert dump(db) == old and in_step(db)
    assert not db.with_name("brain.db-journal").exists() and mode(db) == "wal"
    db.unlink()
    put_back(store, raw)
    assert dump(db) == old and in_step(db)


def test_restore_replaces_a_database_that_is_damaged(tmp_path, store, db):
    (raw := tmp_path / "raw").mkdir()
    store.copy(raw)
    old = dump(db)
    for bad in (b"", b"garbage" * 999):
        db.write_bytes(bad)
        put_back(store, raw)
        assert dump(db) == old and in_step(db)
    assert db.with_name("brain.db.damaged").read_bytes() == b"garbage" * 999


HALF = """
import os, signal, sys
from pathlib import Path
from memops.stores.sqlite import exclusive

with exclusive(Path(sys.argv[1])) as connection:
    connection.execute("PRAGMA cache_size = 2")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("UPDATE memories SET content = hex(randomblob(9000))")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("verb", ["copy", "read", "identity", "restore", "purge"])
def test_what_a_killed_writer_left_half_written_is_rolled_back(tmp_path, store, db, verb):
    (raw := tmp_path / "raw").mkdir()
    store.copy(raw)
    old, journal = dump(db), db.with_name("brain.db-journal")
    died = subprocess.run([sys.executable, "-c", HALF, db])
    assert died.returncode == -9 and journal.stat().st_size > 512
    (new := tmp_path / "new").mkdir()
    given = {"copy": [new], "purge": [[]]}.get(verb, [])
    put_back(store, raw) if verb == "restore" else getattr(store, verb)(*given)
    assert dump(db) == old and in_step(db)
    assert not journal.exists() and store.read().height == len(old)


def test_restore_waits_for_no_agent(tmp_path, store, db):
    (raw := tmp_path / "raw").mkdir()
    store.copy(raw)
    execute(db, "UPDATE memories SET content = 'newer'")
    code = f"""
import sqlite3, sys
c = sqlite3.connect({str(db)!r}); c.execute("SELECT count(*) FROM memories").fetchone()
print("on", flush=True); sys.stdin.read()"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as agent:
        agent.stdout.readline()
        with pytest.raises(Locked, match="another process"):
            put_back(store, raw)
        assert cell(db, "a", "content") == "newer"
        agent.stdin.close()
        agent.wait()
    put_back(store, raw)
    assert cell(db, "a", "content") == "The user's name is Ada"


def test_the_snapshot_view_is_written_and_read_as_clawseed_does():
    rows = [
        {"key": "name", "content": "Ada\n\n  lives in 杭州", "category": "core",
         "created_at": "2026-01-01T00:00:00+08:00", "updated_at": "2026-01-02T00:00:00+08:00"},
        {"key": "newer", "content": "a\n---\n*Created: by hand*\nb", "category": "core",
         "created_at": "2026-01-01T00:00:00+08:00", "updated_at": "2026-01-03T00:00:00+08:00"},
        {"key": "chat", "content": "hi", "category": "conversation", "created_at": "",
         "updated_at": ""},
    ]  # fmt: skip
    text = exported(rows, "2026-02-01 08:00:00")
    assert text.startswith("# ClawSeed Memory Snapshot\n\n> Auto-generated by ClawSeed.")
    assert "**Last exported:** 2026-02-01 08:00:00\n\n**Total core memories:** 2\n\n---\n" in text
    assert parsed(text) == [("newer", "a\nb"), ("name", "Ada\n\n  lives in 杭州")]
    assert parsed(text.replace("\n", "\r\n")) == [
        ("newer", "a\nb"),
        ("name", "Ada\n\n  lives in 杭州"),
    ]
    assert exported(rows[2:], "") is None
