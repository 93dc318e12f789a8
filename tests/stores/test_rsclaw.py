"""The rsclaw store: what it reads, and what it refuses."""

import json
from datetime import UTC, datetime

import pytest

from memops.errors import Corrupt, StoreNotFound
from memops.plan import edit
from memops.schema import QUARANTINE, from_rows
from memops.stores import open_store
from memops.stores.rsclaw.docs import (
    Doc,
    document,
    packed,
    to_records,
    unpacked,
)
from memops.stores.rsclaw.redb import Table
from memops.stores.rsclaw.redb_build import build
from tests.stores.rsclaw_file import BROKEN, BYTES, doc, one, work, write

from .restoring import put_back


@pytest.fixture
def store(tmp_path):
    return write(tmp_path / "memory.redb", broken=BROKEN)


def test_documents_are_read_as_records(store):
    assert store.read().to_dicts() == from_rows(
        [
            {
                "id": "a", "scope": "agent:main", "kind": "preference",
                "text": "用户喜欢黑咖啡。不加糖。", "importance": 0.72,
            } | common("a"),
            {
                "id": "b", "scope": "agent:main", "kind": "fact",
                "text": "User's laptop is a ThinkPad X13. It runs Debian.", "importance": 0.65,
                "tags": ["hardware"], "subject": "hardware",
            } | common("b"),
            {
                "id": "c", "scope": "agent:main", "kind": "entity", "text": "用户手机尾号 0927",
                "tier": "core", "importance": 0.9, "pinned": True, "tags": ["pinned"],
            } | common("c"),
            {
                "id": "d", "scope": "agent:main", "kind": "fact", "text": "User lived in Lyon",
                "importance": 0.3, "superseded_by": "tag:superseded",
            } | common("d"),
        ]
    ).to_dicts()  # fmt: skip


def common(id_):
    return {
        "access_count": 2,
        "created_at": datetime.fromtimestamp(1_775_000_000, UTC),
        "accessed_at": datetime.fromtimestamp(1_776_000_000, UTC),
        "origin": f"memory_docs#{id_}",
    }


@pytest.mark.parametrize(
    ("fields", "kind", "source", "extra"),
    [
        ({"kind": "compaction_fact"}, "fact", "compaction", {"kind": "compaction_fact"}),
        ({"kind": "session_summary"}, "summary", "compaction", {"kind": "session_summary"}),
        ({"kind": "diary"}, "note", None, {"kind": "diary"}),
        ({"kind": "remember"}, "remember", "user", {}),
        ({"kind": "note", "scope": "agent:main:cron"}, "note", "system", {}),
        ({"created_at": 0}, "fact", None, {}),
        ({"created_at": 2**62}, "fact", None, {"created_at": 2**62}),
        ({"lang": "fr"}, "fact", None, {"fields": {"lang": "fr"}}),
        ({"id": "other"}, "fact", None, {"doc_id": "other"}),
    ],
)
def test_what_has_no_column_is_in_extra_and_comes_back(fields, kind, source, extra):
    native = doc("x", "User plays chess") | fields
    records = to_records([Doc("memory_docs", "x", native)])
    row = records.row(0, named=True)
    assert (row["kind"], row["source"], json.loads(row["extra"])) == (kind, source, extra)
    assert (row["created_at"] is None) == ("created_at" in fields)
    assert document(row).fields == native


def test_a_summary_of_its_own_is_kept_while_its_text_stands():
    native = doc("x", "User plays chess") | {"abstract_text": "chess", "overview_text": None}
    row = to_records([Doc("memory_docs", "x", native)]).row(0, named=True)
    assert document(row).fields == native
    changed = document(row | {"text": "User plays go"}).fields
    assert (changed["abstract_text"], changed["overview_text"]) == ("User plays go",) * 2


@pytest.mark.parametrize(
    "value",
    [
        b"", b"\0\0\0", b"\x05\0\0\0", b"\0\0\0\0", b"\0\0\0\0[]", b"\0\0\0\0null",
        packed(doc("x", "t", created_at=1.0)),
        packed(doc("x", "t", access_count=True)),
        packed(doc("x", "t", access_count=2**63)),
        packed(doc("x", "t", tier="CORE")),
        packed(doc("x", "t", tags=None)),
        packed(doc("x", "t", pinned=1)),
        packed({k: v for k, v in doc("x", "t").items() if k != "scope"}),
        packed(doc("x", "t")).replace(b'"t"', b'"\\ud800"'),
        packed(doc("x", "t")).replace(b'"t"', b'"\xff"'),
        packed(doc("x", "t")).replace(b'"kind"', b'"text":"twice","kind"'),
        packed(doc("x", "t")).replace(b"0.65", b"NaN"),
        packed(doc("x", "t", more=0)).replace(b'"more":0', b'"more":' + b"[" * 100_000),
    ],
)  # fmt: skip
def test_what_rsclaw_would_skip_is_no_document(value):
    assert unpacked(value) is None


def test_rows_that_do_not_parse_are_counted_and_named(store, tmp_path):
    (tmp_path / "raw").mkdir()
    notes = store.copy(tmp_path / "raw")
    assert notes == {
        "consistency": "checksummed",
        "format": "redb v3",
        "transaction": 1,
        "recovery_required": True,
        "tables": {"counts": 1, "memory_docs": 7, "memory_meta": 1},
        "rows": 4,
        "unparsed": 3,
        "unparsed_ids": ["lower", "short", "torn"],
        "vector_widths": {"0": 2, "3": 4, "9": 1},
    }
    assert (tmp_path / "raw" / "memory.redb").read_bytes() == store.path.read_bytes()
    assert store.load(tmp_path / "raw").equals(store.read())


def test_a_folder_stands_for_its_file(store):
    assert open_store(f"rsclaw:{store.path.parent}").read().equals(store.read())


def test_a_missing_store_and_a_foreign_file_are_named(tmp_path):
    with pytest.raises(StoreNotFound, match=r"gone.redb: no such file"):
        open_store(f"rsclaw:{tmp_path}/gone.redb").read()
    (tmp_path / "x.redb").write_bytes(b"SQLite format 3\0")
    with pytest.raises(Corrupt, match="not a redb file"):
        open_store(f"rsclaw:{tmp_path}/x.redb").read()
    odd = Table(b"\x01u64", BYTES, [(bytes(8), b"x")], key_width=8)
    (tmp_path / "x.redb").write_bytes(build({"memory_docs": odd}))
    with pytest.raises(Corrupt, match="'memory_docs' is not rsclaw's"):
        open_store(f"rsclaw:{tmp_path}/x.redb").read()


def test_a_store_without_documents_is_read_as_empty(tmp_path):
    (tmp_path / "memory.redb").write_bytes(build({}))
    assert open_store(f"rsclaw:{tmp_path}").read().is_empty()


def test_identity_survives_a_copy_and_a_write(store, tmp_path):
    before = store.identity()
    (tmp_path / "raw").mkdir()
    store.copy(tmp_path / "raw")
    store.write(
        work(store, edit(one(store, "a"), "quarantine", "hidden", superseded_by=QUARANTINE))
    )
    assert store.identity() == before
    put_back(store, tmp_path / "raw")
    assert store.identity() == before
