import json
from datetime import UTC, datetime

import pytest

from memops.errors import StoreNotFound
from memops.stores import open_store
from memops.stores.rsclaw.sessions import default_scope, turns


def test_turns_are_read_with_role_and_time_and_odd_lines_are_named(tmp_path):
    folder = tmp_path / "transcripts"
    folder.mkdir()
    said = [
        {"role": "user", "content": "我住在杭州\u2028市区", "session": "s1", "agent": "main",
         "ts": 1775000000},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "ts": 1775000000500},
        {"role": "user", "content": "x", "agent": "main", "channel": "cron",
         "ts": "2026-05-01T08:00:00+08:00"},
        {"role": "user", "content": "no time", "ts": True},
    ]  # fmt: skip
    lines = [json.dumps(t, ensure_ascii=False).encode() for t in said]
    lines[2:2] = [b"not json", b"[1]", b'{"role": "user"}', b""]
    (folder / "s1.jsonl").write_bytes(b"\n".join(lines) + b'\n{"role": "us')
    records, odd = turns(open_store(f"rsclaw:{tmp_path}"))
    assert odd == [f"transcripts/s1.jsonl#{n}" for n in (3, 4, 5)]
    assert records.select("id", "scope", "source", "text", "created_at").rows() == [
        (
            "transcripts/s1.jsonl#1",
            "agent:main",
            "user",
            "我住在杭州\u2028市区",
            datetime.fromtimestamp(1775000000, UTC),
        ),
        (
            "transcripts/s1.jsonl#2",
            "agent:main",
            "assistant",
            "Noted.",
            datetime.fromtimestamp(1775000000.5, UTC),
        ),
        (
            "transcripts/s1.jsonl#7",
            "agent:main:cron",
            "user",
            "x",
            datetime(2026, 5, 1, tzinfo=UTC),
        ),
        ("transcripts/s1.jsonl#8", "agent:main", "user", "no time", None),
    ]
    assert set(records["kind"]) == {"session"}
    assert set(records["extra"]) == {'{"session": "s1"}'}


def test_hostile_turns_are_read_as_text(tmp_path):
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "transcripts/a.jsonl").write_bytes(
        b'{"role": "user", "content": "\\ud800 \\u0000", "ts": 1e308}\n' + b"[" * 100_000 + b"\n"
    )
    records, odd = turns(open_store(f"rsclaw:{tmp_path}"))
    assert records["text"].to_list() == ["\ufffd \x00"]
    assert records["created_at"].to_list() == [None]
    assert odd == ["transcripts/a.jsonl#2"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(StoreNotFound, match="transcripts: no such folder"):
        turns(open_store(f"rsclaw:{tmp_path}"))


def test_channels_of_machines_have_their_own_scope():
    got = [default_scope("main", c) for c in ("chat", "cron", "heartbeat", "system", "")]
    assert got == [
        "agent:main", "agent:main:cron", "agent:main:heartbeat", "agent:main:system", "agent:main",
    ]  # fmt: skip
