"""clawseed: its formats, its scores, its hygiene, and what its tokenizer finds."""

import contextlib
import math
import sqlite3
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memops.stores import clawseed_formats as formats
from memops.stores import clawseed_scores as scores
from memops.stores.clawseed_rows import content_hash, kind_of
from memops.stores.clawseed_snapshot import exported, parsed, would_hydrate
from tests.compat import Unsupported, clawseed_store

NOW = datetime(2026, 7, 20, 12, tzinfo=UTC)


def close(got, case):
    return abs(got - case["expected"]) <= case["tol"]


def similarity(case):
    vectors = (case["a_embedding"], case["b_embedding"])
    weights = None if case["mode"] == "jaccard" else (0.4, 0.4, 0.2)
    return close(scores.similarity(case["a"], case["b"], vectors, weights), case)


def found_conflicts(case):
    given = (case["entries"], case["own_key"], case["new_content"], case["threshold"])
    return scores.conflicting(*given) == case["expected_conflict_ids"]


def default_pair(case):
    total = scores.conflict(case["existing"], case["new"])
    flagged = total > case["threshold"] and case["existing"] != case["new"]
    right = abs(total - case["peer_total"]) <= 1e-6
    return right and flagged == case["peer_flags_conflict"]


def mode_string(case):
    kinds = {"conflict_mode": formats.conflict_mode, "merge_strategy": formats.merge_strategy}
    if case["kind"] not in kinds:
        raise Unsupported
    try:
        return kinds[case["kind"]](case["input"]) == case["output"]
    except ValueError as error:
        return case["output"] == f"ERR {error}"


def blob(case):
    if "hex_le" not in case:
        return all(math.isnan(x) for x in formats.vector_of(formats.vector_bytes([math.nan])))
    data = bytes.fromhex(case["hex_le"])
    decoded = formats.vector_bytes(formats.vector_of(data))
    wanted = formats.vector_bytes(case["vector"])
    return decoded == wanted and ("direction" in case or wanted == data)


def ranked(got, case):
    names = ("id", "vector_score", "keyword_score")
    same = [[row[n] for n in names] for row in got] == [
        [row[n] for n in names] for row in case["expected"]
    ]
    pairs = zip(got, case["expected"], strict=True)
    return same and all(abs(a["score"] - b["score"]) <= case["tol"] for a, b in pairs)


def rrf(case):
    given = [[tuple(item) for item in case[name]] for name in ("vector", "keyword")]
    return ranked(scores.reciprocal_ranks(*given, case["k"], case["limit"]), case)


def weighted(case):
    given = [[tuple(item) for item in case[name]] for name in ("vector", "keyword")]
    weights = (case["vector_weight"], case["keyword_weight"])
    return ranked(scores.weighted_sum(*given, weights, case["limit"]), case)


def decay(case):
    if "age_days" not in case:
        raise Unsupported
    given = (case["score"], case["age_days"], case["category"], case["half_life_days"])
    got = scores.decayed(*given)
    return got is None if case["expected"] is None else close(got, case)


def final(case):
    return close(scores.final_score(case["hybrid"], case["importance"], case["recency"]), case)


def chunk(case):
    if "text" not in case or "expected" not in case:
        raise Unsupported
    got = formats.chunks(case["text"], case["max_tokens"])
    return got == [(c["heading"], c["content"]) for c in case["expected"]]


def snapshot_parse(case):
    return parsed(case["text"]) == [(e["key"], e["content"]) for e in case["expected"]]


def snapshot_export(case):
    if "rows" not in case:
        raise Unsupported
    return exported(case["rows"], case.get("now_local", "")) == case["expected_text"]


def curation(case):
    found = formats.curation(case["text"])
    if not case["ok"] or found is None:
        return case["ok"] == (found is not None)
    return [len(part) for part in found] == [case["n_delete"], case["n_merge"]]


def hydrate(case):
    size = case.get("db_bytes")
    return would_hydrate(size, case["snapshot"]) == case["expected"]


def truncate(case):
    cut = {"consolidation": formats.turn_summary, "curator": formats.curated}[case["fn"]]
    return cut(case["text"], case["max_len"]) == case["expected"]


def autosave(case):
    return formats.skipped_by_autosave(case["content"]) == case["skip"]


def hashed(case):
    if case["text"] is None:
        raise Unsupported
    return content_hash(case["text"]) == case["expected"]


def hygiene(case):
    if "expected_due" in case:
        state = case["state_file"]
        state = state and state.replace("<now-1h>", (NOW - timedelta(hours=1)).isoformat())
        return formats.hygiene_due(state, NOW) == case["expected_due"]
    if "runs" in case:
        return cadence(case["runs"])
    if "cutoff" in case:
        row = {"category": "daily", "superseded_by": None, "updated_at": case["row_updated_at"]}
        gone = bool(formats.pruned([row], "daily", case["cutoff"], 0))
        return gone == case["string_compare_row_lt_cutoff"]
    stamp = lambda days: (NOW - timedelta(days=days)).isoformat()  # noqa: E731
    rows = [
        {**group, "updated_at": stamp(group["age_days"] + i / 1000)}
        for group in case["rows"] or []
        for i in range(group["n"])
    ]
    cutoff = stamp(case["retention_days"])
    gone = formats.pruned(rows, case["category"], cutoff, case["retention_floor"])
    return len(gone) == case["expected_deleted"]


def cadence(runs):
    last, right = None, True
    for run in runs:
        at = NOW + timedelta(hours=run["at_h"])
        report = '{"pruned_conversation_rows": 0, "pruned_daily_rows": 0}'
        state = last and f'{{"last_run_at": "{last.isoformat()}", "last_report": {report}}}'
        due = formats.hygiene_due(state, at)
        right, last = right and due == run["runs"], at if due else last
    return right


def floor(case):
    names = ("min_retention_floor", "daily_retention_floor", "conversation_retention_floor")
    return formats.floor_of(case["category"], *(case[n] for n in names)) == case["expected"]


def category(case):
    known = {"fact": "core", "note": "daily", "session": "conversation"}
    own = {"core", "daily", "conversation"}
    kind = known[kind_of(case["string"])] if case["string"] in own else "custom"
    return kind == case["kind"]


def index(case):
    return formats.index_query(case["query"]) == case["fts_match"]


def tokenizer(case):
    """What clawseed's index finds in a real one, made by our schema for tests."""
    from tests.stores.clawseed_db import build

    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder), [{"content": case["content"]}])
        with contextlib.closing(sqlite3.connect(path)) as connection:
            query = "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?"
            hit = connection.execute(query, [formats.index_query(case["query"])]).fetchone()[0]
    return bool(hit) == case["fts_hit"]


GROUPS = {
    "jaccard": lambda case: close(scores.jaccard(case["a"], case["b"]), case),
    "bm25_overlap": lambda case: close(scores.overlap(case["a"], case["b"]), case),
    "contradiction": lambda case: close(scores.contradiction(case["existing"], case["new"]), case),
    "combined_similarity": similarity,
    "find_text_conflicts": found_conflicts,
    "conflict_default_pairs": default_pair,
    "supersede_text": lambda case: (
        formats.superseded(case["new_key"], case["old_content"]) == case["expected_content"]
    ),
    "mode_strings": mode_string,
    "cosine": lambda case: close(scores.cosine(case["a"], case["b"]), case),
    "embedding_blob": blob,
    "rrf_merge": rrf,
    "weighted_merge": weighted,
    "importance": lambda case: close(scores.importance(case["content"], case["category"]), case),
    "weighted_final_score": final,
    "decay": decay,
    "chunker": chunk,
    "snapshot_parse": snapshot_parse,
    "snapshot_export": snapshot_export,
    "should_hydrate": hydrate,
    "truncate": truncate,
    "autosave_skip": autosave,
    "content_hash": hashed,
    "hygiene": hygiene,
    "retention_floor_resolution": floor,
    "category": category,
    "fts_query": index,
    "fts_cjk": tokenizer,
    "store_scenarios": clawseed_store.scenario,
    "namespaced_scenarios": clawseed_store.scenario,
    "upsert_semantics": clawseed_store.upsert,
    "entry_json": clawseed_store.entry,
    "curator_plan_parse": curation,
    "pipeline_cache_key": lambda case: (
        formats.cache_key(case["query"], case["limit"], case["session_id"], case["namespace"])
        == case["expected"]
    ),
}

_AGENT = "by nothing: the agent's own machinery, which memops never calls"
REASONS = {
    "curator_prompt": "by nothing: memops sends no memories to a model",
    "embeddings_url": "by an encoder that asks an endpoint",
    "embedding_provider_factory": "by an encoder that asks an endpoint",
    "user_profile": "by nothing: a feature of its own, beside the memories",
    "": _AGENT,
}
