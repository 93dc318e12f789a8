"""A copy gives back exactly what a store was: bytes, types, times, whatever happened since.

Every example is one that Hypothesis makes (a row, a document, a file, a record) and goes through
a snapshot and back; a hundred of them share a store, and a failure names the one that fails.
"""

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
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memops.schema import from_rows
from memops.stores import open_files, open_store
from memops.stores.markdown.carry import Pace
from memops.stores.rsclaw.docs import packed
from memops.stores.rsclaw.redb import Table
from memops.stores.rsclaw.redb_build import build as redb_file

from .clawseed_db import COLUMNS, TRIGGERS, build, dump, in_step, row
from .restoring import put_back

SHARED = 100
"""Examples that share one store."""
MANY = [pytest.param(200, id="200"), pytest.param(50_000, id="50000", marks=pytest.mark.slow)]
EVER = datetime(2026, 1, 1, tzinfo=UTC)

TEXTS = [
    "", "\0", "a\0b", "\u2028", "\u2029", "a\r\nb", "\ufeffx", "no end", "\u202e反", "e\u0301",
    "🙂", "\x1b[31m", "用户喜欢喝茶",
]  # fmt: skip
BYTES = [b"\xff\xfe", b"\xed\xa0\x80", b"caf\xe9", b"\xc0\x80", b"\xef\xbb\xbf", b"\0"]
NUMBERS = [0, -0.0, 0.5, 2**53 + 1, -(2**63), 2**63 - 1, 1e-320, 1.0, 1, 0.1]
STAMPS = [
    "2026-05-01T08:00:00.123456789+08:00", "2026-05-01 08:00:00", "2026-05-01", "soon", "",
    "2026-05-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-12:00",
    "2026-05-01T08:00:00+08:00\0", "+10000-01-01T00:00:00Z",
]  # fmt: skip
odd_text = st.text(max_size=12) | st.sampled_from(TEXTS)
odd_bytes = st.binary(max_size=12) | st.sampled_from(BYTES)
floats = st.floats(width=32) | st.sampled_from([math.nan, -math.nan, math.inf, -0.0])
vectors = st.lists(floats, max_size=4).map(lambda v: struct.pack(f"<{len(v)}f", *v))


def drawn(strategy, count):
    """Return as many examples as are asked for, each one that Hypothesis made."""
    made = []

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(example):
        made.append(example)

    draw()
    assert len(made) >= count
    return made


def each(trip, examples):
    """Send every example through; when a part of them fails, find the one that fails alone."""
    for start in range(0, len(examples), SHARED):
        part = examples[start : start + SHARED]
        try:
            trip(part, start)
        except AssertionError:
            for example in part:
                try:
                    trip([example], start)
                except AssertionError as error:
                    raise AssertionError(f"{example!r} did not come back") from error
            raise


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
clawseed_row = st.fixed_dictionaries(
    {
        "content": texts,
        "category": texts,
        "embedding": st.none() | vectors | odd_bytes,
        "created_at": st.sampled_from(STAMPS) | odd_bytes,
        "updated_at": st.sampled_from(STAMPS),
        "session_id": st.none() | odd_text,
        "namespace": st.none() | odd_text,
        "importance": st.none() | st.sampled_from(NUMBERS) | odd_text,
        "superseded_by": st.none() | odd_text,
        "embedding_content_hash": st.none() | odd_text,
    }
)
NAMES = (
    "content", "category", "embedding", "created_at", "updated_at", "session_id", "namespace",
    "importance", "superseded_by", "embedding_content_hash",
)  # fmt: skip
PLAIN = {name: value for name, value in row(1, "tea").items() if name in NAMES}
NAMED_ROWS = [
    *(PLAIN | {"content": text, "namespace": text} for text in TEXTS),
    *(PLAIN | {"content": data, "embedding": data} for data in BYTES),
    *(PLAIN | {"importance": number} for number in NUMBERS),
    *(PLAIN | {"created_at": stamp, "updated_at": stamp} for stamp in STAMPS),
    PLAIN | {"embedding": struct.pack("<3f", math.nan, math.inf, -0.0)},
    PLAIN | {"namespace": None, "session_id": None, "importance": None},
]


@pytest.mark.parametrize("examples", MANY)
def test_clawseed(fast, examples):
    path = build(fast / "ws", [{"content": f"{n}"} for n in range(SHARED + 1)])
    store = open_store(f"clawseed:{fast / 'ws'}")
    assert set(NAMES) < set(COLUMNS)

    def written(rows, text=()):
        marks = ", ".join(f"{n} = {'CAST(? AS TEXT)' if n in text else '?'}" for n in NAMES)
        query = f"UPDATE memories SET {marks} WHERE rowid = ?"
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.executemany(query, [[*(r[n] for n in NAMES), at] for at, r in enumerate(rows, 1)])

    def trip(rows, start):
        as_text = start % (2 * SHARED) == 0
        written(rows, ("content", "category", "created_at") if as_text else ())
        before = dump(path)
        raw = copied(store, fast)
        records = store.load(raw)
        written([rows[-1], *rows[:-1]] if len(rows) > 1 else [PLAIN])
        put_back(store, raw, fast)
        assert dump(path) == before
        assert store.read().equals(records)

    each(trip, NAMED_ROWS + drawn(clawseed_row, examples))
    assert in_step(path) and len(TRIGGERS) == 3


lines = st.lists(odd_bytes | odd_text.map(lambda t: t.encode("utf-8", "replace")), max_size=6)
bullets = st.sampled_from([b"- ", b"", b"# ", b"  - ", b"```", b"<!-- "])
notes = st.builds(
    lambda bom, end, last, bullet, parts: bom + end.join(bullet + p for p in parts) + last,
    st.sampled_from([b"", b"\xef\xbb\xbf"]), st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.sampled_from([b"", b"\n"]), bullets, lines,
)  # fmt: skip
modes = st.sampled_from([0o600, 0o644, 0o400, 0o666])
mtimes = st.integers(0, 2**62) | st.sampled_from([0, 1, 10**9, 10**18 + 1])
NAMED_NOTES = [
    (data, 0o644, 10**18 + 1)
    for data in [
        *BYTES, *(text.encode() for text in TEXTS), b"\xef\xbb\xbf- a\r\n- b\r\n", b"- no end",
        b"- a\xe2\x80\xa8b\n", b"- \xed\xa0\x80\n- \xff\n", b"-\0- x\n\n\n",
    ]
]  # fmt: skip


@pytest.mark.parametrize("examples", MANY)
@pytest.mark.parametrize(
    "kind, folder", [("openclaw", "memory"), ("xinghebot", "daily")], ids=["openclaw", "xinghebot"]
)
def test_notes(fast, kind, folder, examples, monkeypatch):
    monkeypatch.setattr(open_files, "_PROC", "/nowhere")  # who writes is another test's
    root = fast / "ws"
    (root / folder).mkdir(parents=True)
    store = open_store(f"{kind}:{root}")
    store.pace = Pace(grace=0.0)
    days = [EVER + timedelta(days=n) for n in range(SHARED)]
    names = [f"{folder}/{day:%Y-%m-%d}.md" for day in days]

    def written(name, data, mode, mtime):
        (root / name).unlink(missing_ok=True)
        (root / name).write_bytes(data)
        (root / name).chmod(mode)
        os.utime(root / name, ns=(mtime, mtime))

    def state():
        found = [p for p in root.rglob("*.md")]
        return {p.name: (p.read_bytes(), p.stat().st_mode, p.stat().st_mtime_ns) for p in found}

    def trip(made, start):
        for name in names[len(made) :]:
            (root / name).unlink(missing_ok=True)
        for name, (data, mode, mtime) in zip(names, made, strict=False):
            written(name, data, mode, mtime)
        (root / "MEMORY.md").unlink(missing_ok=True)
        before = state()
        raw = copied(store, fast)
        records = store.load(raw)
        for name in names[: len(made)]:
            written(name, b"- later\n", 0o600, 5)
        (root / names[0]).unlink()
        written("MEMORY.md", b"- new\n", 0o600, 5)
        put_back(store, raw, fast)
        assert state() == before
        assert store.read().equals(records)

    each(trip, NAMED_NOTES + drawn(st.tuples(notes, modes, mtimes), examples))


odd_json = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from([n for n in NUMBERS if math.isfinite(n)])
    | odd_text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(odd_text, inner, max_size=2),
    max_leaves=3,
)
documents = st.fixed_dictionaries(
    {
        "id": odd_text, "scope": odd_text, "kind": odd_text, "text": odd_text,
        "created_at": st.sampled_from([0, -1, 2**53 + 1, 1_780_000_000, 2**63 - 1]),
        "accessed_at": st.just(0), "access_count": st.just(2**31),
        "importance": st.sampled_from([0, 0.1, 1]),
    },
    optional={"tags": st.lists(odd_text, max_size=2), "pinned": st.booleans(), "unknown": odd_json},
)  # fmt: skip
rsclaw_value = st.binary(max_size=20) | st.builds(packed, documents, vectors)
DOCUMENT = {
    "id": "d", "scope": "agent:main", "kind": "fact", "text": "tea", "created_at": 0,
    "accessed_at": 0, "access_count": 0, "importance": 0.5, "tier": "Working",
}  # fmt: skip
NAMED_VALUES = [
    *(packed(DOCUMENT | {"text": text}, b"") for text in TEXTS),
    *(packed(DOCUMENT, data) for data in (b"\0\0\xc0\x7f", b"\0\0\x80\x7f" * 3)),
    *(packed(DOCUMENT | {"unknown": number}, b"") for number in NUMBERS),
    *BYTES,
    packed(DOCUMENT, b"").replace(b"tea", b"caf\xff"),
    packed(DOCUMENT, b"").replace(b"tea", b"\\ud800"),
    packed(DOCUMENT, b"").replace(b"tea", b"\\u0000"),
]


@pytest.mark.parametrize("examples", MANY)
def test_rsclaw(fast, examples):
    path = fast / "memory.redb"
    store = open_store(f"rsclaw:{path}")

    def file_of(values):
        docs = [(f"{n}\0\u2028".encode(), value) for n, value in enumerate(values)]
        meta = [(f"{n}".encode(), value) for n, value in enumerate(values[:3])]
        tables = {"memory_docs": docs, "other": meta}
        return redb_file({n: Table(b"\x01&str", b"\x01&[u8]", r) for n, r in tables.items()})

    def trip(values, start):
        path.write_bytes(file_of(values))
        before = path.read_bytes()
        raw = copied(store, fast)
        records = store.load(raw)
        path.write_bytes(file_of(values[::2]))
        put_back(store, raw, fast)
        assert path.read_bytes() == before
        assert store.read().equals(records)

    each(trip, NAMED_VALUES + drawn(rsclaw_value, examples))


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
NAMED_RECORDS = [
    *({"text": text, "source": text, "tags": [text]} for text in TEXTS),
    *({"text": "n", "access_count": n} for n in (0, 2**53 + 1, 2**63 - 1)),
    *({"text": "n", "extra": json.dumps({"n": n})} for n in NUMBERS),
    {"text": "n", "extra": json.dumps({"lone": "\ud800"})},
    {"text": "none", "source": None},
]


@pytest.mark.parametrize("examples", MANY)
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_tables(fast, kind, examples):
    path = fast / f"m.{kind}"
    store = open_store(f"{kind}:{path}")

    def written(rows, ascii_, end):
        made = [{"id": f"{n}\0\u2028", **fields} for n, fields in enumerate(rows)]
        if kind == "parquet":
            from_rows(made).write_parquet(path)
            return
        said = [json.dumps(m, ensure_ascii=ascii_, default=datetime.isoformat) for m in made]
        path.write_bytes("\n".join(said).encode() + end)

    def trip(rows, start):
        ascii_ = start % (2 * SHARED) == 0
        written(rows, ascii_, b"\n" if start % (4 * SHARED) else b"")
        before = path.read_bytes()
        raw = copied(store, fast)
        held = store.load(raw)
        said = {f"{n}\0\u2028": r["text"] for n, r in enumerate(rows)}
        assert dict(held.select("id", "text").iter_rows()) == said
        written(rows[::2], not ascii_, b"\n")
        put_back(store, raw, fast)
        assert path.read_bytes() == before
        assert store.read().equals(held)

    each(trip, NAMED_RECORDS + drawn(records, examples))
