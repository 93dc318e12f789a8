"""clawseed's own store, as its statements leave the database, and what memops makes of it.

What an agent does (store, forget, reindex) is done with clawseed's SQL; what it would see
afterwards (get, list, count, recall, export, purge) is asked of memops alone.
"""

import contextlib
import hashlib
import json
import sqlite3
import tempfile
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl

from memops.plan import delete
from memops.schema import LIVE, instant
from memops.stores import Work, open_store
from memops.stores.clawseed.doctor import examined
from tests.compat import Unsupported
from tests.compat.profiles import profile_run
from tests.stores.clawseed_db import build, execute

START = datetime(2026, 7, 1, 8, tzinfo=UTC)
INSERT = """INSERT INTO memories (id, key, content, category, embedding, created_at, updated_at,
  session_id, namespace, importance, embedding_content_hash)
  VALUES (?1, ?2, ?3, ?4, NULL, ?5, ?5, ?6, ?7, ?8, ?9)
  ON CONFLICT(key) DO UPDATE SET content = excluded.content, category = excluded.category,
  embedding = NULL, updated_at = excluded.updated_at, session_id = excluded.session_id,
  embedding_content_hash = excluded.embedding_content_hash"""
WITH_METADATA = ", namespace = excluded.namespace, importance = excluded.importance"
REBUILD = "INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')"


class Peer:
    """A workspace that an agent writes to and memops reads."""

    def __init__(self, folder):
        self.path = build(Path(folder))
        self.store = open_store(f"clawseed:{folder}")
        self.made = 0

    def do(self, step):
        """What the agent itself does."""
        op, content = step["op"], step.get("content")
        if "content_gen" in step:
            part, times = step["content_gen"].split("*")
            content = part.strip("'") * int(times)
        if op == "reindex":
            execute(self.path, REBUILD)
        elif op == "forget":
            execute(self.path, "DELETE FROM memories WHERE key = ?", step["key"])
        elif op in ("store", "store_with_metadata"):
            self.made += 1
            at = (START + timedelta(milliseconds=20 * self.made)).isoformat()
            rich = op == "store_with_metadata" or step.get("view")
            namespace = step.get("namespace") or step.get("view") or "default"
            importance = step.get("importance")
            execute(
                self.path, INSERT + WITH_METADATA * bool(rich), str(uuid.uuid4()), step["key"],
                content, step["category"], at, step["session_id"], namespace,
                0.5 if importance is None else importance,
                hashlib.sha256(content.encode()).hexdigest()[:16],
            )  # fmt: skip
        elif op != "reopen":
            raise Unsupported

    def records(self, view=None):
        """What memops reads, with session and category, as a namespace sees it."""
        native = pl.col("extra").str.json_path_match
        found = self.store.read().with_columns(
            session=native("$.session_id"), category=native("$.category")
        )
        return found.filter(scope=view) if view else found

    def removed(self, records):
        """How many records a plan of memops takes away for good."""
        if records.is_empty():
            return 0
        before = self.store.read()
        work = Work(
            delete(records.select(before.columns), "asked for"), before, START,
            lambda live, counts: {}, lambda undo: None,
        )  # fmt: skip
        return sum(answer.state == "applied" for answer in self.store.write(work))


def scenario(case):
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(folder)
        for step in case["setup"]:
            peer.do(step)
        return all(_holds(_asked(peer, step), step["expect"]) for step in case["checks"])


def _asked(peer, step):
    op, view = step["op"], step.get("view")
    if op not in ASKED or step.get("search_mode") == "embedding":
        raise Unsupported  # an embedding alone is what memops never asks clawseed for
    return ASKED[op](peer, step, peer.records(view))


def _get(peer, step, records):
    found = records.filter(key=step["key"]).to_dicts()
    return {"missing": True} if not found else {"content": found[0]["text"]} | found[0]


def _list(peer, step, records):
    wanted = {n: step[n] for n in ("category", "session_id") if step.get(n)}
    if "session_id" in wanted:
        wanted["session"] = wanted.pop("session_id")
    return _keys(records.filter(LIVE, **wanted))


def _recall(peer, step, records):
    scope = step.get("namespace") or step.get("view")
    if step.get("session_id"):
        records, scope = records.with_columns(scope=pl.col("session")), step["session_id"]
    elif step.get("view"):
        records = peer.records()
    query = pl.DataFrame(
        {"query_id": ["q"], "text": [step["query"]], "scope": [scope]},
        schema_overrides={"scope": pl.String},
    )
    run = profile_run("clawseed", records, query, step["limit"])
    return _keys(run.join(records, left_on="doc_id", right_on="id", maintain_order="left"))


def _export(peer, step, records):
    said = dict(step["filter"])
    since, until = instant(said.pop("since", None)), instant(said.pop("until", None))
    names = {"namespace": "scope", "session_id": "session", "category": "category"}
    wanted = [pl.col(names[name]) == value for name, value in said.items()]
    wanted += [pl.col("created_at") >= since] if since else []
    wanted += [pl.col("created_at") <= until] if until else []
    return _keys(records.filter(*wanted).sort("created_at", "id"))


def _purge_namespace(peer, step, records):
    if step.get("view") and step["view"] != step["namespace"]:
        raise Unsupported  # a refusal of clawseed's decorator
    return {"value": peer.removed(records.filter(scope=step["namespace"]))}


def _index_hits(peer, step, records):
    query = "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?"
    with contextlib.closing(sqlite3.connect(peer.path)) as connection:
        return {"value": connection.execute(query, [step["match"]]).fetchone()[0]}


def _keys(records):
    keys = records["key"].to_list()
    return {"keys": keys, "n": len(keys), "first": keys[0] if keys else None}


def _forget(peer, step, records):
    return {"value": peer.removed(records.filter(key=step["key"])) == 1}


def _purge_session(peer, step, records):
    return {"value": peer.removed(records.filter(session=step["session_id"]))}


def _health(peer, step, records):
    return {"value": not [f for f in examined(peer.store) if f.level == "error"]}


ASKED = {
    "get": _get,
    "list": _list,
    "count": lambda peer, step, records: {"value": records.height},
    "recall": _recall,
    "recall_namespaced": _recall,
    "export": _export,
    "forget": _forget,
    "purge_namespace": _purge_namespace,
    "purge_session": _purge_session,
    "fts_count": _index_hits,
    "health": _health,
}


def _holds(got, expected):
    checks = {
        "content_len": lambda wanted: len(got["content"]) == wanted,
        "max_n": lambda wanted: got["n"] <= wanted,
        "includes": lambda wanted: set(wanted) <= set(got["keys"]),
        "excludes": lambda wanted: not set(wanted) & set(got["keys"]),
        "namespace": lambda wanted: got["scope"] == wanted,
        "keys": lambda wanted: sorted(got["keys"]) == sorted(wanted),
    }
    return all(
        checks[name](wanted) if name in checks else got.get(name) == wanted
        for name, wanted in expected.items()
    )


def upsert(case):
    """What a store under a key that is taken changes, seen in the bytes and by memops."""
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(folder)
        first = {"op": "store_with_metadata", "key": "k", "content": "tea", "category": "core",
                 "session_id": "s1", "namespace": "n1", "importance": 0.9}  # fmt: skip
        if case["op"] == "insert defaults":
            peer.do(first | {"op": "store", "namespace": None, "importance": None})
            (row,) = peer.store.read().to_dicts()
            named = {"namespace": row["scope"], "importance": row["importance"]}
            version = uuid.UUID(row["id"]).version
            return named | {"id": f"uuid{version}"} == {n: case[n] for n in (*named, "id")}
        peer.do(first)
        execute(peer.path, "UPDATE memories SET superseded_by = 'x', embedding = x'00000000'")
        before = _row(peer.path)
        op = case["op"].split()[0]
        again = {"op": op, "content": "咖啡", "category": "daily", "session_id": "s2"}
        peer.do(first | again | {"namespace": None, "importance": None})
        after = _row(peer.path)
        changed = sorted(name for name in before if before[name] != after[name])
        kept = sorted({*before} - {*changed, "key"})
        hidden = peer.store.read()["superseded_by"].to_list() == ["key:x"]
        return (changed, kept) == (
            sorted(case["columns_changed"]),
            sorted(case["columns_kept"]),
        ) and hidden


def _row(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return dict(connection.execute("SELECT * FROM memories").fetchone())


def entry(case):
    """An entry of `memory_export`, read by a mapping as `memops.toml` gives it."""
    from memops.commands.importing import mapped
    from memops.settings import Import

    fields = {
        "id": "id", "key": "key", "text": "content", "created_at": "timestamp",
        "scope": "namespace", "importance": "importance", "superseded_by": "superseded_by",
    }  # fmt: skip
    given, optional = case["entry"], ("namespace", "importance", "superseded_by", "embedding")
    least = {name: value for name, value in given.items() if name not in optional}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export.json"
        path.write_text(json.dumps([given, least | {"id": "id-2"}]), encoding="utf-8")
        records, passed = mapped("export", Import(path, fields))
    whole, short = records.to_dicts()
    wanted = {"id": given["id"], "key": given["key"], "text": given["content"],
              "created_at": instant(given["timestamp"]), "scope": given["namespace"],
              "importance": given["importance"], "superseded_by": None}  # fmt: skip
    rest = {n: given[n] for n in given if n not in fields.values()}
    same = wanted.items() <= whole.items() and json.loads(whole["extra"]) == {"imported": rest}
    plain = wanted | {"id": "id-2", "scope": "default", "importance": 0.5}
    return not passed and same and plain.items() <= short.items()
