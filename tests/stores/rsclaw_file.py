"""A small database of rsclaw, and how tests write to it."""

import struct
from datetime import UTC, datetime

import polars as pl

from memops.plan import squash
from memops.stores import Work, open_store
from memops.stores.rsclaw import redb
from memops.stores.rsclaw.docs import (
    abstract,
    overview,
    packed,
)
from memops.stores.rsclaw.redb import Table
from memops.stores.rsclaw.redb_build import build

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
