"""The clawseed store: reading every generation, exact copies, safe writing, exact undo."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memops.errors import Corrupt, Locked, StoreNotFound
from memops.plan import delete, diff, edit, outcome, put, squash
from memops.schema import KINDS, QUARANTINE, RECORDS, TIERS, TOMBSTONE, from_rows
from memops.stores import Work, clawseed_write, open_store
from memops.stores.clawseed import Clawseed
from memops.stores.clawseed_snapshot import exported, parsed, would_hydrate
from tests.stores.clawseed_db import build, cell, digest, dump, execute, in_step, vector

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SAMPLE = [
    {"id": "a", "key": "user_name", "content": "The user's name is Ada", "importance": 0.9,
     "embedding": vector(0.5, 0.5)},
    {"id": "b", "key": "用户_城市", "content": "用户住在杭州", "namespace": "nova"},
    {"id": "c", "key": "daily_2026-05-03_1", "content": "hi…", "category": "daily"},
    {"id": "d", "key": "user_msg", "content": "last words", "category": "conversation",
     "session_id": "s1"},
    {"id": "e", "key": "old", "content": "The user's name is Eda", "superseded_by": "user_name"},
    {"id": "f", "key": "", "content": "x\x00y\u2028z", "category": "preference"},
]  # fmt: skip


@pytest.fixture
def ws(tmp_path):
    build(tmp_path / "ws", SAMPLE)
    return tmp_path / "ws"


@pytest.fixture
def store(ws):
    return open_store(f"clawseed:{ws}")


@pytest.fixture
def db(ws):
    return ws / "memory" / "brain.db"


def only(records, *ids):
    return records.filter(pl.col("id").is_in(list(ids)))


def carry_out(store, plan, before=None, refuse=None, kept=None):
    """Write a plan batch by batch, as apply does; return what became of each change."""
    before = store.read() if before is None else before
    kept = [] if kept is None else kept
    said = {}
    for batch in store.batches(squash(plan)):
        work = Work(batch, before, NOW, lambda live, counts: refuse or {}, kept.extend)
        said |= {w.id: w for w in store.write(work)}
    return said


def states(said):
    return {id_: written.state for id_, written in said.items()}


def comparable(records):
    """Records without what a write necessarily makes new: native values, place, time of edits."""
    return records.drop("extra", "origin", "updated_at")


# reading


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
    plan = edit(only(records, "a"), "redact", text="***")
    assert states(carry_out(store, plan)) == {"a": "stale"} and dump(path) == old
    said = carry_out(store, edit(only(records, "a"), "older", superseded_by="b"), kept=kept)
    assert states(said) == {"a": "applied"} and store.read()["superseded_by"][0] == "b"
    assert cell(path, "a", "hex(content)") == "636166E9"
    more = []
    carry_out(store, delete(store.read(), "gone"), kept=more)
    assert store.read().is_empty()
    store.revert(json_round_trip(more))
    store.revert(json_round_trip(kept))
    assert dump(path) == old


def json_round_trip(undo):
    """Undo as it comes back from the journal."""
    return [type(u)(**json.loads(json.dumps(u.__dict__, default=str))) for u in undo]


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


def some_plan():
    return put(from_rows([{"id": "new", "text": "neu", "created_at": NOW}]), "added")


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


# copying


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


def test_restore_brings_every_row_back_exactly(tmp_path, store, db):
    (raw := tmp_path / "raw").mkdir()
    store.copy(raw)
    old = dump(db)
    carry_out(store, pl.concat([delete(store.read(), "gone"), some_plan()]))
    assert dump(db) != old
    store.restore(raw)
    assert dump(db) == old and in_step(db)
    db.unlink()
    store.restore(raw)
    assert dump(db) == old and in_step(db)


def test_restore_replaces_a_database_that_is_damaged(tmp_path, store, db):
    (raw := tmp_path / "raw").mkdir()
    store.copy(raw)
    old = dump(db)
    for bad in (b"", b"garbage" * 999):
        db.write_bytes(bad)
        store.restore(raw)
        assert dump(db) == old and in_step(db)
    assert db.with_name("brain.db.damaged").read_bytes() == b"garbage" * 999


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
            store.restore(raw)
        assert cell(db, "a", "content") == "newer"
        agent.stdin.close()
        agent.wait()
    store.restore(raw)
    assert cell(db, "a", "content") == "The user's name is Ada"


# writing


def test_new_content_brings_time_and_hash_and_drops_the_vector(store, db):
    old = dump(db)
    carry_out(store, edit(only(store.read(), "a"), "redact", text="The user's name is 某某"))
    assert cell(db, "a", "content") == "The user's name is 某某"
    assert cell(db, "a", "embedding") is None
    assert (
        cell(db, "a", "embedding_content_hash") == "5fd4f7d2c4ad5b6d"
        or len(cell(db, "a", "embedding_content_hash")) == 16
    )
    stamp = cell(db, "a", "updated_at")
    assert datetime.fromisoformat(stamp) == NOW and not stamp.endswith("Z")
    assert {i: v for i, v in dump(db).items() if i != b"a"} == {
        i: v for i, v in old.items() if i != b"a"
    }
    assert in_step(db)


def test_superseding_sets_one_column_only(store, db):
    old = dump(db)
    carry_out(store, edit(only(store.read(), "c"), "older", superseded_by="b"))
    new = dump(db)
    altered = [n for n, (x, y) in enumerate(zip(old[b"c"], new[b"c"], strict=True)) if x != y]
    assert [new[b"c"][n] for n in altered] == [b"text", "用户_城市".encode()]
    carry_out(store, edit(only(store.read(), "c"), "again", clears=["superseded_by"]))
    assert dump(db) == old


def test_a_new_record_gets_a_row_and_a_free_key(store, db):
    plan = put(from_rows([
        {"id": "n1", "key": "user_name", "text": "新", "kind": "lesson", "created_at": NOW},
        {"id": "n2", "text": "two", "tier": "core", "kind": "preference", "scope": "nova"},
        {"id": "n3", "key": "own", "text": "three", "kind": "session"},
    ]), "added")  # fmt: skip
    before = store.read()
    assert states(carry_out(store, plan)) == dict.fromkeys(["n1", "n2", "n3"], "applied")
    with contextlib.closing(sqlite3.connect(db)) as connection:
        rows = connection.execute(
            "SELECT id, key, content, category, namespace, embedding FROM memories "
            "WHERE id LIKE 'n_' ORDER BY id"
        ).fetchall()
    assert rows == [
        ("n1", "memops_n1", "新", "lesson", "default", None),
        ("n2", "memops_n2", "two", "core", "nova", None),
        ("n3", "own", "three", "conversation", "default", None),
    ]
    assert states(carry_out(store, plan, before=before)) == dict.fromkeys(
        ["n1", "n2", "n3"], "already"
    )
    assert in_step(db)


def test_a_change_that_the_table_cannot_hold_is_the_overlays(store, db):
    old, kept = dump(db), []
    said = carry_out(store, edit(store.read(), "sunk", tier="peripheral", pinned=True), kept=kept)
    assert set(states(said).values()) == {"applied"} and dump(db) == old and kept == []


def test_a_row_that_changed_since_is_stale(store, db):
    before = store.read()
    execute(db, "UPDATE memories SET content = 'theirs' WHERE id = 'a'")
    execute(db, "UPDATE memories SET category = 'daily' WHERE id = 'b'")
    execute(db, "DELETE FROM memories WHERE id IN ('c', 'd')")
    execute(db, "UPDATE memories SET updated_at = '2026-05-09T00:00:00+08:00' WHERE id = 'f'")
    plan = pl.concat([
        edit(only(before, "a", "b", "c"), "ours", text="ours"),
        delete(only(before, "d", "f"), "ours"),
        edit(only(before, "e"), "ours", importance=0.1),
    ])  # fmt: skip
    old = dump(db)
    assert states(carry_out(store, plan, before=before)) == {
        "a": "stale", "b": "stale", "c": "stale", "d": "already", "f": "stale", "e": "applied",
    }  # fmt: skip
    assert cell(db, "e", "importance") == 0.1
    assert {i for i, v in dump(db).items() if v != old[i]} == {b"e"}


def test_a_vector_that_clawseed_filled_meanwhile_makes_nothing_stale(store, db):
    before = store.read()
    execute(db, "UPDATE memories SET embedding = ? WHERE id = 'b'", vector(1.0))
    assert states(carry_out(store, edit(only(before, "b"), "x", importance=0.7), before)) == {
        "b": "applied"
    }


def test_writing_twice_is_writing_once(store, db):
    before = store.read()
    plan = pl.concat([
        edit(only(before, "a"), "new text", text="new text"),
        edit(only(before, "b"), "older", superseded_by="a"),
        delete(only(before, "c"), "gone"), some_plan(),
    ])  # fmt: skip
    carry_out(store, plan)
    once = dump(db)
    assert set(states(carry_out(store, plan, before=before)).values()) == {"already"}
    assert dump(db) == once


def test_a_record_is_not_superseded_by_one_that_is_gone(store, db):
    before = store.read()
    execute(db, "DELETE FROM memories WHERE id = 'a'")
    said = carry_out(store, edit(only(before, "b"), "older", superseded_by="a"), before)
    assert (said["b"].state, said["b"].why) == ("stale", "the record that replaces it is gone")


def test_the_guard_sees_live_records_and_counts_and_is_obeyed(store, db):
    before, seen = store.read(), {}
    execute(db, "UPDATE memories SET superseded_by = 'user_msg' WHERE id = 'c'")

    def check(live, counts):
        seen["live"] = live.select("id", "superseded_by").rows()
        seen["counts"] = counts.rows()
        return {"d": "the guard says no"}

    plan = pl.concat([
        delete(only(before, "d"), "gone"), edit(only(before, "e"), "other", superseded_by="b"),
        edit(only(before, "c"), "other", superseded_by="a"),
    ])  # fmt: skip
    work = Work(squash(plan), before, NOW, check, lambda undo: None)
    said = {w.id: (w.state, w.why) for w in store.write(work)}
    assert said["d"] == ("refused", "the guard says no") and said["e"][0] == "applied"
    assert said["c"][0] == "stale"
    assert seen["live"] == [("a", None), ("b", None), ("c", "d"), ("d", None), ("e", "a")]
    assert seen["counts"] == [
        ("default", "fact", "core", 1),
        ("default", "session", "conversation", 1),
    ]


def test_counts_for_floors_are_true_inside_the_lock(store, db):
    before, seen = store.read(), []
    session = next(store.batches(squash(delete(before, "gone"))))  # opens, counts later
    execute(db, "DELETE FROM memories WHERE id = 'd'")

    def check(live, counts):
        seen.append(counts.filter(pl.col("kind") == "session").height)
        return {}

    store.write(Work(session, before, NOW, check, lambda undo: None))
    assert seen == [0]


def test_undo_is_kept_before_the_commit_and_a_failure_leaves_nothing(store, db):
    old = dump(db)

    def fail(undo):
        assert len(undo) == 6 and cell(db, "a", "content") == "The user's name is Ada"
        raise OSError(28, "No space left on device")

    work = Work(squash(delete(store.read(), "gone")), store.read(), NOW, lambda *_: {}, fail)
    with pytest.raises(Exception, match="No space left"):
        store.write(work)
    assert dump(db) == old and in_step(db)


def test_batches_are_small_put_first_and_let_go_of_the_database(tmp_path):
    path = build(tmp_path, [{"content": f"fact {i}"} for i in range(500)])
    store = Clawseed(str(tmp_path))
    before = store.read()
    plan = squash(
        pl.concat([edit(before, "x", importance=0.4), put(from_rows([{"id": "zz"}]), "x")])
    )
    told = []
    for batch in store.batches(plan):
        if not told:
            assert batch["id"][0] == "zz"
        work = Work(batch, before, NOW, lambda *_: {}, lambda undo: None, done=told.append)
        assert [w.id for w in store.write(work)] == batch["id"].to_list()
    sizes = [len(said) for said in told]
    assert sum(sizes) == 501 and max(sizes) <= 200
    assert not path.with_name("brain.db-wal").exists()  # the last connection is closed


def test_a_held_lock_is_waited_for_and_then_named(store, db, monkeypatch):
    plan = squash(edit(store.read(), "x", importance=0.4))
    with contextlib.closing(
        sqlite3.connect(db, isolation_level=None, check_same_thread=False)
    ) as agent:
        agent.execute("BEGIN IMMEDIATE")
        threading.Timer(0.5, lambda: agent.execute("COMMIT")).start()
        started = time.monotonic()
        assert set(states(carry_out(store, plan)).values()) == {"applied"}
        assert time.monotonic() - started > 0.3
        monkeypatch.setattr("memops.stores.sqlite.WAIT", 0.1)
        agent.execute("BEGIN IMMEDIATE")
        with pytest.raises(Locked, match=r"brain\.db"):
            carry_out(store, plan)


def test_a_table_without_its_triggers_is_not_written(tmp_path):
    for variant in ("hydrated", "current"):
        path = build(tmp_path / variant, [{"id": "a"}], variant)
        if variant == "current":
            execute(path, "DROP TRIGGER memories_au")
        store, old = Clawseed(str(tmp_path / variant)), dump(path)
        with pytest.raises(Corrupt, match="trigger memories_a") as caught:
            carry_out(store, delete(store.read(), "gone"))
        remedy = "--repair schema" if variant == "hydrated" else "start clawseed once"
        assert remedy in caught.value.hint and dump(path) == old


def test_the_first_generation_is_written_in_the_columns_that_it_has(tmp_path):
    path = build(tmp_path, [{"id": "a", "content": "x"}, {"id": "b"}], "legacy7")
    store, old, kept = Clawseed(str(tmp_path)), dump(path), []
    before = store.read()
    plan = pl.concat([
        edit(only(before, "a"), "x", text="y", superseded_by="b", scope="nova"), some_plan(),
        edit(only(before, "b"), "x", superseded_by=TOMBSTONE, importance=0.1),
    ])  # fmt: skip
    assert set(states(carry_out(store, plan, kept=kept)).values()) == {"applied"}
    after = store.read()
    assert comparable(after).equals(comparable(store.project(outcome(before, plan))))
    assert after.select("id", "text", "superseded_by").rows() == [
        ("a", "y", None), ("b", "", None), ("new", "neu", None),
    ]  # fmt: skip
    assert in_step(path)
    store.revert(json_round_trip(kept))
    assert dump(path) == old


# taking back


def test_undo_holds_what_an_edit_altered_and_all_of_a_row_that_came_or_went(store, db):
    kept, before = [], store.read()
    plan = pl.concat([
        edit(only(before, "a"), "x", importance=0.25), delete(only(before, "b"), "x"), some_plan(),
    ])  # fmt: skip
    carry_out(store, plan, kept=kept)
    undo = {entry.id: (entry.before, entry.after) for entry in kept}
    assert undo["a"] == ({"importance": 0.9}, {"importance": 0.25})
    assert undo["b"][0]["content"] == "用户住在杭州" and undo["b"][1] is None
    assert undo["new"][0] is None and undo["new"][1]["rowid"]


def test_revert_keeps_what_the_agent_did_to_other_columns(store, db):
    kept = []
    plan = edit(only(store.read(), "a", "b"), "x", superseded_by="d")
    carry_out(store, plan, kept=kept)
    execute(db, "UPDATE memories SET content = 'theirs', updated_at = 'now' WHERE id = 'a'")
    execute(db, "UPDATE memories SET superseded_by = 'old' WHERE id = 'b'")
    said = {w.id: w.state for w in store.revert(json_round_trip(kept))}
    assert said == {"a": "applied", "b": "stale"}
    assert (cell(db, "a", "content"), cell(db, "a", "superseded_by")) == ("theirs", None)
    assert cell(db, "b", "superseded_by") == "old"


def test_revert_keeps_newer_text_and_keys_stored_again(store, db):
    kept = []
    before = store.read()
    plan = pl.concat([
        edit(only(before, "a"), "x", text="ours"), delete(only(before, "b", "c"), "x"), some_plan(),
    ])  # fmt: skip
    carry_out(store, plan, kept=kept)
    execute(db, "UPDATE memories SET content = 'theirs' WHERE id = 'a'")
    execute(db, "UPDATE memories SET content = 'theirs' WHERE id = 'new'")
    execute(
        db, "INSERT INTO memories(id, key, content, created_at, updated_at) VALUES (?,?,?,'','')",
        "other", "用户_城市", "again",
    )  # fmt: skip
    said = {w.id: w.state for w in store.revert(json_round_trip(kept))}
    assert said == {"a": "stale", "b": "stale", "c": "applied", "new": "stale"}
    assert cell(db, "a", "content") == "theirs" and cell(db, "other", "content") == "again"
    assert in_step(db)


def test_revert_looks_past_a_vector_filled_since(store, db):
    kept, old = [], dump(db)
    carry_out(store, edit(only(store.read(), "a"), "x", text="ours"), kept=kept)
    execute(db, "UPDATE memories SET embedding = ? WHERE id = 'a'", vector(3.0))
    assert [w.state for w in store.revert(kept)] == ["applied"]
    assert dump(db) == old


# forgetting


def test_purge_leaves_no_byte_of_a_text_behind(tmp_path, store, db, ws):
    secret = "the vault opens with zyzzyva quokka"
    execute(
        db, "UPDATE memories SET content = ?, embedding_content_hash = 'h' WHERE id = 'b'", secret
    )
    hashed = digest(secret)
    execute(db, "INSERT INTO embedding_cache VALUES (?, x'00', '', '')", hashed)
    view = ws / "MEMORY_SNAPSHOT.md"
    rows = [{"key": "k", "content": text, "category": "core", "created_at": "", "updated_at": ""}
            for text in (secret, "kept")]  # fmt: skip
    view.write_text(exported(rows, "2026-06-01 00:00:00"), encoding="utf-8")
    old = {i: v[1:] for i, v in dump(db).items()}
    store.purge(["b"])
    assert {i: v[1:] for i, v in dump(db).items()} == {i: v for i, v in old.items() if i != b"b"}
    for path in ws.rglob("*"):
        data = path.read_bytes().lower() if path.is_file() else b""
        assert b"zyzzyva" not in data and b"quokka" not in data and hashed.encode() not in data
    assert in_step(db) and parsed(view.read_text(encoding="utf-8")) == [("k", "kept")]
    with contextlib.closing(sqlite3.connect(db)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_purge_waits_for_the_agent_to_stop(store, db):
    code = f"""
import sqlite3, sys
c = sqlite3.connect({str(db)!r}); c.execute("SELECT count(*) FROM memories").fetchone()
print("on", flush=True); sys.stdin.read()"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as agent:
        agent.stdout.readline()
        with pytest.raises(Locked, match="another process"):
            store.purge(["a"])
        agent.stdin.close()
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
    assert [would_hydrate(size, True) for size in (None, 0, 4095, 4096)] == [
        True,
        True,
        True,
        False,
    ]
    assert not would_hydrate(None, False)


TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=12)
STAMPS = st.sampled_from(["2026-05-01T08:00:00.123456789+08:00", "2026-05-02T00:00:00+00:00",
                          "2025-01-01", "not-a-date", ""])  # fmt: skip
NATIVE = st.fixed_dictionaries({
    "content": st.one_of(TEXT, st.binary(max_size=6)),
    "category": st.sampled_from(["core", "daily", "conversation", "Core", "preference", "x"]),
    "embedding": st.one_of(st.none(), st.binary(max_size=9)),
    "created_at": STAMPS, "updated_at": STAMPS,
    "namespace": st.sampled_from(["default", "nova", None]),
    "importance": st.one_of(st.none(), st.floats(allow_nan=False), st.just("high")),
    "superseded_by": st.sampled_from([None, None, "key0000", "key0001", "nobody", QUARANTINE]),
})  # fmt: skip


@st.composite
def plans(draw):
    """Native rows, and any plan over some of them and some new ones."""
    rows = draw(st.lists(NATIVE, min_size=1, max_size=5))
    ids = [f"id{n:04d}" for n in range(len(rows))]
    changes = draw(st.lists(st.tuples(
        st.sampled_from(ids), st.sampled_from(["edit", "delete", "hide", "live"]), TEXT,
        st.sampled_from([*ids, QUARANTINE, TOMBSTONE]), st.floats(0, 1), st.sampled_from(TIERS),
    ), max_size=6))  # fmt: skip
    new = draw(
        st.lists(st.tuples(TEXT, st.sampled_from(KINDS), st.sampled_from(TIERS)), max_size=3)
    )
    return rows, changes, new


@settings(
    deadline=None, max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(plans())
def test_a_store_is_the_outcome_of_its_plan_and_revert_the_store_before(tmp_path_factory, drawn):
    rows, changes, new = drawn
    ws = tmp_path_factory.mktemp("ws")
    path = build(ws, rows)
    store, old, kept = Clawseed(str(ws)), dump(path), []
    before = store.read()
    names = ("id", "text", "kind", "tier", "created_at")
    fresh = [(f"new{n}", *values, NOW) for n, values in enumerate(new)]
    steps = [put(from_rows([dict(zip(names, values, strict=True))]), "n") for values in fresh]
    for id_, verb, text, link, importance, tier in changes:
        one = only(before, id_)
        steps.append({
            "edit": lambda one=one, text=text, importance=importance, tier=tier:
                edit(one, "e", text=text, importance=importance, tier=tier),
            "hide": lambda one=one, link=link: edit(one, "h", superseded_by=link),
            "live": lambda one=one: edit(one, "l", clears=["superseded_by"]),
            "delete": lambda one=one: delete(one, "d"),
        }[verb]())  # fmt: skip
    plan = squash(pl.concat([diff(before, before), *steps]))
    said = carry_out(store, plan, kept=kept)
    done = [w.id for w in said.values() if w.state == "applied"]
    assert set(states(said).values()) <= {"applied", "stale"}
    expected = store.project(outcome(before, only(plan, *done)))
    known = [QUARANTINE, TOMBSTONE, *expected["id"]]
    link = pl.col("superseded_by")
    held = comparable(expected.filter(link.is_null() | link.is_in(known)))
    assert comparable(only(store.read(), *held["id"])).equals(held)
    assert set(RECORDS) == set(expected.columns) and in_step(path)
    assert states(carry_out(store, plan, before=before)).keys() == said.keys()
    assert {w.state for w in store.revert(json_round_trip(kept))} <= {"applied"}
    assert dump(path) == old and in_step(path)
    assert {w.state for w in store.revert(json_round_trip(kept))} <= {"already"}
    assert dump(path) == old


def test_what_the_agent_does_between_two_parts_is_judged_again(tmp_path, monkeypatch):
    monkeypatch.setattr(clawseed_write, "MOST", 2)
    path = build(tmp_path, [{"content": f"fact {i}"} for i in range(6)])
    store, judged, told = Clawseed(str(tmp_path)), [], []
    before = store.read()
    *ids, keeper = before["id"].to_list()

    def check(live, counts):
        judged.append(dict(live.select("id", "text").iter_rows()))
        return {ids[4]: "the guard says no"} if judged[-1][keeper] == "no fact" else {}

    def done(said):
        told.append([(w.id, w.state) for w in said])
        what = {1: ("importance = 0.9", ids[3]), 2: ("content = 'no fact'", keeper)}
        if len(told) in what:
            execute(path, "UPDATE memories SET {} WHERE id = '{}'".format(*what[len(told)]))

    plan = squash(edit(before.filter(pl.col("id") != keeper), "x", superseded_by=keeper))
    (batch,) = store.batches(plan)
    said = store.write(Work(batch, before, NOW, check, lambda undo: None, done=done))
    states = ["applied", "applied", "applied", "stale", "refused"]
    assert [w.state for w in said] == states
    assert told == [
        [(i, states[ids.index(i)]) for i in part] for part in (ids[:2], ids[2:4], ids[4:])
    ]
    assert len(judged) == 2  # a row that changed is left alone; the keeper's words matter


def test_what_is_looked_at_inside_the_lock_does_not_grow_with_the_store(tmp_path, monkeypatch):
    steps = [_steps_inside(tmp_path / str(rows), rows, monkeypatch) for rows in (400, 4000)]
    assert 0 < steps[1] < 1.5 * steps[0]


def _steps_inside(folder, rows, monkeypatch):
    """Tens of SQLite's steps that deletions take under the lock while an agent commits all the time."""
    path = build(folder, [{"content": f"fact {i}", "category": "lesson"} for i in range(rows)])
    store, counted, inside = Clawseed(str(folder)), [0], []
    before = store.read()
    (batch,) = store.batches(squash(delete(before.head(5), "gone")))
    real, session = clawseed_write.Session._judged, clawseed_write.Session(path)

    def judged(self, batch, losing):
        said = real(self, batch, losing)
        execute(path, "UPDATE memories SET importance = 0.9 WHERE id = 'id0300'")
        inside.append(counted[0])
        return said

    def count():
        counted[0] += 1

    with monkeypatch.context() as patched, contextlib.closing(session):
        patched.setattr(clawseed_write.Session, "_judged", judged)
        session.connection.set_progress_handler(count, 10)
        answers = session.write(Work(batch, before, NOW, lambda *_: {}, lambda undo: None))
    assert [a.state for a in answers] == ["applied"] * 5 and len(inside) == 1
    return counted[0] - inside[0]
