"""Importing another program's export, by a mapping."""

import json
import uuid
from datetime import UTC, datetime

import polars as pl
import pytest

from memops.cli import run
from memops.commands.importing import entries
from memops.errors import Corrupt
from memops.stores import open_store

EXPORT = {
    "version": 3,
    "data": {
        "memories": [
            {"uid": "m1", "content": "Ines runs the print workshop", "meta": {"at": "2026-05-01T08:00:00+08:00", "by": "chat"}, "labels": ["work", 7], "score": 0.75, "vector": [0.5, 1]},
            {"content": "用户的猫叫麻薯", "meta": {"at": 1_777_000_000_000}, "labels": "家"},
            {"content": "  ", "meta": {}},
            {"content": "no zone", "meta": {"at": "2026-05-01 08:00"}},
            "not an object",
        ]
    },
}  # fmt: skip
TOML = """
[import.peer]
path = "export.json"
at = "data.memories"
fields = { id = "uid", text = "content", created_at = "meta.at", tags = "labels", importance = "score" }
defaults = { kind = "note" }
"""


@pytest.fixture
def peer(memops, tmp_path):
    (tmp_path / "memops.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "export.json").write_text(json.dumps(EXPORT), encoding="utf-8")
    return memops


def records(path):
    return open_store(f"jsonl:{path}").read()


def test_an_export_becomes_records_and_what_no_column_takes_is_kept(peer, tmp_path):
    said = peer("import", "peer", "--to", f"jsonl:{tmp_path / 'new.jsonl'}")
    assert peer.code == 3, peer.err
    assert {k: said[k] for k in ("read", "ops", "applied", "already")} == {
        "read": 5,
        "ops": 2,
        "applied": 2,
        "already": 0,
    }
    assert said["passed_over"] == [
        {"entry": 3, "why": "no text at 'content'"},
        {"entry": 4, "why": "created_at is no instant with a zone"},
        {"entry": 5, "why": "not an object"},
    ]
    rows = records(tmp_path / "new.jsonl").sort("created_at").to_dicts()
    assert [r["text"] for r in rows] == ["用户的猫叫麻薯", "Ines runs the print workshop"]
    assert rows[1]["id"] == "m1" and uuid.UUID(rows[0]["id"]).version == 5
    assert rows[1]["created_at"] == datetime(2026, 5, 1, tzinfo=UTC)
    assert (rows[1]["tags"], rows[1]["importance"], rows[1]["kind"]) == (
        ["work", "7"],
        0.75,
        "note",
    )
    assert json.loads(rows[1]["extra"]) == {
        "imported": {"vector": [0.5, 1], "meta": {"by": "chat"}}
    }
    assert (rows[0]["tags"], rows[0]["extra"], rows[0]["origin"]) == (["家"], "{}", "export.json#2")


def test_importing_again_adds_nothing_and_an_import_is_undone(peer, tmp_path):
    to = f"jsonl:{tmp_path / 'new.jsonl'}"
    first = peer("import", "peer", "--to", to)
    again = peer("import", "peer", "--to", to)
    assert (again["ops"], again["already"]) == (0, 2)
    assert peer("rollback", first["run"])["skipped"] == []
    assert records(tmp_path / "new.jsonl").is_empty()


def test_a_plan_of_an_import_writes_nothing(peer, tmp_path):
    said = peer("import", "peer", "--to", f"jsonl:{tmp_path / 'new.jsonl'}", "--plan-only")
    assert (said["ops"], said["applied"]) == (2, 0)
    assert records(tmp_path / "new.jsonl").is_empty()


@pytest.mark.parametrize(
    "text, found",
    [
        ('[{"a": 1}]', [{"a": 1}]),
        ('{"n": 2, "tags": ["x"], "items": [{"a": 1}]}', [{"a": 1}]),
        ('{"a": 1}\n\n{"a": 2}', [{"a": 1}, {"a": 2}]),
        ('{"a": 1}', [{"a": 1}]),
        ('\ufeff[{"a": 1}]', [{"a": 1}]),
    ],
)
def test_entries_are_found_in_lists_objects_and_lines(tmp_path, text, found):
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    assert list(entries(tmp_path / "x.json")) == found


@pytest.mark.parametrize("data", [b'{"a": [{"b": 1}], "c": [{"d": 1}]}', b"{]", b"\xff", b"7"])
def test_what_is_no_export_is_refused(tmp_path, data):
    (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(Corrupt):
        list(entries(tmp_path / "x.json"))


@pytest.mark.parametrize(
    "line", ['fields = { content = "text" }', "path = 7", 'where = "x"', "defaults = { extra = 1 }"]
)
def test_a_mapping_that_cannot_be_meant_is_refused(tmp_path, line, capsys):
    path = "" if line.startswith("path") else 'path = "export.json"\n'
    (tmp_path / "m.toml").write_text(f"[import.peer]\n{path}{line}\n")
    assert run(["--config", str(tmp_path / "m.toml"), "import", "peer", "--to", "jsonl:x"]) == 2


def test_an_unknown_name_is_refused(memops):
    said = memops("import", "nobody", "--to", "jsonl:x")
    assert (memops.code, said["hint"]) == (2, "known: none")


def test_an_import_goes_into_any_store(peer, tmp_path):
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    (tmp_path / "ws" / "MEMORY.md").write_text("# Memory\n")
    said = peer("import", "peer", "--to", f"openclaw:{tmp_path / 'ws'}")
    assert said["applied"] == 2
    held = open_store(f"openclaw:{tmp_path / 'ws'}").read().filter(pl.col("kind") == "note")
    assert sorted(held["text"]) == ["Ines runs the print workshop", "用户的猫叫麻薯"]


ENTITIES = [
    {"type": "entity", "name": "Ines", "entityType": "person", "observations": ["runs the print workshop", "Ines owns two presses"], "weight": 3},
    {"type": "entity", "name": "麻薯", "entityType": "cat", "observations": []},
    {"type": "entity", "name": "Tom", "entityType": "person", "observations": ["runs the print workshop"]},
]  # fmt: skip
RELATION = {"type": "relation", "from": "Ines", "to": "麻薯", "relationType": "lives_with"}
TOLD = [
    "Ines lives with 麻薯",
    "Ines owns two presses",
    "Ines: runs the print workshop",
    "Tom: runs the print workshop",
    "麻薯: cat",
]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, [*ENTITIES, RELATION])),
        json.dumps({"entities": ENTITIES, "relations": [RELATION]}),
    ],
    ids=["lines", "object"],
)
def test_the_file_of_an_mcp_memory_server_becomes_one_record_an_observation(memops, tmp_path, text):
    (tmp_path / "memops.toml").write_text('[import.graph]\npath = "graph.jsonl"\n')
    (tmp_path / "graph.jsonl").write_text(text, encoding="utf-8")
    to = f"jsonl:{tmp_path / 'new.jsonl'}"
    said = memops("import", "graph", "--to", to)
    assert (said["applied"], said["passed_over"]) == (5, [])
    held = records(tmp_path / "new.jsonl").sort("text")
    assert held["text"].to_list() == TOLD
    assert held["subject"].to_list() == ["Ines", "Ines", "Ines", "Tom", "麻薯"]
    assert memops("import", "graph", "--to", to)["already"] == 5


def test_distinct_entries_with_one_text_all_come_and_a_repeated_one_once(memops, tmp_path):
    entries_ = [{"text": "x", "key": "a"}, {"text": "x", "key": "b"}, {"text": "x"}]
    entries_ += [{"text": "x", "who": "m"}, {"text": "x", "who": "m"}]
    (tmp_path / "memops.toml").write_text('[import.peer]\npath = "e.json"\n')
    (tmp_path / "e.json").write_text(json.dumps(entries_))
    to = f"jsonl:{tmp_path / 'new.jsonl'}"
    said = memops("import", "peer", "--to", to)
    assert said["applied"] == 4
    assert said["passed_over"] == [{"entry": 5, "why": "an entry before it has the same id"}]
    assert memops("import", "peer", "--to", to)["already"] == 4


def test_entries_that_no_column_can_hold_are_passed_over_by_number(memops, tmp_path):
    given = [
        {"content": "\ud800 half"}, {"content": "strange", "type": "weird"},
        {"content": "heavy", "weight": 7}, {"content": "fine", "type": "Fact", "weight": 0.5},
    ]  # fmt: skip
    (tmp_path / "e.json").write_text(json.dumps(given), "utf-8")
    fields = '{ text = "content", kind = "type", importance = "weight" }'
    (tmp_path / "memops.toml").write_text(f'[import.x]\npath = "e.json"\nfields = {fields}\n')
    said = memops("import", "x", "--to", f"jsonl:{tmp_path / 'new.jsonl'}")
    assert [entry["entry"] for entry in said["passed_over"]] == [1, 2, 3]
    assert (memops.code, said["applied"]) == (3, 1)
