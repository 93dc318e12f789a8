"""OpenClaw's sessions in each form that it has kept them in."""

import contextlib
import json
import sqlite3
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from memops.cli import run
from memops.errors import StoreNotFound
from memops.settings import Settings
from memops.stores.transcripts import turns


def event(id, role, content, at="2026-05-01T08:00:00Z"):
    return {
        "type": "message",
        "id": id,
        "timestamp": at,
        "message": {"role": role, "content": content},
    }


SAID = [
    {"type": "session", "id": "s1", "version": 3},
    event("a", "user", "Ines runs the print workshop"),
    event("b", "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}, {"type": "toolCall"}]),
    event("c", "toolResult", "secret of a tool"),
    event("d", "user", "  "),
]  # fmt: skip


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "openclaw.json").write_text("{}")
    root = tmp_path / "workspace"
    root.mkdir()
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    lines = [json.dumps(e, ensure_ascii=False) for e in SAID]
    (folder / "s1.jsonl").write_text(
        "\n".join([*lines, "{torn", json.dumps(event("x", "user", "unfinished"))])
    )
    packed = "".join(
        json.dumps(e) + "\n" for e in [event("e", "user", "用户的猫叫麻薯", "no time")]
    )
    (folder / "s2.jsonl.zst").write_bytes(pa.compress(packed.encode(), codec="zstd", asbytes=True))
    (tmp_path / "agents" / "main" / "agent").mkdir()
    with contextlib.closing(
        sqlite3.connect(tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    ) as db:
        db.execute(
            "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB)"
        )
        small = pa.compress(
            json.dumps(event("g", "user", "Rosa prefers tea")).encode(), codec="zstd", asbytes=True
        )
        rows = [
            ("s1", 1, json.dumps(SAID[1]), None),
            ("s3", 1, json.dumps(event("f", "user", "The depot opens at 7:30", 1_777_000_000_000)), None),
            ("s3", 2, None, small),
            ("s3", 3, None, b"no zstd"),
        ]  # fmt: skip
        db.executemany("INSERT INTO transcript_events VALUES (?, ?, ?, ?)", rows)
        db.commit()
    return root


def test_what_was_said_is_read_from_files_archives_and_databases_once(workspace):
    records, odd = turns(f"openclaw:{workspace}", Settings(workspace))
    assert {r["id"]: (r["source"], r["text"]) for r in records.to_dicts()} == {
        "s1/a": ("user", "Ines runs the print workshop"),
        "s1/b": ("assistant", "Noted."),
        "s2/e": ("user", "用户的猫叫麻薯"),
        "s3/f": ("user", "The depot opens at 7:30"),
        "s3/g": ("user", "Rosa prefers tea"),
    }
    times = dict(records.select("id", "created_at").iter_rows())
    assert times["s1/a"] == datetime(2026, 5, 1, 8, tzinfo=UTC)
    assert times["s2/e"] is None and times["s3/f"] == datetime.fromtimestamp(1_777_000_000, UTC)
    assert odd == ["main/sessions/s1.jsonl#6", "main/agent/openclaw-agent.sqlite#s3:3"]


def test_reading_changes_no_byte(workspace):
    before = {p: p.read_bytes() for p in workspace.parent.rglob("*") if p.is_file()}
    turns(f"openclaw:{workspace}", Settings(workspace))
    assert {p: p.read_bytes() for p in before} == before


def test_turns_are_found_from_the_store_and_named_when_there_are_none(workspace, tmp_path):
    settings = Settings(state=tmp_path / "state")
    assert turns(f"openclaw:{workspace}", settings)[0].height == 5
    (tmp_path / "other" / "ws").mkdir(parents=True)
    (tmp_path / "other" / "openclaw.json").write_text("{}")
    with pytest.raises(StoreNotFound):
        turns(f"openclaw:{tmp_path / 'other' / 'ws'}", settings)
    assert (
        run(["--state", str(tmp_path / "s"), "extract", "--from", f"jsonl:{tmp_path / 'x'}"]) == 2
    )


def test_extraction_reads_what_people_said_with_secrets_masked(memops, workspace):
    secret = "ghp_" + "x7Kq2Lm9Rt4Vz8Bn3Wd6" + "Yc1Hf5Js0Pg2Ta4U"
    path = workspace.parent / "agents" / "main" / "sessions" / "s4.jsonl"
    path.write_text(json.dumps(event("h", "user", f"My name is Ines. My token is {secret}")) + "\n")
    found = memops("extract", "--from", f"openclaw:{workspace}")
    assert memops.code == 0, memops.err
    assert "s4/h" in {row["turn"] for row in found}
    assert "s1/b" not in {row["turn"] for row in found}
    assert secret not in json.dumps(found)
