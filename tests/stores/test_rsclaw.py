"""The rsclaw store: what it reads, what a rebuild keeps, and what it refuses."""

import json
import os
import stat
import struct
import subprocess
import sys
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given, settings

from memops.errors import Corrupt, Locked, StoreNotFound
from memops.plan import delete, edit, outcome, put, squash
from memops.schema import QUARANTINE, TOMBSTONE, from_rows
from memops.stores import Work, open_store, redb
from memops.stores.redb import Table
from memops.stores.redb_build import build
from memops.stores.rsclaw_docs import (
    Doc,
    abstract,
    document,
    overview,
    packed,
    single,
    to_records,
    unpacked,
)
from tests.strategies import plans, records

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
STR, BYTES = b"\x01&str", b"\x01&[u8]"
VECTOR = struct.pack("<3f", 0.5, -1.0, 0.25)


def doc(id_, text, **fields):
    return {
        "id": id_,
        "scope": "agent:main",
        "kind": "fact",
        "text": text,
        "created_at": 1_775_000_000,
        "accessed_at": 1_776_000_000,
        "access_count": 2,
        "importance": 0.65,
        "tier": "Working",
        "abstract_text": abstract(text),
        "overview_text": overview(text),
        "tags": [],
        "pinned": False,
    } | fields


DOCS = [
    doc("a", "用户喜欢黑咖啡。不加糖。", kind="preference", importance=0.72),
    doc("b", "User's laptop is a ThinkPad X13. It runs Debian.", tags=["hardware"]),
    doc(
        "c",
        "用户手机尾号 0927",
        kind="entity",
        tier="Core",
        pinned=True,
        tags=["pinned"],
        importance=0.9,
    ),
    doc("d", "User lived in Lyon", tags=["superseded"], importance=0.3),
]
BROKEN = {
    "lower": packed(doc("lower", "a lower-case tier makes the row vanish", tier="working")),
    "short": b"\x09\0\0\0abc",
    "torn": packed(doc("torn", "torn"))[:-9],
}


def write(path, docs=DOCS, broken=(), archives=(), other=True):
    rows = [(d["id"].encode(), packed(d, VECTOR)) for d in docs]
    tables = {"memory_docs": Table(STR, BYTES, rows + [(k.encode(), BROKEN[k]) for k in broken])}
    if other:
        tables["memory_meta"] = Table(STR, STR, [(b"embedder_model_id", b"bge-small-zh")])
        tables["counts"] = Table(b"\x01u64", b"\x01u64", [(bytes(8), b"\x07" + bytes(7))], 8, 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(build(tables))
    return open_store(f"rsclaw:{path}")


@pytest.fixture
def store(tmp_path):
    return write(tmp_path / "memory.redb", broken=BROKEN)


def work(store, plan, before=None, refuse=None, kept=None):
    def keep(undo):
        if kept is not None:
            kept.extend(undo)

    before = store.read() if before is None else before
    return Work(squash(plan), before, NOW, lambda live, counts: refuse or {}, keep)


def one(store, id_):
    return store.read().filter(pl.col("id") == id_)


def raw(store, table="memory_docs"):
    tables = redb.read(store.path)[1].tables
    return dict(tables[table].rows) if table in tables else {}


def states(written):
    return {w.id: w.state for w in written}


# --- reading


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
                "tags": ["hardware"],
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
    store.write(work(store, edit(one(store, "a"), "hidden", superseded_by=QUARANTINE)))
    assert store.identity() == before
    store.restore(tmp_path / "raw")
    assert store.identity() == before


# --- writing


def test_a_rebuild_keeps_every_byte_that_no_change_touches(store):
    before, meta, counts = raw(store), raw(store, "memory_meta"), raw(store, "counts")
    said = store.write(work(store, edit(one(store, "b"), "less", importance=0.2)))
    assert states(said) == {"b": "applied"}
    after = raw(store)
    assert {k: v for k, v in after.items() if k != b"b"} == {
        k: v for k, v in before.items() if k != b"b"
    }
    assert (raw(store, "memory_meta"), raw(store, "counts")) == (meta, counts)
    assert unpacked(after[b"b"]) == (VECTOR, DOCS[1] | {"importance": 0.2})


def test_a_changed_text_loses_its_vector_and_gets_its_summaries(store):
    store.write(work(store, edit(one(store, "a"), "said so", text="用户喜欢绿茶。不加糖。")))
    assert unpacked(raw(store)[b"a"]) == (
        b"",
        DOCS[0]
        | {
            "text": "用户喜欢绿茶。不加糖。",
            "abstract_text": "用户喜欢绿茶。",
            "overview_text": "用户喜欢绿茶。不加糖。",
        },
    )


def test_a_tier_is_written_as_rsclaw_spells_it(store):
    store.write(work(store, edit(one(store, "b"), "up", tier="core")))
    assert unpacked(raw(store)[b"b"])[1]["tier"] == "Core"


def test_unknown_fields_stay_in_their_place(tmp_path):
    native = {"lang": "en", **doc("x", "User plays chess")}
    store = write(tmp_path / "memory.redb", [native])
    store.write(work(store, edit(store.read(), "less", importance=0.1)))
    assert list(unpacked(raw(store)[b"x"])[1].items()) == list(
        (native | {"importance": 0.1}).items()
    )


def test_a_superseded_record_is_marked_as_rsclaw_does_it(store):
    store.write(work(store, edit(one(store, "c"), "newer", superseded_by="a")))
    assert unpacked(raw(store)[b"c"]) == (
        VECTOR,
        DOCS[2]
        | {"pinned": False, "tier": "Peripheral", "importance": 0.3, "tags": ["superseded"]},
    )
    assert one(store, "c")["superseded_by"].to_list() == ["tag:superseded"]


@pytest.mark.parametrize(
    ("mark", "table"), [(QUARANTINE, "memops_quarantine"), (TOMBSTONE, "memops_tombstone")]
)
def test_a_hidden_record_leaves_the_table_that_rsclaw_opens_and_comes_back_whole(
    store, mark, table
):
    before = raw(store)
    store.write(work(store, edit(one(store, "c"), "hidden", superseded_by=mark)))
    assert raw(store) == {k: v for k, v in before.items() if k != b"c"}
    assert raw(store, table) == {b"c": before[b"c"]}
    assert one(store, "c").select("superseded_by", "tier", "pinned").row(0) == (mark, "core", True)
    store.write(work(store, edit(one(store, "c"), "released", clears=["superseded_by"])))
    assert raw(store) == before
    assert table not in redb.read(store.path)[1].tables


def test_a_hidden_record_is_deleted_for_good(store):
    store.write(work(store, edit(one(store, "c"), "hidden", superseded_by=TOMBSTONE)))
    store.write(work(store, delete(one(store, "c"), "its time is up")))
    assert one(store, "c").is_empty()
    assert "用户手机尾号".encode() not in store.path.read_bytes()


def test_an_archived_id_that_the_gateway_made_again_is_kept_apart(store):
    store.write(work(store, edit(one(store, "a"), "hidden", superseded_by=QUARANTINE)))
    tables = dict(redb.read(store.path)[1].tables)
    again = (b"a", packed(doc("a", "made again")))
    docs = Table(STR, BYTES, [*tables["memory_docs"].rows, again])
    store.path.write_bytes(build(tables | {"memory_docs": docs}))
    assert store.read().filter(pl.col("id").str.starts_with("a")).select("id", "text").rows() == [
        ("a", "made again"),
        ("a@memops_quarantine", "用户喜欢黑咖啡。不加糖。"),
    ]
    store.write(work(store, delete(one(store, "a@memops_quarantine"), "gone")))
    assert raw(store)[b"a"] == again[1] and raw(store, "memops_quarantine") == {}


def test_an_inserted_record_has_rsclaws_fields_in_rsclaws_order(store):
    new = from_rows([{
        "id": "n", "scope": "agent:main", "kind": "fact", "text": "用户在杭州工作",
        "importance": 0.65, "created_at": NOW, "tags": ["memops"],
    }])  # fmt: skip
    store.write(work(store, put(new, "extracted")))
    assert raw(store)[b"n"] == packed(
        doc(
            "n",
            "用户在杭州工作",
            created_at=1_780_315_200,
            accessed_at=0,
            access_count=0,
            tags=["memops"],
        )
    )


def test_a_plan_written_twice_is_already_there(store):
    before = store.read()
    plan = pl.concat([
        edit(one(store, "a"), "up", tier="core"),
        edit(one(store, "b"), "hidden", superseded_by=QUARANTINE),
        delete(one(store, "d"), "gone"),
        put(from_rows([{"id": "n", "text": "new"}]), "new"),
    ])  # fmt: skip
    assert set(states(store.write(work(store, plan))).values()) == {"applied"}
    data = store.path.read_bytes()
    assert set(states(store.write(work(store, plan, before))).values()) == {"already"}
    assert store.path.read_bytes() == data


def test_what_the_gateway_changed_since_is_stale(store):
    before = store.read()
    theirs = pl.concat([
        edit(one(store, "a"), "theirs", text="用户喜欢红茶"),
        edit(one(store, "b"), "recalled", access_count=9, importance=0.8),
        delete(one(store, "c"), "theirs"),
    ])  # fmt: skip
    store.write(work(store, theirs))
    said = store.write(work(store, edit(before, "ours", tier="peripheral"), before))
    assert states(said) == {"a": "stale", "b": "applied", "c": "stale", "d": "applied"}
    assert one(store, "b").select("tier", "access_count").row(0) == ("peripheral", 2)


def test_an_edit_of_an_unknown_record_is_stale(store):
    ghost = from_rows([{"id": "ghost"}])
    assert states(store.write(work(store, edit(ghost, "x", tier="core")))) == {"ghost": "stale"}


def test_a_row_that_does_not_parse_is_not_overwritten(store):
    new = from_rows([{"id": "torn", "text": "new"}])
    assert states(store.write(work(store, put(new, "new")))) == {"torn": "stale"}
    assert raw(store)[b"torn"] == BROKEN["torn"]


def test_what_the_guard_refuses_stays(store):
    plan = pl.concat([edit(one(store, "a"), "x", tier="core"), delete(one(store, "c"), "x")])
    said = store.write(work(store, plan, refuse={"c": "it is pinned"}))
    assert [(w.id, w.state, w.why) for w in said] == [
        ("a", "applied", ""),
        ("c", "refused", "it is pinned"),
    ]
    assert one(store, "c").height == 1


def test_the_guard_sees_live_records_and_counts(store):
    seen = {}

    def check(live, counts):
        seen.update(live=live, counts=counts)
        return {}

    before = store.read()
    store.write(Work(squash(edit(one(store, "a"), "x", tier="core")), before, NOW, check, list))
    assert seen["live"].equals(before)
    assert seen["counts"].rows() == [
        ("agent:main", kind, None, 1) for kind in ("entity", "fact", "preference")
    ]  # fmt: skip


def test_undo_is_kept_before_the_file_changes(store):
    before = store.path.read_bytes()

    def keep(undo):
        assert store.path.read_bytes() == before and len(undo) == 1
        raise RuntimeError("the power failed")

    failing = Work(
        squash(edit(one(store, "a"), "x", tier="core")), store.read(), NOW, lambda *_: {}, keep
    )
    with pytest.raises(RuntimeError):
        store.write(failing)
    assert store.path.read_bytes() == before
    assert [p.name for p in store.path.parent.iterdir()] == ["memory.redb"]


# --- taking back


def test_revert_gives_every_row_its_bytes_and_is_idempotent(store):
    before, kept = redb.read(store.path)[1].tables, []
    plan = pl.concat([
        edit(one(store, "a"), "said", text="用户喜欢绿茶"),
        edit(one(store, "b"), "hidden", superseded_by=QUARANTINE),
        edit(one(store, "c"), "newer", superseded_by="a"),
        delete(one(store, "d"), "gone"),
        put(from_rows([{"id": "n", "text": "new"}]), "new"),
    ])  # fmt: skip
    store.write(work(store, plan, kept=kept))
    undo = [type(u)(**json.loads(json.dumps(vars(u)))) for u in kept]
    assert set(states(store.revert(undo)).values()) == {"applied"}
    assert redb.read(store.path)[1].tables == before
    assert set(states(store.revert(undo)).values()) == {"already"}


def test_a_vector_made_since_does_not_stop_revert_and_a_new_text_does(store):
    before, kept = raw(store), []
    plan = edit(store.read().filter(pl.col("id").is_in(["a", "b"])), "x", text="redacted")
    store.write(work(store, plan, kept=kept))
    tables = dict(redb.read(store.path)[1].tables)
    rows = dict(tables["memory_docs"].rows)
    rows[b"a"] = packed(unpacked(rows[b"a"])[1], VECTOR[:8])
    rows[b"b"] = packed(unpacked(rows[b"b"])[1] | {"text": "theirs"})
    store.path.write_bytes(build(tables | {"memory_docs": Table(STR, BYTES, list(rows.items()))}))
    assert states(store.revert(kept)) == {"a": "applied", "b": "stale"}
    assert (raw(store)[b"a"], raw(store)[b"b"]) == (before[b"a"], rows[b"b"])


def test_restore_gives_the_very_bytes_and_makes_a_missing_store(store, tmp_path):
    whole = store.path.read_bytes()
    (tmp_path / "raw").mkdir()
    store.copy(tmp_path / "raw")
    store.write(work(store, delete(one(store, "a"), "gone")))
    store.restore(tmp_path / "raw")
    assert store.path.read_bytes() == whole
    other = open_store(f"rsclaw:{tmp_path}/new/var/memory.redb")
    other.restore(tmp_path / "raw")
    assert other.path.read_bytes() == whole


# --- the file of a stopped gateway


@pytest.fixture
def gateway(store):
    """Another process that has the file open as redb does."""
    hold = (
        "import fcntl,sys,time; f=open(sys.argv[1],'r+b'); fcntl.flock(f,fcntl.LOCK_EX);"
        "print('held',flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", hold, str(store.path)], stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()


def test_a_running_gateway_is_read_and_never_written(store, gateway, tmp_path):
    whole = store.path.read_bytes()
    (tmp_path / "raw").mkdir()
    store.copy(tmp_path / "raw")
    change = work(store, edit(one(store, "a"), "x", tier="core"))
    for attempt in (
        lambda: store.write(change),
        lambda: store.revert([]),
        lambda: store.restore(tmp_path / "raw"),
    ):
        with pytest.raises(Locked, match="is open in a running rsclaw gateway"):
            attempt()
    assert store.path.read_bytes() == whole
    gateway.kill()
    gateway.wait()
    assert states(store.write(change)) == {"a": "applied"}


def test_the_backup_is_jsonl_in_rsclaws_own_folder_and_private(tmp_path):
    store = write(tmp_path / "base/var/data/memory/memory.redb", broken=["torn"])
    for n in range(2):
        store.write(work(store, edit(one(store, "a"), "x", importance=0.1 * (n + 1))))
    folder = tmp_path / "base/var/backups"
    assert sorted(p.name for p in folder.iterdir()) == [
        "memory-20260601-2.jsonl",
        "memory-20260601.jsonl",
    ]
    first = folder / "memory-20260601.jsonl"
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in first.read_text(encoding="utf-8").splitlines()]
    assert lines[:4] == DOCS and lines[4]["key"] == "torn"


def test_a_store_elsewhere_is_backed_up_beside_it(store):
    store.write(work(store, edit(one(store, "a"), "x", importance=0.1)))
    assert [p.name for p in (store.path.parent / "backups").iterdir()] == ["memory-20260601.jsonl"]


def test_the_mode_of_the_file_is_kept_and_nothing_is_left_behind(store):
    os.chmod(store.path, 0o640)
    store.write(work(store, edit(one(store, "a"), "x", importance=0.1)))
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o640
    assert sorted(p.name for p in store.path.parent.iterdir()) == ["backups", "memory.redb"]


def test_a_batch_that_changes_nothing_writes_nothing(store):
    before = store.path.stat().st_mtime_ns
    store.write(work(store, delete(from_rows([{"id": "ghost"}]), "x")))
    assert store.path.stat().st_mtime_ns == before
    assert [p.name for p in store.path.parent.iterdir()] == ["memory.redb"]


def test_a_link_to_the_file_stays_a_link(store, tmp_path):
    link = tmp_path / "link.redb"
    link.symlink_to(store.path)
    linked = open_store(f"rsclaw:{link}")
    linked.write(work(linked, edit(one(linked, "a"), "x", tier="core")))
    assert link.is_symlink() and one(store, "a")["tier"].to_list() == ["core"]
    assert linked.identity() == store.identity()


def test_what_is_purged_leaves_no_byte_behind(tmp_path):
    store = write(tmp_path / "base/var/data/memory/memory.redb", broken=["torn"])
    secret = DOCS[2]["text"]
    store.write(work(store, edit(one(store, "c"), "hidden", superseded_by=QUARANTINE)))
    store.write(work(store, edit(one(store, "a"), "x", importance=0.1)))
    search = tmp_path / "base/var/data/search"
    search.mkdir()
    (search / "index.store").write_text(secret)
    (store.path.parent / "memory.redb.v2.bak").write_bytes(b"..." + secret.encode())
    (tmp_path / "base/var/data/other").write_text("not ours")
    before = raw(store)
    store.purge(["c", "ghost"])
    left = [p for p in (tmp_path / "base").rglob("*") if p.is_file()]
    assert not [p for p in left if secret.encode() in p.read_bytes()]
    assert sorted(p.name for p in left) == [
        "memory-20260601-2.jsonl", "memory-20260601.jsonl", "memory.redb", "other",
    ]  # fmt: skip
    assert raw(store) == before and one(store, "c").is_empty()


def test_a_running_gateway_is_not_purged(store, gateway):
    with pytest.raises(Locked):
        store.purge(["a"])


# --- laws


@settings(deadline=None, max_examples=60)
@given(records(min_size=1), plans())
def test_reading_after_writing_gives_the_projected_outcome(tmp_path_factory, made, plan):
    path = tmp_path_factory.mktemp("store") / "memory.redb"
    docs = [document(row) for row in made.to_dicts()]
    tables = {}
    for d in docs:
        tables.setdefault(d.table, []).append((d.key.encode(), packed(d.fields, VECTOR)))
    path.write_bytes(build({t: Table(STR, BYTES, rows) for t, rows in tables.items()}))
    store = open_store(f"rsclaw:{path}")
    before, kept, bytes_before = store.read(), [], redb.read(path)[1].tables
    assert before.equals(store.project(before))
    said = store.write(work(store, plan, before, kept=kept))
    assert {w.state for w in said} <= {"applied", "already", "stale"}
    known = set(before["id"])
    assert all(w.id not in known for w in said if w.state == "stale")
    assert store.read().equals(store.project(outcome(before, squash(plan))))
    store.revert(kept)
    after = redb.read(path)[1].tables
    assert {k: t.rows for k, t in after.items() if t.rows} == {
        k: t.rows for k, t in bytes_before.items() if t.rows
    }


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_rebuilt(tmp_path):
    store = write(tmp_path / "memory.redb", [doc(f"{i:06}", f"fact {i}") for i in range(100_000)])
    before = raw(store)
    said = store.write(work(store, edit(one(store, "000007"), "x", tier="core")))
    assert states(said) == {"000007": "applied"}
    after = raw(store)
    del before[b"000007"], after[b"000007"]
    assert after == before


def test_numbers_are_kept_in_single_precision():
    got = [single(x) for x in (0.1, 0.72, 1.0, 0.123456789, 1e-7, 1e300, float("nan"))]
    assert got == [0.1, 0.72, 1.0, 0.12345679, 1e-7, 3.4e38, 0.0]
