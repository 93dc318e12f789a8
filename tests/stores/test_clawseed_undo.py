"""Taking back what was written to clawseed, exactly, and purging, for good."""

import contextlib
import sqlite3
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from memops.errors import Locked
from memops.plan import delete, diff, edit, outcome, put, squash
from memops.schema import KINDS, QUARANTINE, RECORDS, TIERS, TOMBSTONE, from_rows
from memops.stores.clawseed import Clawseed
from memops.stores.clawseed.view import exported, parsed
from tests.counts import few
from tests.stores.clawseed_db import build, cell, digest, dump, execute, in_step, vector
from tests.stores.clawseed_sample import (
    NOW,
    carry_out,
    comparable,
    json_round_trip,
    only,
    some_plan,
    states,
)


def test_undo_holds_what_an_edit_altered_and_all_of_a_row_that_came_or_went(store, db):
    kept, before = [], store.read()
    plan = pl.concat([
        edit(only(before, "a"), "update", "x", importance=0.25), delete(only(before, "b"), "x"), some_plan(),
    ])  # fmt: skip
    carry_out(store, plan, kept=kept)
    undo = {entry.id: (entry.before, entry.after) for entry in kept}
    assert undo["a"] == ({"importance": 0.9}, {"importance": 0.25})
    assert undo["b"][0]["content"] == "用户住在杭州" and undo["b"][1] is None
    assert undo["new"][0] is None and undo["new"][1]["rowid"]


def test_revert_keeps_what_the_agent_did_to_other_columns(store, db):
    kept = []
    plan = edit(only(store.read(), "a", "b"), "supersede", "x", superseded_by="d")
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
        edit(only(before, "a"), "update", "x", text="ours"), delete(only(before, "b", "c"), "x"), some_plan(),
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
    carry_out(store, edit(only(store.read(), "a"), "update", "x", text="ours"), kept=kept)
    execute(db, "UPDATE memories SET embedding = ? WHERE id = 'a'", vector(3.0))
    assert [w.state for w in store.revert(kept)] == ["applied"]
    assert dump(db) == old


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


@few(20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
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
                edit(one, "demote", "e", text=text, importance=importance, tier=tier),
            "hide": lambda one=one, link=link: edit(one, "supersede", "h", superseded_by=link),
            "live": lambda one=one: edit(one, "update", "l", clears=["superseded_by"]),
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
