"""clawseed's chats as a source of full text."""

import contextlib
import json
import sqlite3
from datetime import UTC, datetime

import pytest

from memops.errors import Corrupt, StoreNotFound
from memops.stores.clawseed import Clawseed
from memops.stores.clawseed.sessions import turns

TABLE = """CREATE TABLE messages (id INTEGER PRIMARY KEY, session_key TEXT, role TEXT,
  content TEXT, created_at TEXT)"""


def made(workspace, rows, table=TABLE):
    path = workspace / "gateway" / "sessions.db"
    path.parent.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(table)
        for row in rows:
            connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", row)
    return path


def test_turns_are_read_whole_and_without_injected_memories(tmp_path):
    context = "[Memory context]\n- k: old fact\n[/Memory context]\n\n"
    path = made(tmp_path, [
        (1, "s1", "user", context + "我想知道明天杭州的天气怎么样", "2026-05-01T08:00:00+08:00"),
        (2, "s1", "assistant", "Rain. [Memory context] is a heading", "yesterday"),
    ])  # fmt: skip
    old = path.read_bytes()
    said, _ = turns(Clawseed(str(tmp_path)))
    shown = said.select("id", "kind", "source", "text", "created_at", "origin").rows()
    assert shown == [
        ("sessions/1", "session", "user", "我想知道明天杭州的天气怎么样",
         datetime(2026, 5, 1, tzinfo=UTC), "gateway/sessions.db#1"),
        ("sessions/2", "session", "assistant", "Rain. [Memory context] is a heading", None,
         "gateway/sessions.db#2"),
    ]  # fmt: skip
    assert json.loads(said["extra"][0]) == {"session": "s1"} and path.read_bytes() == old


def test_a_workspace_without_chats_says_when_there_would_be_some(tmp_path):
    with pytest.raises(StoreNotFound) as caught:
        turns(Clawseed(str(tmp_path)))
    assert "session_persistence" in caught.value.hint and list(tmp_path.iterdir()) == []
    made(tmp_path, [], "CREATE TABLE messages (id, content)")
    with pytest.raises(Corrupt, match="no column 'created_at'"):
        turns(Clawseed(str(tmp_path)))


def test_chats_are_beside_the_workspace_that_links_to_its_memory(tmp_path):
    made(tmp_path / "workspace", [(1, "s1", "user", "The boat is wet", "2026-05-01T00:00:00Z")])
    (tmp_path / "data").mkdir()
    (tmp_path / "workspace" / "memory").symlink_to("../data")
    said, _ = turns(Clawseed(str(tmp_path / "workspace")))
    assert said["text"].to_list() == ["The boat is wet"]
