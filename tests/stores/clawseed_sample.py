"""A small clawseed workspace and how tests write to it."""

import json
from datetime import UTC, datetime

import polars as pl

from memops.plan import put, squash
from memops.schema import from_rows
from memops.stores import Work
from tests.stores.clawseed_db import vector

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


SAMPLE = [
    {"id": "a", "key": "user_name", "content": "The user's name is Ada", "importance": 0.9,
     "embedding": vector(0.5, 0.5)},
    {"id": "b", "key": "用户_城市", "content": "用户住在杭州", "namespace": "nova"},
    {"id": "c", "key": "daily_2026-05-03_1", "content": "hi…", "category": "daily"},
    {"id": "d", "key": "user_msg", "content": "last words", "category": "conversation",
     "session_id": "s1"},
    {"id": "e", "key": "old", "content": "The user's name is Eda", "superseded_by": "user_name"},
    {"id": "f", "key": "", "content": "x\x00y\u2028z", "category": "preference"},
]  # fmt: skip


def only(records, *ids):
    return records.filter(pl.col("id").is_in(list(ids)))


def carry_out(store, plan, before=None, refuse=None, kept=None):
    """Write a plan batch by batch, as apply does; return what became of each change."""
    before = store.read() if before is None else before
    kept = [] if kept is None else kept
    said = {}
    for batch in store.batches(squash(plan)):
        work = Work(batch, before, NOW, lambda live, counts: refuse or {}, kept.extend)
        said |= {w.id: w for w in store.write(work)}
    return said


def states(said):
    return {id_: written.state for id_, written in said.items()}


def comparable(records):
    """Records without what a write necessarily makes new: native values, place, time of edits."""
    return records.drop("extra", "origin", "updated_at")


def json_round_trip(undo):
    """Undo as it comes back from the journal."""
    return [type(u)(**json.loads(json.dumps(u.__dict__, default=str))) for u in undo]


def some_plan():
    return put(from_rows([{"id": "new", "text": "neu", "created_at": NOW}]), "added")
