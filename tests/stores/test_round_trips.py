"""A copy gives back exactly what a store was: bytes, types, times, whatever happened since."""

import contextlib
import json
import math
import os
import shutil
import sqlite3
import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memops.schema import from_rows
from memops.stores import markdown_files, open_store
from memops.stores.redb import Table
from memops.stores.redb_build import build as redb_file
from memops.stores.rsclaw_docs import packed

from .clawseed_db import COLUMNS, build, dump, in_step, row

EACH = 20
"""Rows, or files, that one draw makes: what is counted are these."""
MANY = [pytest.param(2_000, id="2000"), pytest.param(50_000, id="50000", marks=pytest.mark.slow)]
EVER = datetime(2026, 1, 1, tzinfo=UTC)

odd_text = st.text(max_size=12) | st.sampled_from(
    [
        "",
        "\0",
        "a\0b",
        "\u2028",
        "\u2029",
        "a\r\nb",
        "\ufeffx",
        "no end",
        "\u202e反",
        "e\u0301",
        "🙂",
        "\x1b[31m",
    ]
)
odd_bytes = st.binary(max_size=12) | st.sampled_from(
    [b"\xff\xfe", b"\xed\xa0\x80", b"caf\xe9", b"\xc0\x80", b"\xef\xbb\xbf"]
)
numbers = st.sampled_from([0, -0.0, 0.5, 2**53 + 1, -(2**63), 2**63 - 1, 1e-320, 1.0, 1, 0.1])
floats = st.floats(width=32) | st.sampled_from([math.nan, -math.nan, math.inf, -0.0])
vectors = st.lists(floats, max_size=4).map(lambda v: struct.pack(f"<{len(v)}f", *v))
stamps = st.sampled_from(
    [
        "2026-05-01T08:00:00.123456789+08:00", "2026-05-01 08:00:00", "2026-05-01", "soon", "",
        "2026-05-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-12:00",
        "2026-05-01T08:00:00+08:00\0", "+10000-01-01T00:00:00Z",
    ]
)  # fmt: skip


def many(examples):
    return settings(
        max_examples=examples // EACH,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


@pytest.fixture
def fast(monkeypatch):
    """A folder in memory where there is one; what is on disk is another test's."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    memory = Path("/dev/shm")
    folder = memory / f"memops-{os.getpid()}" if memory.is_dir() else Path(f"trips-{os.getpid()}")
    folder.mkdir(parents=True)
    yield folder.absolute()
    shutil.rmtree(folder)


def copied(store, folder):
    raw = folder / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    raw.mkdir()
    store.copy(raw)
    return raw


texts = odd_text | odd_bytes
values = {
    "content": texts,
    "category": texts,
    "embedding": st.none() | vectors | odd_bytes,
    "created_at": stamps | odd_bytes,
    "updated_at": stamps,
    "session_id": st.none() | odd_text,
    "namespace": st.none() | odd_text,
    "importance": st.none() | numbers | odd_text,
    "superseded_by": st.none() | odd_text,
    "embedding_content_hash": st.none() | odd_text,
}
clawseed_row = st.fixed_dictionaries(values)


clawseed_rows = st.lists(clawseed_row, min_size=EACH, max_size=EACH)


@pytest.mark.parametrize("examples", MANY)
def test_clawseed(fast, examples):
    path = build(fast / "ws", [{"content": f"{n}"} for n in range(EACH + 1)])
    store = open_store(f"clawseed:{fast / 'ws'}")
    assert set(values) < set(COLUMNS) and row(0).keys() == set(COLUMNS)

    def written(rows, text=()):
        marks = ", ".join(f"{n} = {'CAST(? AS TEXT)' if n in text else '?'}" for n in values)
        query = f"UPDATE memories SET {marks} WHERE rowid = ?"
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.executemany(
                query, [[*(made[n] for n in values), at] for at, made in enumerate(rows, 1)]
            )

    @many(examples)
    @given(clawseed_rows, st.booleans(), st.data())
    def trips(rows, as_text, data):
        written(rows, ("content", "category", "created_at") if as_text else ())
        before = dump(path)
        raw = copied(store, fast)
        records = store.load(raw)
        written(data.draw(st.permutations(rows)))
        store.restore(raw)
        assert dump(path) == before
        assert store.read().equals(records)

    trips()
    assert in_step(path)


lines = st.lists(odd_bytes | odd_text.map(lambda t: t.encode("utf-8", "replace")), max_size=6)
ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
notes = st.builds(
    lambda bom, end, last, bullets, parts: bom + end.join(b + p for b, p in zip(bullets * 6, parts)) + last,  # noqa: B905
    st.sampled_from([b"", b"\xef\xbb\xbf"]), ends, st.sampled_from([b"", b"\n"]),
    st.lists(st.sampled_from([b"- ", b"", b"# ", b"  - ", b"```", b"<!-- "]), min_size=1, max_size=6), lines,
)  # fmt: skip
modes = st.sampled_from([0o600, 0o644, 0o400, 0o666])
mtimes = st.integers(0, 2**62) | st.sampled_from([0, 1, 10**9, 10**18 + 1])


@pytest.mark.parametrize("examples", MANY)
@pytest.mark.parametrize(
    "kind, day", [("openclaw", "memory/2026-05-01.md"), ("xinghebot", "daily/2026-05-01.md")]
)
def test_notes(fast, kind, day, examples, monkeypatch):
    monkeypatch.setattr(markdown_files, "writers", lambda handle: [])  # /proc is another test's
    root = fast / "ws"
    (root / day).parent.mkdir(parents=True)
    store = open_store(f"{kind}:{root}")

    names = [day, *(day.replace("05-01", f"05-{n:02}") for n in range(2, EACH + 1))]

    def written(name, data, mode, mtime):
        (root / name).unlink(missing_ok=True)
        (root / name).write_bytes(data)
        (root / name).chmod(mode)
        os.utime(root / name, ns=(mtime, mtime))

    def state():
        return {
            p.name: (p.read_bytes(), p.stat().st_mode, p.stat().st_mtime_ns)
            for p in root.rglob("*.md")
        }

    @many(examples)
    @given(st.lists(st.tuples(notes, modes, mtimes), min_size=EACH, max_size=EACH), notes)
    def trips(made, later):
        for name, (data, mode, mtime) in zip(names, made, strict=True):
            written(name, data, mode, mtime)
        (root / "MEMORY.md").unlink(missing_ok=True)
        before = state()
        raw = copied(store, fast)
        records = store.load(raw)
        for name in names[::2]:
            written(name, later, 0o600, 5)
        (root / names[1]).unlink()
        written("MEMORY.md", later, 0o600, 5)
        store.restore(raw)
        assert state() == before
        assert store.read().equals(records)

    trips()


odd_json = st.recursive(
    st.none()
    | st.booleans()
    | numbers.filter(lambda n: not isinstance(n, float) or math.isfinite(n))
    | odd_text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(odd_text, inner, max_size=2),
    max_leaves=3,
)
documents = st.fixed_dictionaries(
    {
        "id": odd_text, "scope": odd_text, "kind": odd_text, "text": odd_text,
        "created_at": st.sampled_from([0, -1, 2**53 + 1, 1_780_000_000, 2**63 - 1]),
        "accessed_at": st.just(0), "access_count": st.just(2**31), "importance": st.sampled_from([0, 0.1, 1]),
    },
    optional={"tags": st.lists(odd_text, max_size=2), "pinned": st.booleans(), "unknown": odd_json},
)  # fmt: skip
rsclaw_value = st.binary(max_size=20) | st.builds(packed, documents, vectors)
rsclaw_rows = st.lists(rsclaw_value, min_size=EACH, max_size=EACH).map(
    lambda values: {f"{n}\0\u2028".encode(): value for n, value in enumerate(values)}
)


@pytest.mark.parametrize("examples", MANY)
def test_rsclaw(fast, examples):
    path = fast / "memory.redb"
    store = open_store(f"rsclaw:{path}")

    def file_of(rows, meta):
        tables = {"memory_docs": Table(b"\x01&str", b"\x01&[u8]", list(rows.items()))}
        tables["other"] = Table(b"\x01&str", b"\x01&[u8]", list(meta.items()))
        return redb_file(tables)

    @many(examples)
    @given(rsclaw_rows, st.dictionaries(odd_text.map(str.encode), odd_bytes, max_size=2))
    def trips(rows, meta):
        path.write_bytes(file_of(rows, meta))
        before = path.read_bytes()
        raw = copied(store, fast)
        records = store.load(raw)
        path.write_bytes(file_of(meta, rows))
        store.restore(raw)
        assert path.read_bytes() == before
        assert store.read().equals(records)

    trips()


instants = st.sampled_from(
    [timedelta(microseconds=1), timedelta(days=-700_000), timedelta(days=2_900_000)]
)
records = st.fixed_dictionaries(
    {"text": odd_text},
    optional={
        "created_at": instants.map(lambda d: EVER + d),
        "importance": st.sampled_from([0.1, 1.0, 5e-324, -0.0]),
        "access_count": st.sampled_from([0, 2**53 + 1, 2**63 - 1]),
        "source": odd_text,
        "tags": st.lists(odd_text, max_size=2),
        "superseded_by": odd_text.filter(bool),
        "extra": odd_json.map(json.dumps),
    },
)
tables = st.lists(records, min_size=EACH, max_size=EACH).map(
    lambda rows: {f"{n}\0\u2028": fields for n, fields in enumerate(rows)}
)


@pytest.mark.parametrize("examples", MANY)
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_tables(fast, kind, examples):
    path = fast / f"m.{kind}"
    store = open_store(f"{kind}:{path}")

    def written(rows, ascii_, end):
        made = [{"id": key, **fields} for key, fields in rows.items()]
        if kind == "parquet":
            from_rows(made).write_parquet(path)
            return
        said = [json.dumps(m, ensure_ascii=ascii_, default=datetime.isoformat) for m in made]
        path.write_bytes("\n".join(said).encode() + end)

    @many(examples)
    @given(tables, st.booleans(), st.sampled_from([b"", b"\n"]))
    def trips(rows, ascii_, end):
        written(rows, ascii_, end)
        before = path.read_bytes()
        raw = copied(store, fast)
        held = store.load(raw)
        assert {r["id"]: r["text"] for r in held.to_dicts()} == {
            k: r["text"] for k, r in rows.items()
        }
        written(dict(list(rows.items())[::2]), not ascii_, b"\n")
        store.restore(raw)
        assert path.read_bytes() == before
        assert store.read().equals(held)

    trips()
