"""Writing to clawseed: compare and set, small batches, the guard inside the lock."""

import contextlib
import sqlite3
import threading
import time
from datetime import datetime

import polars as pl
import pytest

from memops.errors import Corrupt, Locked
from memops.plan import delete, edit, outcome, put, squash
from memops.schema import TOMBSTONE, from_rows
from memops.stores import Work
from memops.stores.clawseed import Clawseed
from memops.stores.sqlite import write as sqlite_write
from tests.stores.clawseed_db import build, cell, dump, execute, in_step, vector
from tests.stores.clawseed_sample import (
    NOW,
    carry_out,
    comparable,
    json_round_trip,
    only,
    some_plan,
    states,
)


def test_new_content_brings_time_and_hash_and_drops_the_vector(store, db):
    old = dump(db)
    carry_out(
        store, edit(only(store.read(), "a"), "update", "redact", text="The user's name is 某某")
    )
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
    carry_out(store, edit(only(store.read(), "c"), "supersede", "older", superseded_by="b"))
    new = dump(db)
    altered = [n for n, (x, y) in enumerate(zip(old[b"c"], new[b"c"], strict=True)) if x != y]
    assert [new[b"c"][n] for n in altered] == [b"text", "用户_城市".encode()]
    carry_out(store, edit(only(store.read(), "c"), "update", "again", clears=["superseded_by"]))
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
    said = carry_out(
        store, edit(store.read(), "demote", "sunk", tier="peripheral", pinned=True), kept=kept
    )
    assert set(states(said).values()) == {"applied"} and dump(db) == old and kept == []


def test_a_row_that_changed_since_is_stale(store, db):
    before = store.read()
    execute(db, "UPDATE memories SET content = 'theirs' WHERE id = 'a'")
    execute(db, "UPDATE memories SET category = 'daily' WHERE id = 'b'")
    execute(db, "DELETE FROM memories WHERE id IN ('c', 'd')")
    execute(db, "UPDATE memories SET updated_at = '2026-05-09T00:00:00+08:00' WHERE id = 'f'")
    plan = pl.concat([
        edit(only(before, "a", "b", "c"), "update", "ours", text="ours"),
        delete(only(before, "d", "f"), "ours"),
        edit(only(before, "e"), "update", "ours", importance=0.1),
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
    assert states(
        carry_out(store, edit(only(before, "b"), "update", "x", importance=0.7), before)
    ) == {"b": "applied"}


def test_writing_twice_is_writing_once(store, db):
    before = store.read()
    plan = pl.concat([
        edit(only(before, "a"), "update", "new text", text="new text"),
        edit(only(before, "b"), "supersede", "older", superseded_by="a"),
        delete(only(before, "c"), "gone"), some_plan(),
    ])  # fmt: skip
    carry_out(store, plan)
    once = dump(db)
    assert set(states(carry_out(store, plan, before=before)).values()) == {"already"}
    assert dump(db) == once


def test_a_record_is_not_superseded_by_one_that_is_gone(store, db):
    before = store.read()
    execute(db, "DELETE FROM memories WHERE id = 'a'")
    said = carry_out(
        store, edit(only(before, "b"), "supersede", "older", superseded_by="a"), before
    )
    assert (said["b"].state, said["b"].why) == ("stale", "guard.keeper_gone")


def test_the_guard_sees_live_records_and_counts_and_is_obeyed(store, db):
    before, seen = store.read(), {}
    execute(db, "UPDATE memories SET superseded_by = 'user_msg' WHERE id = 'c'")

    def check(live, counts):
        seen["live"] = live.select("id", "superseded_by").rows()
        seen["counts"] = counts.rows()
        return {"d": "the guard says no"}

    plan = pl.concat([
        delete(only(before, "d"), "gone"), edit(only(before, "e"), "supersede", "other", superseded_by="b"),
        edit(only(before, "c"), "supersede", "other", superseded_by="a"),
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
        assert len([*undo]) == 6 and cell(db, "a", "content") == "The user's name is Ada"
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
        pl.concat(
            [edit(before, "update", "x", importance=0.4), put(from_rows([{"id": "zz"}]), "x")]
        )
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
    plan = squash(edit(store.read(), "update", "x", importance=0.4))
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
        edit(only(before, "a"), "supersede", "x", text="y", superseded_by="b", scope="nova"), some_plan(),
        edit(only(before, "b"), "tombstone", "x", superseded_by=TOMBSTONE, importance=0.1),
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


def test_what_the_agent_does_between_two_parts_is_judged_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_write, "MOST", 2)
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

    plan = squash(
        edit(before.filter(pl.col("id") != keeper), "supersede", "x", superseded_by=keeper)
    )
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
    real, session = sqlite_write.Session._judged, sqlite_write.Session(path, Clawseed.table)

    def judged(self, batch, losing):
        said = real(self, batch, losing)
        execute(path, "UPDATE memories SET importance = 0.9 WHERE id = 'id0300'")
        inside.append(counted[0])
        return said

    def count():
        counted[0] += 1

    with monkeypatch.context() as patched, contextlib.closing(session):
        patched.setattr(sqlite_write.Session, "_judged", judged)
        session.connection.set_progress_handler(count, 10)
        answers = session.write(Work(batch, before, NOW, lambda *_: {}, lambda undo: None))
    assert [a.state for a in answers] == ["applied"] * 5 and len(inside) == 1
    return counted[0] - inside[0]
