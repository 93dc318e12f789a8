"""The table stores: strict reading, exact round trips, compare-and-set, undo."""

import contextlib
import json
from datetime import UTC, datetime, timedelta, timezone
from unittest import mock

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memops.errors import Corrupt, Locked, StoreNotFound
from memops.plan import delete, edit, nothing, outcome, put, squash
from memops.schema import FORMS, KINDS, RECORDS, ROLES, SENSITIVITIES, TIERS, conform, from_rows
from memops.stores import Work, base, formats, open_store, tables
from memops.stores.formats import json_line, packed, parsed, unpacked
from tests.counts import few

from .restoring import put_back

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ROWS = [
    {"id": "a", "text": "用户喜欢黑咖啡", "created_at": NOW, "tags": ["x", "饮料"]},
    {"id": "b", "text": "line\u2028separator and \x00", "importance": 0.1, "pinned": True},
    {"id": "c", "text": "", "extra": '{"n": 1}', "valid_to": datetime(1, 1, 1, tzinfo=UTC)},
]


@pytest.fixture(params=["jsonl", "parquet"])
def store(request, tmp_path):
    path = tmp_path / f"memories.{request.param}"
    records = from_rows(ROWS)
    text = "".join(json_line(row) + "\n" for row in records.to_dicts())
    path.write_bytes(text.encode() if request.param == "jsonl" else packed(records))
    return open_store(f"{request.param}:{path}")


def work(store, changes, before=None, refuse=None, kept=None):
    return Work(
        squash(changes),
        store.read() if before is None else before,
        NOW,
        lambda live, counts: refuse or {},
        lambda undo: kept.extend(undo) if kept is not None else None,
    )


def test_a_table_is_read_as_it_was_written(store):
    assert store.read().equals(from_rows(ROWS))


def test_a_night_takes_its_whole_file_apart_once_and_then_only_lines_that_are_new(
    memops, monkeypatch
):
    said = [f"The lamp {n // 2} of the hall shines from {n // 2}:15" for n in range(8)]
    rows = [{"id": f"r{n}", "text": text} for n, text in enumerate(said)]
    looks = []
    monkeypatch.setattr(tables, "parsed", lambda *of: looks.append(of) or parsed(*of))
    (done,) = memops("nightly", f"jsonl:{memops.write('m.jsonl', rows)}", "--approve")
    assert memops.code == 0 and done["applied"]
    whole, *left = (data.count(b"\n") for data, _ in looks)
    assert whole == 8 and len(left) <= 2 and max(left) < done["records"]


LINES = st.lists(st.integers(0, 9), unique=True, max_size=8)


@few(20)
@given(LINES, LINES, st.sampled_from(["", '{"id": "r1"}', '{"id": 5}', "no line", '{"id": "z"}']))
def test_lines_that_stood_in_the_file_read_last_say_the_same_as_ever(before, after, odd):
    lines = [json_line(row) for row in from_rows([{"id": f"r{n}", "text": f"{n}"} for n in range(10)]).to_dicts()]  # fmt: skip
    store, ends = tables.Jsonl("m.jsonl"), [odd] if odd else []
    one, two = ("".join(f"{line}\n" for line in [*(lines[n] for n in held), *more]).encode() for held, more in ((before, []), (after, ends)))  # fmt: skip

    def read():
        try:
            return store._known(two, "m").records, store.lines(two, "m")
        except Corrupt as error:
            return str(error)

    base._read.clear()
    alone = read()
    base._read.clear()
    store._known(one, "m")
    beside = read()
    assert (
        alone == beside if isinstance(alone, str) else
        alone[0].equals(beside[0]) and [*alone[1].items()] == [*beside[1].items()]
    )  # fmt: skip


def test_an_applied_plan_leaves_its_outcome_and_revert_the_same_bytes(store):
    before, old, kept = store.read(), store.path.read_bytes(), []
    plan = pl.concat([
        put(from_rows([{"id": "new", "text": "新"}]), "added"),
        edit(before.filter(pl.col("id") == "b"), "demote", "sunk", tier="peripheral", clears=["importance"]),
        delete(before.filter(pl.col("id") == "a"), "gone"),
    ])  # fmt: skip
    said = store.write(work(store, plan, kept=kept))
    assert {w.id: w.state for w in said} == dict.fromkeys(["new", "b", "a"], "applied")
    assert store.read().equals(store.project(conform(outcome(before, plan))))
    again = store.write(work(store, plan, before=before))
    assert {w.state for w in again} == {"already"}
    assert {w.state for w in store.revert(kept)} == {"applied"}
    assert store.read().equals(before)
    if store.kind == "jsonl":
        assert store.path.read_bytes() == old
    assert {w.state for w in store.revert(kept)} == {"already"}


def test_a_record_that_changed_since_is_stale_and_stays(store):
    before = store.read()
    store.write(
        work(store, edit(before.filter(pl.col("id") == "a"), "update", "theirs", text="theirs"))
    )
    plan = edit(before, "promote", "ours", tier="core")
    said = store.write(work(store, plan, before=before))
    assert [(w.id, w.state) for w in said] == [("a", "stale"), ("b", "applied"), ("c", "applied")]
    assert store.read().select("text", "tier").row(0) == ("theirs", "working")


def test_a_change_after_ours_is_kept_by_revert(store):
    before, kept = store.read(), []
    store.write(work(store, edit(before, "promote", "ours", tier="core"), kept=kept))
    store.write(work(store, edit(store.read().head(1), "update", "theirs", text="theirs")))
    assert [w.state for w in store.revert(kept)] == ["stale", "applied", "applied"]
    assert store.read()["text"][0] == "theirs" and store.read()["tier"][1] == "working"


def test_what_the_guard_refuses_is_not_written(store):
    before = store.read()
    plan = edit(before, "promote", "ours", tier="core")
    said = store.write(work(store, plan, refuse={"b": "the guard says no"}))
    assert [(w.id, w.state, w.why) for w in said] == [
        ("a", "applied", ""), ("b", "refused", "the guard says no"), ("c", "applied", ""),
    ]  # fmt: skip
    assert store.read()["tier"].to_list() == ["core", "working", "core"]


def test_undo_is_kept_before_the_file_changes(store):
    old, seen = store.path.read_bytes(), []
    plan = delete(store.read(), "gone")
    store.write(
        Work(
            squash(plan), store.read(), NOW, lambda live, counts: {},
            lambda undo: seen.append((len([*undo]), store.path.read_bytes() == old)),
        )
    )  # fmt: skip
    assert seen == [(3, True)] and store.read().is_empty()


def test_an_append_that_arrives_while_we_write_is_not_lost(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text('{"id": "a"}\n')
    store = open_store(f"jsonl:{path}")
    appended = iter(['{"id": "b"}\n'])

    def keep(undo):
        with path.open("a") as file:
            file.write(next(appended, ""))

    plan = edit(store.read(), "update", "x", text="new")
    store.write(Work(squash(plan), store.read(), NOW, lambda live, counts: {}, keep))
    assert store.read().select("id", "text").rows() == [("a", "new"), ("b", "")]


def test_a_file_that_never_holds_still_is_locked(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text('{"id": "a"}\n')
    store = open_store(f"jsonl:{path}")
    n = iter(range(99))

    def keep(undo):
        with path.open("a") as file:
            file.write(f'{{"id": "n{next(n)}"}}\n')

    with pytest.raises(Locked):
        plan = edit(store.read(), "update", "x", text="new")
        store.write(Work(squash(plan), store.read(), NOW, lambda live, counts: {}, keep))
    assert store.read()["text"].to_list() == [""] * 4


def test_a_copy_restores_the_exact_bytes(store, tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    old = store.path.read_bytes()
    assert store.copy(raw) == {"consistency": "per-file", "rows": 3}
    assert store.load(raw).equals(store.read())
    store.write(work(store, delete(store.read(), "gone")))
    store.path.chmod(0o640)
    put_back(store, raw)
    assert store.path.read_bytes() == old and store.path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"id": "a", "text": 1}', "line 1, column 'text'"),
        (b'{"id": "a", "pinned": 1}', "line 1, column 'pinned'"),
        (b'{"id": "a", "access_count": true}', "line 1, column 'access_count'"),
        (b'{"id": "a", "access_count": 1e3}', "line 1, column 'access_count'"),
        (b'{"id": "a", "access_count": 9223372036854775808}', "too large"),
        (b'{"id": "a", "importance": NaN}', "NaN"),
        (b'{"id": "a", "importance": 1e999}', "no finite number"),
        (b'{"id": "a", "importance": Infinity}', "line 1"),
        (b'{"id": "a"} {"id": "b"}', "line 1"),
        (b'{"id": "a"}{"id": "b"}\n\n', "line 1"),
        (b'{"id": "a", "tags": ["x", null]}', "column 'tags'"),
        (b'{"id": "a", "created_at": "2026-02-30T00:00:00Z"}', "no instant"),
        (b'{"id": "a", "created_at": "2026-02-28T00:00:60Z"}', "no instant"),
        (b'{"id": "a", "id": "b"}', "twice"),
        (b'{"id": "a", "text": "\\ud800"}', "column 'text': is not valid text"),
        (b'{"id": "a", "tags": ["x", 1]}', "column 'tags'"),
        (b'{"id": "a", "created_at": "2026-01-01T00:00:00"}', "no instant"),
        (b'{"id": "a", "created_at": "yesterday"}', "no instant"),
        (b'{"id": "a", "colour": "red"}', "unknown column 'colour'"),
        (b'{"text": "a"}', "no id"),
        (b'{"id": "a"}\n{"id": "a"}', "line 2: id 'a' stands twice"),
        (b'{"id": "a"}\n\n{"id": "b"}', "line 2"),
        (b'{"id": "a", "text": "\xff"}', "line 1"),
        (b'\xef\xbb\xbf{"id": "a"}', "line 1"),
        (b"[" * 100_000, "line 1"),
        (b'{"id": "a", "access_count": ' + b"9" * 5000 + b"}", "line 1"),
        (b'{"id": "a", "tier": "huge"}', "unknown tier"),
        (b"null", "no JSON object"),
    ],
)
def test_a_line_that_does_not_fit_is_named(tmp_path, line, said):
    path = tmp_path / "m.jsonl"
    path.write_bytes(line)
    with pytest.raises(Corrupt) as caught:
        open_store(f"jsonl:{path}").read()
    assert said in caught.value.message and "m.jsonl" in caught.value.message


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    for kind in ("jsonl", "parquet"):
        with pytest.raises(StoreNotFound):
            open_store(f"{kind}:{tmp_path / 'none'}").read()
        with pytest.raises(StoreNotFound):
            open_store(f"{kind}:{tmp_path}").read()
    assert list(tmp_path.iterdir()) == []


def test_parquet_with_a_foreign_column_type_or_name_is_refused(tmp_path):
    import io

    for frame, said in (
        (pl.DataFrame({"id": ["a"], "colour": ["red"]}), "colour"),
        (pl.DataFrame({"id": [1]}), "'id' is Int64"),
        (pl.DataFrame({"id": ["a"], "created_at": [datetime(2026, 1, 1)]}), "created_at"),
        (pl.DataFrame({"id": ["a"], "text": [b"\xff"]}), "text"),
    ):
        out = io.BytesIO()
        frame.write_parquet(out)
        with pytest.raises(Corrupt, match=said):
            unpacked(out.getvalue(), "m.parquet")


def test_a_small_parquet_file_that_unfolds_to_terabytes_is_refused():
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 2_000_000
    words = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["x" * 1_000_000])
    out = io.BytesIO()
    pq.write_table(pa.table({"id": words}), out)
    assert len(out.getvalue()) < 1_100_000
    with pytest.raises(Corrupt, match="unfolds"):
        unpacked(out.getvalue(), "bomb.parquet")


def test_a_flipped_bit_in_a_parquet_file_is_found_or_harmless():
    import random

    records = from_rows([{"id": f"{i:03}", "text": f"fact {i}"} for i in range(200)])
    data, rng, silent = packed(records), random.Random(7), 0
    for _ in range(150):
        at = rng.randrange(len(data))
        bad = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        with contextlib.suppress(Corrupt):
            silent += not unpacked(bad, "bad").equals(records)
    assert silent <= 3  # the footer has no checksum; a snapshot's manifest has


def test_purge_removes_the_records_and_their_text(store):
    store.purge(["a", "nobody"])
    assert store.read()["id"].to_list() == ["b", "c"]
    assert "黑咖啡".encode() not in store.path.read_bytes()


TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=20)
TIME = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=8))]),
                    min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 30))  # fmt: skip
VALUES = {
    "form": st.sampled_from(FORMS), "role": st.sampled_from(ROLES),
    "kind": st.sampled_from(KINDS), "tier": st.sampled_from(TIERS),
    "sensitivity": st.sampled_from(SENSITIVITIES), "tags": st.lists(TEXT, max_size=3),
    "pinned": st.booleans(), "access_count": st.integers(-(2**63), 2**63 - 1),
    "importance": st.floats(allow_nan=False, allow_infinity=False),
    "confidence": st.floats(allow_nan=False, allow_infinity=False),
}  # fmt: skip
ROW = st.fixed_dictionaries(
    {"id": TEXT},
    optional={
        name: VALUES.get(name, TIME if "_at" in name or name.startswith("valid") else TEXT)
        for name in RECORDS
        if name not in ("id",)
    },
)


@few(40)
@given(st.lists(ROW, max_size=5, unique_by=lambda row: row["id"]))
def test_json_lines_and_parquet_lose_nothing(rows):
    records = from_rows(rows)
    text = "".join(json_line(row) + "\n" for row in records.to_dicts()).encode()
    through = conform(parsed(text, "x"))
    assert through.equals(records)
    with mock.patch.object(formats, "_at_once", return_value=None):
        assert conform(parsed(text, "x")).equals(records)
    assert unpacked(packed(through), "x").equals(records) or records.is_empty()


@pytest.mark.parametrize(
    "time",
    ["2026-06-01T00:00:00Z", "2026-06-01T02:00:00.500+02:00", "2026-06-01T00:00:00.000001+00:00",
     "2026-06-01", "20260601T000000Z", "0999-06-01T00:00:00Z"],
)  # fmt: skip
def test_lines_mean_the_same_read_at_once_or_one_by_one(time):
    data = f' {{"id": "a"}}\n{{"id": "b", "created_at": "{time}"}}\r\n{{"id": "c", "text": null}}'
    told = []
    for lines in (data, data.replace("\r", "").strip()):
        try:
            told.append(conform(parsed(lines.encode(), "x")).to_dicts())
        except Corrupt as error:
            told.append(error.message)
    assert told[0] == told[1]


def test_an_empty_plan_writes_nothing(store):
    assert list(store.batches(nothing())) == []


def test_json_lines_stand_in_schema_order_without_nulls():
    row = from_rows([{"id": "a", "text": "é"}]).to_dicts()[0]
    assert json.loads(json_line(row)) == {
        "id": "a", "scope": "default", "form": "claim", "role": "topic", "kind": "note", "text": "é", "tier": "working",
        "importance": 0.5, "pinned": False, "access_count": 0, "sensitivity": "allowed",
        "tags": [], "extra": "{}",
    }  # fmt: skip


@pytest.mark.parametrize("column", ["text", "kind", "id"])
def test_a_text_in_parquet_that_is_no_utf8_is_refused(tmp_path, column):
    import pyarrow
    import pyarrow.parquet

    broken = pyarrow.array([b"caf\xe9"]).view(pyarrow.string())
    rows = {"id": ["a"], "kind": ["fact"], "text": ["茶"]} | {column: broken}
    pyarrow.parquet.write_table(pyarrow.table(rows), tmp_path / "m.parquet")
    with pytest.raises(Corrupt, match=r"m\.parquet.*UTF"):
        open_store(f"parquet:{tmp_path / 'm.parquet'}").read()
