"""Repairs: only what was named is mended, after a snapshot, and the agent finds its store sound."""

import contextlib
import hashlib
import json
import sqlite3

import pytest

from memops import files, snapshot
from memops.stores import open_store
from memops.stores.openclaw import home
from memops.stores.openclaw.provenance import content_hash, rows
from tests.compat.openclaw_index import after_write
from tests.stores import openclaw_state
from tests.stores.clawseed_db import build, cell, dump, execute, in_step, vector

ROWS = [{"content": "User likes tea"}, {"content": "用户喜欢喝咖啡"}]


def found(memops, address):
    return {f["check"] for f in memops("doctor", address)["findings"] if f["level"] != "info"}


def schema(path):
    """Columns, triggers and indexes, as clawseed's own migrations leave them."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        tables = ("memories", "embedding_cache")
        columns = {t: {c[1]: c[2] for c in db.execute(f"PRAGMA table_info({t})")} for t in tables}
        names = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'table', 'index')"
        return columns, {row[0] for row in db.execute(names)}


def test_a_hydrated_database_becomes_one_that_clawseed_opens(memops, tmp_path):
    path = build(tmp_path / "ws", ROWS, "hydrated")
    execute(path, "DROP TABLE memories_fts")
    address = f"clawseed:{tmp_path / 'ws'}"
    before = dump(path)
    assert "schema" in found(memops, address)
    planned = memops("doctor", address, "--repair", "schema")
    assert [r["check"] for r in planned["repairs"]] == ["schema"]
    assert planned["repaired"] == 0 and dump(path) == before
    done = memops("doctor", address, "--repair", "schema", "--approve")
    assert done["repaired"] == len(planned["repairs"][0]["steps"]) - 1
    columns, names = schema(path)
    wanted, whole = schema(build(tmp_path / "new", []))
    assert columns == wanted and whole <= names
    assert in_step(path)
    assert {id_: row[:15] for id_, row in dump(path).items()} == {
        id_: row[:15] for id_, row in before.items()
    }
    # what clawseed does when it opens its database, and could not do before
    execute(path, "CREATE INDEX IF NOT EXISTS idx_cache_accessed ON embedding_cache(accessed_at)")
    with contextlib.closing(sqlite3.connect(path)) as db:
        hits = db.execute("SELECT count(*) FROM memories_fts WHERE memories_fts MATCH '\"tea\"'")
        assert hits.fetchone() == (1,)
    assert "schema" not in found(memops, address)
    assert memops("doctor", address, "--repair", "schema", "--approve")["repairs"] == []
    memops("restore", done["before"])
    assert dump(path) == before


def test_a_repair_takes_over_nothing_that_is_known_of_another_store(memops, tmp_path):
    for name in ("one", "two"):
        execute(build(tmp_path / name, ROWS, "hydrated"), "DROP TABLE memories_fts")
        address = f"clawseed:{tmp_path / name}"
        folder = snapshot.store_folder(memops.state, open_store(address).identity())
        memops("doctor", address, "--repair", "schema", "--approve")
        assert memops.code == 0 and not (folder / "of.one").exists()
        files.folder(folder)
        files.write(folder / "of.one", b"known of one")


def test_a_plan_is_applied_to_a_hydrated_database_once_it_is_repaired(memops, tmp_path):
    same = [{"content": "User likes tea"}, {"content": "User likes tea"}]
    path = build(tmp_path / "ws", same, "hydrated")
    address = f"clawseed:{tmp_path / 'ws'}"
    plan = memops("plan", address, "--rule", "merge_exact")["plan"]
    refused = memops("apply", plan, "--approve")
    assert memops.code == 20 and "--repair schema" in refused["hint"]
    memops("doctor", address, "--repair", "schema", "--approve")
    plan = memops("plan", address, "--rule", "merge_exact")["plan"]
    done = memops("apply", plan, "--approve")
    assert memops.code == 0 and done["applied"] >= 1, done
    assert in_step(path)


def test_index_namespaces_and_vectors_are_mended_one_by_one(memops, tmp_path):
    path = build(tmp_path / "ws", [
        {"content": "User likes tea", "embedding": vector(1, 0)},
        {"content": "用户住在北京", "embedding": b"\0\0\0"},
        {"content": "new text", "embedding": vector(0, 1), "embedding_content_hash": "0" * 16},
        {"content": "nobody's", "namespace": None},
    ])  # fmt: skip
    execute(path, "INSERT INTO memories_fts(memories_fts) VALUES ('delete-all')")
    address = f"clawseed:{tmp_path / 'ws'}"
    assert found(memops, address) >= {"index", "vectors", "namespaces"}
    done = memops("doctor", address, "--repair", "vectors", "--approve")
    assert (done["repaired"], in_step(path)) == (2, True)
    kept = [cell(path, f"id000{n}", "embedding") for n in range(3)]
    assert kept == [vector(1, 0), None, None]
    execute(path, "INSERT INTO memories_fts(memories_fts) VALUES ('delete-all')")
    both = ("--repair", "index", "--repair", "namespaces", "--approve")
    assert memops("doctor", address, *both)["repaired"] == 2
    assert in_step(path) and cell(path, "id0003", "namespace") == "default"
    assert found(memops, address) & {"index", "vectors", "namespaces"} == set()


def test_an_agent_that_has_its_database_open_keeps_it(memops, tmp_path):
    path = build(tmp_path / "ws", [{"content": "x", "namespace": None}])
    agent = sqlite3.connect(path)
    agent.execute("SELECT count(*) FROM memories").fetchone()
    address = f"clawseed:{tmp_path / 'ws'}"
    memops("doctor", address, "--repair", "namespaces", "--approve")
    assert memops.code == 11
    agent.close()
    assert cell(path, "id0000", "namespace") is None


def test_what_cannot_be_repaired_is_said(memops, tmp_path):
    build(tmp_path / "ws", ROWS)
    refused = memops("doctor", f"clawseed:{tmp_path / 'ws'}", "--repair", "times")
    assert memops.code == 2 and "schema, index, namespaces, vectors" in refused["hint"]


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "home" / "workspace"
    root.mkdir(parents=True)
    for name, text in (("MEMORY.md", "- tea\n"), ("USER.md", "- 用户喜欢喝茶\n")):
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_a_file_that_a_person_vouches_for_stays_the_agents(memops, workspace):
    openclaw_state.keep(workspace, {"MEMORY.md": ("agent", None), "USER.md": ("agent", None)})
    (workspace / "MEMORY.md").write_text("- coffee\n")
    address = f"openclaw:{workspace}"
    assert found(memops, address) >= {"edited", "provenance"}
    (planned,) = memops("doctor", address, "--repair", "provenance")["repairs"]
    assert (planned["count"], planned["steps"]) == (1, ["MEMORY.md"])
    done = memops("doctor", address, "--repair", "provenance", "--approve")
    assert done["repaired"] == 1
    kept = json.loads(open(done["kept"], encoding="utf-8").read())["rows"]  # noqa: SIM115, PTH123
    was = json.loads(kept[0]["row"]["value_json"])
    assert was["fileHash"] == hashlib.sha256(b"- tea\n").hexdigest()
    row = rows(home(workspace), workspace)[0]
    assert (row.file_hash, row.origin) == (content_hash(b"- coffee\n"), "agent")
    assert json.loads(row.value)["reservationId"] == "r-1"
    after = after_write((row.file_hash, row.origin), b"- coffee\n", b"- milk\n")
    assert after == (content_hash(b"- milk\n"), "agent")
    assert "edited" not in found(memops, address)


def test_a_file_that_is_not_trusted_begins_anew_when_it_is_asked_for(memops, workspace):
    openclaw_state.keep(workspace, {"MEMORY.md": ("untrusted", None), "USER.md": ("agent", None)})
    address = f"openclaw:{workspace}"
    assert "untrusted" in found(memops, address)
    assert memops("doctor", address, "--repair", "provenance", "--approve")["repairs"] == []
    assert memops("doctor", address, "--repair", "untrusted", "--approve")["repaired"] == 1
    assert [row.path for row in rows(home(workspace), workspace)] == ["USER.md"]


def test_the_ratchet_goes_one_way():
    first = after_write(None, b"", b"a")
    assert first == (content_hash(b"a"), "agent")
    assert after_write(first, b"a", b"ab")[1] == "agent"
    doubted = after_write(first, b"edited", b"edited too")
    assert doubted[1] == "untrusted"
    assert after_write(doubted, b"edited too", b"more")[1] == "untrusted"
    assert content_hash(b"caf\xff") == hashlib.sha256("caf\ufffd".encode()).hexdigest()


def test_a_row_that_openclaw_changed_meanwhile_is_left(workspace):
    from memops.stores.openclaw.repair import repairs

    path = openclaw_state.keep(workspace, {"MEMORY.md": ("agent", None)})
    (workspace / "MEMORY.md").write_text("- coffee\n")
    (mending,) = repairs(open_store(f"openclaw:{workspace}"))
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE plugin_state_entries SET value_json = replace(value_json, 'r-1', 'r-2')")
    assert mending.carry_out() == 0
    assert json.loads(rows(home(workspace), workspace)[0].value)["reservationId"] == "r-2"


def everything(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT * FROM plugin_state_entries ORDER BY entry_key").fetchall()


def test_a_repair_of_openclaws_rows_is_taken_back_row_by_row(memops, workspace):
    path = openclaw_state.keep(
        workspace, {"MEMORY.md": ("agent", None), "USER.md": ("untrusted", None)}
    )
    (workspace / "MEMORY.md").write_text("- 咖啡\n", encoding="utf-8")
    before, address = everything(path), f"openclaw:{workspace}"
    both = ("--repair", "provenance", "--repair", "untrusted", "--approve")
    done = memops("doctor", address, *both)
    assert done["repaired"] == 2 and everything(path) != before
    back = memops("rollback", done["before"])
    assert (memops.code, back["applied"], everything(path)) == (0, 2, before)
    assert (memops("rollback", done["before"])["already"], everything(path)) == (2, before)


def test_a_row_that_openclaw_wrote_after_a_repair_stays_when_that_is_taken_back(memops, workspace):
    path = openclaw_state.keep(workspace, {"MEMORY.md": ("untrusted", None)})
    done = memops("doctor", f"openclaw:{workspace}", "--repair", "untrusted", "--approve")
    openclaw_state.keep(workspace, {"MEMORY.md": ("agent", None)})
    anew = everything(path)
    back = memops("rollback", done["before"])
    assert memops.code == 25 and back["skipped"][0]["why"] == "OpenClaw changed it after the repair"
    assert everything(path) == anew
