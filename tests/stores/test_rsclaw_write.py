"""Writing to rsclaw's file: what a rebuild keeps, compare and set, the guard, exact undo."""

import json
from dataclasses import replace
from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given

from memops.plan import delete, edit, outcome, put, squash
from memops.schema import QUARANTINE, TOMBSTONE, from_rows
from memops.stores import Work, open_store
from memops.stores.rsclaw import redb
from memops.stores.rsclaw.docs import (
    document,
    packed,
    single,
    unpacked,
)
from memops.stores.rsclaw.redb import Table
from memops.stores.rsclaw.redb_build import build
from tests.counts import few
from tests.stores.rsclaw_file import (
    BROKEN,
    BYTES,
    DOCS,
    NOW,
    STR,
    VECTOR,
    doc,
    one,
    raw,
    states,
    work,
    write,
)
from tests.strategies import plans, records

from .restoring import put_back


@pytest.fixture
def store(tmp_path):
    return write(tmp_path / "memory.redb", broken=BROKEN)


def test_a_rebuild_keeps_every_byte_that_no_change_touches(store):
    before, meta, counts = raw(store), raw(store, "memory_meta"), raw(store, "counts")
    said = store.write(work(store, edit(one(store, "b"), "update", "less", importance=0.2)))
    assert states(said) == {"b": "applied"}
    after = raw(store)
    assert {k: v for k, v in after.items() if k != b"b"} == {
        k: v for k, v in before.items() if k != b"b"
    }
    assert (raw(store, "memory_meta"), raw(store, "counts")) == (meta, counts)
    assert unpacked(after[b"b"]) == (VECTOR, DOCS[1] | {"importance": 0.2})


def test_a_changed_text_loses_its_vector_and_gets_its_summaries(store):
    store.write(
        work(store, edit(one(store, "a"), "update", "said so", text="用户喜欢绿茶。不加糖。"))
    )
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
    store.write(work(store, edit(one(store, "b"), "promote", "up", tier="core")))
    assert unpacked(raw(store)[b"b"])[1]["tier"] == "Core"


def test_unknown_fields_stay_in_their_place(tmp_path):
    native = {"lang": "en", **doc("x", "User plays chess")}
    store = write(tmp_path / "memory.redb", [native])
    store.write(work(store, edit(store.read(), "update", "less", importance=0.1)))
    assert list(unpacked(raw(store)[b"x"])[1].items()) == list(
        (native | {"importance": 0.1}).items()
    )


def test_a_superseded_record_is_marked_as_rsclaw_does_it(store):
    store.write(work(store, edit(one(store, "c"), "supersede", "newer", superseded_by="a")))
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
    store.write(work(store, edit(one(store, "c"), "supersede", "hidden", superseded_by=mark)))
    assert raw(store) == {k: v for k, v in before.items() if k != b"c"}
    assert raw(store, table) == {b"c": before[b"c"]}
    assert one(store, "c").select("superseded_by", "tier", "pinned").row(0) == (mark, "core", True)
    store.write(work(store, edit(one(store, "c"), "update", "released", clears=["superseded_by"])))
    assert raw(store) == before
    assert table not in redb.read(store.path)[1].tables


def test_a_hidden_record_is_deleted_for_good(store):
    store.write(work(store, edit(one(store, "c"), "tombstone", "hidden", superseded_by=TOMBSTONE)))
    store.write(work(store, delete(one(store, "c"), "its time is up")))
    assert one(store, "c").is_empty()
    assert "用户手机尾号".encode() not in store.path.read_bytes()


def test_an_archived_id_that_the_gateway_made_again_is_kept_apart(store):
    store.write(
        work(store, edit(one(store, "a"), "quarantine", "hidden", superseded_by=QUARANTINE))
    )
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
            accessed_at=1_780_315_200,
            access_count=0,
            tags=["memops"],
        )
    )


@pytest.mark.parametrize("importance", [0.0, 0.5])
def test_an_undated_record_is_of_now_and_one_without_weight_of_half(store, importance):
    new = from_rows([{"id": "n", "text": "养了一只猫", "importance": importance}])
    plan, before = put(new, "imported"), store.read()
    store.write(work(store, plan))
    _, fields = unpacked(raw(store)[b"n"])
    times = {fields[name] for name in ("created_at", "accessed_at")}
    assert (times, fields["importance"]) == ({int(NOW.timestamp())}, 0.5)
    later = replace(work(store, plan, before), now=NOW + timedelta(days=1))
    assert states(store.write(later)) == {"n": "already"}


def test_a_plan_written_twice_is_already_there(store):
    before = store.read()
    plan = pl.concat([
        edit(one(store, "a"), "promote", "up", tier="core"),
        edit(one(store, "b"), "quarantine", "hidden", superseded_by=QUARANTINE),
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
        edit(one(store, "a"), "update", "theirs", text="用户喜欢红茶"),
        edit(one(store, "b"), "update", "recalled", access_count=9, importance=0.8),
        delete(one(store, "c"), "theirs"),
    ])  # fmt: skip
    store.write(work(store, theirs))
    said = store.write(work(store, edit(before, "demote", "ours", tier="peripheral"), before))
    assert states(said) == {"a": "stale", "b": "applied", "c": "stale", "d": "applied"}
    assert one(store, "b").select("tier", "access_count").row(0) == ("peripheral", 2)


def test_an_edit_of_an_unknown_record_is_stale(store):
    ghost = from_rows([{"id": "ghost"}])
    assert states(store.write(work(store, edit(ghost, "promote", "x", tier="core")))) == {
        "ghost": "stale"
    }


def test_a_row_that_does_not_parse_is_not_overwritten(store):
    new = from_rows([{"id": "torn", "text": "new"}])
    assert states(store.write(work(store, put(new, "new")))) == {"torn": "stale"}
    assert raw(store)[b"torn"] == BROKEN["torn"]


def test_what_the_guard_refuses_stays(store):
    plan = pl.concat(
        [edit(one(store, "a"), "promote", "x", tier="core"), delete(one(store, "c"), "x")]
    )
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
    store.write(
        Work(squash(edit(one(store, "a"), "promote", "x", tier="core")), before, NOW, check, list)
    )
    assert seen["live"].equals(before)
    assert seen["counts"].rows() == [
        ("agent:main", kind, None, 1) for kind in ("entity", "fact", "preference")
    ]  # fmt: skip


def test_undo_is_kept_before_the_file_changes(store):
    before = store.path.read_bytes()

    def keep(undo):
        assert store.path.read_bytes() == before and len([*undo]) == 1
        raise RuntimeError("the power failed")

    failing = Work(
        squash(edit(one(store, "a"), "promote", "x", tier="core")),
        store.read(),
        NOW,
        lambda *_: {},
        keep,
    )
    with pytest.raises(RuntimeError):
        store.write(failing)
    assert store.path.read_bytes() == before
    assert [p.name for p in store.path.parent.iterdir()] == ["memory.redb"]


def test_revert_gives_every_row_its_bytes_and_is_idempotent(store):
    before, kept = redb.read(store.path)[1].tables, []
    plan = pl.concat([
        edit(one(store, "a"), "update", "said", text="用户喜欢绿茶"),
        edit(one(store, "b"), "quarantine", "hidden", superseded_by=QUARANTINE),
        edit(one(store, "c"), "supersede", "newer", superseded_by="a"),
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
    plan = edit(store.read().filter(pl.col("id").is_in(["a", "b"])), "update", "x", text="redacted")
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
    put_back(store, tmp_path / "raw")
    assert store.path.read_bytes() == whole
    other = open_store(f"rsclaw:{tmp_path}/new/var/memory.redb")
    put_back(other, tmp_path / "raw")
    assert other.path.read_bytes() == whole


@few(20)
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
    left = outcome(before, squash(plan))
    new = ~pl.col("id").is_in(list(known))  # of which rsclaw takes 0 for nothing
    weight = pl.when(new & (pl.col("importance") == 0)).then(0.5).otherwise("importance")
    times = {
        n: pl.when(new).then(pl.col(n).fill_null(NOW)).otherwise(n)
        for n in ("created_at", "accessed_at")
    }
    assert store.read().equals(store.project(left.with_columns(importance=weight, **times)))
    store.revert(kept)
    after = redb.read(path)[1].tables
    assert {k: t.rows for k, t in after.items() if t.rows} == {
        k: t.rows for k, t in bytes_before.items() if t.rows
    }


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_rebuilt(tmp_path):
    store = write(tmp_path / "memory.redb", [doc(f"{i:06}", f"fact {i}") for i in range(100_000)])
    before = raw(store)
    said = store.write(work(store, edit(one(store, "000007"), "promote", "x", tier="core")))
    assert states(said) == {"000007": "applied"}
    after = raw(store)
    del before[b"000007"], after[b"000007"]
    assert after == before


def test_numbers_are_kept_in_single_precision():
    got = [single(x) for x in (0.1, 0.72, 1.0, 0.123456789, 1e-7, 1e300, float("nan"))]
    assert got == [0.1, 0.72, 1.0, 0.12345679, 1e-7, 3.4e38, 0.0]
