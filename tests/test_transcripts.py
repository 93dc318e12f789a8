"""Cut-off notes are read as they were said, where a transcript still has it."""

import contextlib
import json
import sqlite3

import pytest

from memops.schema import LIVE, from_rows
from memops.stores import open_store
from memops.stores.rsclaw.docs import abstract, overview, packed
from memops.stores.rsclaw.redb import Table
from memops.stores.rsclaw.redb_build import build
from memops.stores.transcripts import whole
from tests.compat.clawseed_rules import turn_summary
from tests.stores.clawseed_db import build as clawseed

NOW = "2026-06-01T12:00:00Z"
SAID = "顺便说一下，今天聊得挺久的，前面那些都不重要，随便听听就好。我叫东升，幸运数字是 88"
ALSO = "So we talked for a while about this and that, nothing much. My phone is 138 1234 5678"


def chats(workspace, turns):
    path = workspace / "gateway" / "sessions.db"
    path.parent.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_key, role, content, created_at)"
        )
        for role, text in turns:
            connection.execute(
                "INSERT INTO messages VALUES (NULL, 's', ?, ?, '2026-05-01T08:00:00Z')",
                (role, text),
            )


def test_clawseeds_cut_notes_are_read_whole_from_its_chats(memops, tmp_path):
    notes = [{"content": turn_summary(text), "category": "daily"} for text in (SAID, ALSO)]
    assert all(note["content"].endswith("…") for note in notes)
    clawseed(tmp_path, notes)
    address = f"clawseed:{tmp_path}"
    plain = memops("migrate", address, "--plan-only", "--now", NOW)
    assert "insert" not in plain["by_op"]
    chats(tmp_path, [("user", SAID), ("assistant", f"You said: {SAID}"), ("user", ALSO)])
    memops("migrate", address, "--approve", "--now", NOW)
    assert memops.code == 0, memops.err
    assert set(open_store(address).read().filter(LIVE)["text"]) >= {
        "用户的名字是东升",
        "用户的幸运数字是88",
        "The user's phone number is 13812345678",
    }
    again = memops("migrate", address, "--plan-only", "--now", NOW)
    assert again["ops"] == 0, json.dumps(again["by_rule"])


def test_rsclaws_cut_notes_are_read_from_the_transcripts_of_their_own_agent(memops, tmp_path):
    cut = f"{SAID[:24]}..."
    docs = [
        {"id": agent, "scope": f"agent:{agent}", "kind": "note", "text": cut, "created_at": 1_775_000_000,
         "accessed_at": 1_775_000_000, "access_count": 0, "importance": 0.5, "tier": "Working",
         "abstract_text": abstract(cut), "overview_text": overview(cut), "tags": [], "pinned": False}
        for agent in ("main", "other")
    ]  # fmt: skip
    rows = [(d["id"].encode(), packed(d, b"")) for d in docs]
    (tmp_path / "memory.redb").write_bytes(
        build({"memory_docs": Table(b"\x01&str", b"\x01&[u8]", rows)})
    )
    turn = {"role": "user", "content": SAID, "ts": 1_775_000_000, "agent": "main"}
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "transcripts/s.jsonl").write_text(json.dumps(turn) + "\n", encoding="utf-8")
    address = f"rsclaw:{tmp_path / 'memory.redb'}"
    memops("migrate", address, "--approve", "--now", NOW)
    assert memops.code == 0, memops.err
    live = open_store(address).read().filter(LIVE, "pinned")
    assert sorted(live.select("scope", "text").rows()) == [
        ("agent:main", "用户的名字是东升"),
        ("agent:main", "用户的幸运数字是88"),
    ]


def test_a_note_that_two_turns_may_have_been_is_left_as_it_is(tmp_path):
    clawseed(tmp_path)
    chats(tmp_path, [("user", SAID), ("user", SAID + "，改成 9")])
    rows = from_rows([{"id": "a", "kind": "note", "text": turn_summary(SAID)}])
    assert whole(rows, f"clawseed:{tmp_path}").is_empty()


@pytest.mark.parametrize("texts", [["我叫东升…", "plain"], [SAID]])
def test_only_cut_notes_are_looked_for(texts, tmp_path):
    rows = from_rows([{"id": str(n), "kind": "note", "text": t} for n, t in enumerate(texts)])
    assert whole(rows, f"clawseed:{tmp_path}").is_empty()


def test_a_long_turn_is_read_to_its_end(memops, tmp_path):
    clawseed(tmp_path)
    filler = "\n\n".join(f"## 第 {n} 节\n{'这一段只是闲聊。' * 60}" for n in range(60))
    chats(tmp_path, [("user", f"{filler}\n\n我叫东升")])
    assert len(filler) > 20_000
    found = memops("extract", "--from", f"clawseed:{tmp_path}")
    (name,) = [row for row in found if row.get("entity_key")]
    assert (name["entity_key"], name["turn"]) == ("name:东升", "sessions/1")
    assert name["start"] > 20_000
