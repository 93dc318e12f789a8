"""clawseed's hygiene state, read and written as clawseed itself does."""

import json
from datetime import UTC, datetime, timedelta

from memops.stores import open_store
from memops.stores.clawseed.state import (
    Hygiene,
    hygiene_file,
    read_hygiene,
    write_hygiene,
)
from tests.compat.clawseed_rules import hygiene_due

from .clawseed_db import build, cell, execute

NOW = datetime(2026, 6, 1, 3, tzinfo=UTC)
WRITTEN = """{
  "last_run_at": "2026-06-01T03:00:00+00:00",
  "last_report": {
    "pruned_conversation_rows": 4,
    "pruned_daily_rows": 2
  }
}"""


def due(path, now):
    """Whether clawseed would prune at its next start."""
    text = path.read_bytes().decode("utf-8", "replace") if path.exists() else None
    return hygiene_due(text, now)


def test_the_state_is_where_clawseed_keeps_it(tmp_path):
    path = build(tmp_path / "ws")
    place = tmp_path / "ws" / "state" / "memory_hygiene_state.json"
    assert hygiene_file(open_store(f"clawseed:{tmp_path / 'ws'}")) == place
    assert hygiene_file(open_store(f"clawseed:{path}")) == place
    assert hygiene_file(open_store(f"clawseed:{tmp_path / 'lone.db'}")) is None


def test_a_run_is_written_as_clawseed_writes_it_and_read_again(tmp_path):
    path = tmp_path / "state" / "memory_hygiene_state.json"
    assert read_hygiene(path) is None
    assert due(path, NOW)
    write_hygiene(path, Hygiene(NOW, conversation=4, daily=2))
    assert path.read_text() == WRITTEN
    assert read_hygiene(path) == Hygiene(NOW, 4, 2)
    assert not due(path, NOW + timedelta(hours=11, minutes=59))
    assert due(path, NOW + timedelta(hours=12))


def test_a_later_run_of_the_agent_is_not_set_back(tmp_path):
    path = tmp_path / "state" / "memory_hygiene_state.json"
    write_hygiene(path, Hygiene(NOW, 1, 1))
    write_hygiene(path, Hygiene(NOW - timedelta(hours=1), 9, 9))
    assert read_hygiene(path) == Hygiene(NOW, 1, 1)
    write_hygiene(path, Hygiene(NOW + timedelta(hours=1), 9, 9))
    assert read_hygiene(path) == Hygiene(NOW + timedelta(hours=1), 9, 9)


def test_what_clawseed_cannot_read_means_due(tmp_path):
    path = tmp_path / "state.json"
    for said in (b"", b"{}", b"\xff", b"[1]", b'{"last_run_at": null}', WRITTEN[:-9].encode()):
        path.write_bytes(said)
        assert read_hygiene(path) is None
        assert due(path, NOW)
    path.write_text(json.dumps(json.loads(WRITTEN) | {"last_run_at": None}))
    assert read_hygiene(path) == Hygiene(None, 4, 2)
    assert due(path, NOW)


def test_a_key_that_the_agent_stores_again_is_seen_again(memops, tmp_path):
    rows = [
        {"id": "a", "key": "user_editor", "content": "User works with Vim"},
        {"id": "b", "key": "core_2", "content": "User works with Vim"},
        {"id": "c", "key": "user_city", "content": "用户住在成都"},
        {"id": "d", "key": "core_3", "content": "用户住在成都"},
    ]
    path = build(tmp_path / "ws", rows)
    address = f"clawseed:{tmp_path / 'ws'}"
    merged = memops("plan", address, "--rule", "merge_exact")
    assert memops("apply", merged["plan"], "--approve")["applied"] >= 2
    hidden = {row: cell(path, row, "superseded_by") for row in "abcd"}
    assert sum(link is not None for link in hidden.values()) == 2
    assert memops("plan", address, "--rule", "revive_restored")["ops"] == 0
    vim = next(row for row in "ab" if hidden[row])
    later = datetime.now(UTC).isoformat()
    execute(
        path, "UPDATE memories SET content = 'User works with Helix', updated_at = ? WHERE id = ?",
        later, vim,
    )  # fmt: skip
    plan = memops("plan", address)
    assert plan["by_rule"]["revive_restored"] == {"update": 1}
    memops("apply", plan["plan"], "--approve")
    assert cell(path, vim, "superseded_by") is None
    assert next(cell(path, row, "superseded_by") for row in "cd" if hidden[row]) is not None
    assert "revive_restored" not in memops("plan", address)["by_rule"]


def test_the_doctor_says_when_clawseed_pruned_last(memops, tmp_path):
    build(tmp_path / "ws", [{"content": "x"}])
    address = f"clawseed:{tmp_path / 'ws'}"

    def hygiene():
        findings = memops("doctor", address)["findings"]
        return [(f["level"], f["count"]) for f in findings if f["check"] == "hygiene"]

    path = hygiene_file(open_store(address))
    assert hygiene() == []
    write_hygiene(path, Hygiene(NOW, conversation=4, daily=2))
    assert hygiene() == [("info", 6)]
    path.write_text("{")
    assert hygiene() == [("warning", 1)]


def test_a_clock_that_is_wrong_shows_nothing_again(memops, tmp_path):
    rows = [{"id": i, "key": i, "content": "用户住在成都"} for i in "ab"]
    path = build(tmp_path / "ws", rows)
    address = f"clawseed:{tmp_path / 'ws'}"
    memops("apply", memops("plan", address, "--rule", "merge_exact")["plan"], "--approve")
    ahead = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    execute(path, "UPDATE memories SET updated_at = ? WHERE superseded_by IS NOT NULL", ahead)
    assert memops("plan", address, "--rule", "revive_restored")["ops"] == 0
