"""clawseed: its formats, its scores, its hygiene, and what its tokenizer finds."""

import contextlib
import math
import sqlite3
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memops.schema import instant
from memops.stores import open_store
from memops.stores.clawseed.categories import kind_of
from memops.stores.clawseed.rows import content_hash
from memops.stores.clawseed.view import exported, parsed
from tests.compat import Unsupported, clawseed_store, rows_of
from tests.compat import clawseed_rules as rules
from tests.compat.clawseed_chunks import chunks
from tests.compat.fused import reciprocal_ranks
from tests.compat.profiles import _substrings

NOW = datetime(2026, 7, 20, 12, tzinfo=UTC)


def close(got, case):
    return abs(got - case["expected"]) <= case["tol"]


def similarity(case):
    vectors = (case["a_embedding"], case["b_embedding"])
    weights = {"jaccard": None, "combined": (0.4, 0.4, 0.2)}[case["mode"]]
    return close(rules.similarity(case["a"], case["b"], vectors, weights), case)


def found_conflicts(case):
    names = ("id", "key", "content", "category", "superseded_by", "embedding")
    rules.conflict_mode(case["mode"])  # the new text has no vector, so every mode comes to Jaccard
    given = (
        rows_of(case["entries"], *names),
        case["own_key"],
        case["new_content"],
        case["threshold"],
    )
    return rules.conflicting(*given) == case["expected_conflict_ids"]


def default_pair(case):
    rules.conflict_mode(case["mode"])
    total = rules.conflict(case["existing"], case["new"])
    flagged = total > case["threshold"] and case["existing"] != case["new"]
    right = abs(total - case["peer_total"]) <= 1e-6
    return right and flagged == case["peer_flags_conflict"]


def mode_string(case):
    kinds = {"conflict_mode": rules.conflict_mode, "merge_strategy": rules.merge_strategy}
    if case["kind"] not in kinds:
        raise Unsupported
    try:
        return kinds[case["kind"]](case["input"]) == case["output"]
    except ValueError as error:
        return case["output"] == f"ERR {error}"


def blob(case):
    vector = [math.nan if x == "NaN" else x for x in case["vector"]]
    wanted = rules.vector_bytes(vector)
    if "hex_le" not in case:
        return rules.vector_bytes(rules.vector_of(wanted)) == wanted
    data = bytes.fromhex(case["hex_le"])
    one_way = case.get("direction")
    if one_way not in (None, "decode"):
        raise KeyError(one_way)
    return rules.vector_bytes(rules.vector_of(data)) == wanted and (bool(one_way) or wanted == data)


def ranked(got, case):
    names = ("id", "vector_score", "keyword_score")
    same = [[row[n] for n in names] for row in got] == [
        [row[n] for n in names] for row in case["expected"]
    ]
    pairs, tol = zip(got, case["expected"], strict=True), case["tol"]
    return same and all(abs(a["score"] - b["score"]) <= tol for a, b in pairs)


def rrf(case):
    given = [[tuple(item) for item in case[name]] for name in ("vector", "keyword")]
    return ranked(reciprocal_ranks(*given, case["k"], case["limit"]), case)


def weighted(case):
    given = [[tuple(item) for item in case[name]] for name in ("vector", "keyword")]
    weights = (case["vector_weight"], case["keyword_weight"])
    return ranked(rules.weighted_sum(*given, weights, case["limit"]), case)


def decay(case):
    age = case.get("age_days")
    if age is None and instant(case["timestamp"]) is not None:
        raise Unsupported  # its age is the peer's clock's
    tol, got = (
        case["tol"],
        rules.decayed(case["score"], age, case["category"], case["half_life_days"]),
    )
    return got is None if case["expected"] is None else abs(got - case["expected"]) <= tol


def final(case):
    return close(rules.final_score(case["hybrid"], case["importance"], case["recency"]), case)


def chunk(case):
    if "text" not in case or "expected" not in case:
        raise Unsupported
    got = chunks(case["text"], case["max_tokens"])
    return list(enumerate(got)) == [
        (c["index"], (c["heading"], c["content"])) for c in case["expected"]
    ]


def snapshot_parse(case):
    return parsed(case["text"]) == [(e["key"], e["content"]) for e in case["expected"]]


def snapshot_export(case):
    if "rows" not in case:
        raise Unsupported
    names = ("key", "content", "category", "created_at", "updated_at")
    text = exported(rows_of(case["rows"], *names), case.get("now_local", ""))
    entries = parsed(text or "")
    told = ("ids", "created_at", "namespace/importance/session/superseded_by")  # in words
    again = (
        rows_of([case["after_hydrate"]], "count", "category", *told)
        if "after_hydrate" in case
        else []
    )
    same = [(row["count"], row["category"]) for row in again] == [(len(entries), "core")] * len(
        again
    )
    return text == case["expected_text"] and len(entries) == case["expected_count"] and same


def curation(case):
    found = rules.curation(case["text"])
    if not case["ok"] or found is None:
        return case["ok"] == (found is not None)
    return [len(part) for part in found] == [case["n_delete"], case["n_merge"]]


def hydrate(case):
    size = case["db_bytes"] if "db_bytes" in case else case["db"]  # none, or its size
    return rules.would_hydrate(size, case["snapshot"]) == case["expected"]


def truncate(case):
    cut = {"consolidation": rules.turn_summary, "curator": rules.curated}[case["fn"]]
    return cut(case["text"], case["max_len"]) == case["expected"]


def autosave(case):
    return rules.skipped_by_autosave(case["content"]) == case["skip"]


def hashed(case):
    if case["text_gen"] is not None:
        raise Unsupported  # its text is told in words
    return content_hash(case["text"]) == case["expected"]


def hygiene(case):
    if "expected_due" in case:
        state = case["state_file"]
        state = state and state.replace("<now-1h>", (NOW - timedelta(hours=1)).isoformat())
        return rules.hygiene_due(state, NOW) == case["expected_due"]
    if "runs" in case:
        return cadence(case["runs"])
    if "cutoff" in case:
        row = {"category": "daily", "superseded_by": None, "updated_at": case["row_updated_at"]}
        gone = bool(rules.pruned([row], "daily", case["cutoff"], 0))
        older = instant(case["row_updated_at"]) < instant(case["cutoff"])
        return (gone, older) == (
            case["string_compare_row_lt_cutoff"],
            case["instant_compare_row_lt_cutoff"],
        )
    stamp = lambda days: (NOW - timedelta(days=days)).isoformat()  # noqa: E731
    rows = [
        {**group, "updated_at": stamp(group["age_days"] + i / 1000)}
        for group in rows_of(case["rows"] or [], "n", "age_days", "category", "superseded_by")
        for i in range(group["n"])
    ]
    days, floor = case["retention_days"], case["retention_floor"]
    category = case["category"]
    gone = rules.pruned(rows, category, stamp(days), floor) if days else []
    if case.get("db_missing", False) != (not rows):
        raise Unsupported
    return len(gone) == case["expected_deleted"] and len(rows) - len(gone) == case.get(
        "expected_remaining", 0
    )


def cadence(runs):
    last, right = None, True
    for run in runs:
        at = NOW + timedelta(hours=run["at_h"])
        report = '{"pruned_conversation_rows": 0, "pruned_daily_rows": 0}'
        state = last and f'{{"last_run_at": "{last.isoformat()}", "last_report": {report}}}'
        due = rules.hygiene_due(state, at)
        right, last = right and due == run["runs"], at if due else last
    return right


def floor(case):
    names = ("min_retention_floor", "daily_retention_floor", "conversation_retention_floor")
    return rules.floor_of(case["category"], *(case[n] for n in names)) == case["expected"]


def category(case):
    known = {"fact": "core", "note": "daily", "session": "conversation"}
    own = {*known.values()}
    kind = known[kind_of(case["string"])] if case["string"] in own else "custom"
    return kind == case["kind"]


def index(case):
    return rules.index_query(case["query"]) == case["fts_match"]


def tokenizer(case):
    """What clawseed's index finds in a real one, made by our schema for tests."""
    from tests.stores.clawseed_db import build

    with tempfile.TemporaryDirectory() as folder:
        if not case["tokenizer"].startswith("unicode61 (default"):
            raise Unsupported
        path = build(Path(folder), [{"content": case["content"]}])
        with contextlib.closing(sqlite3.connect(path)) as connection:
            query = "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?"
            hit = connection.execute(query, [rules.index_query(case["query"])]).fetchone()[0]
        rows = open_store(f"clawseed:{folder}").read()
    held = _substrings(rows, case["query"], 5)
    return (bool(hit), bool(held)) == (case["fts_hit"], case["like_fallback_hit"])


GROUPS = {
    "jaccard": lambda case: close(rules.jaccard(case["a"], case["b"]), case),
    "bm25_overlap": lambda case: close(rules.overlap(case["a"], case["b"]), case),
    "contradiction": lambda case: close(rules.contradiction(case["existing"], case["new"]), case),
    "combined_similarity": similarity,
    "find_text_conflicts": found_conflicts,
    "conflict_default_pairs": default_pair,
    "supersede_text": lambda case: (
        rules.superseded(case["new_key"], case["old_content"]) == case["expected_content"]
        and case["expected_superseded_by_column"] is None  # it has nothing but the text
    ),
    "mode_strings": mode_string,
    "cosine": lambda case: close(rules.cosine(case["a"], case["b"]), case),
    "embedding_blob": blob,
    "rrf_merge": rrf,
    "weighted_merge": weighted,
    "importance": lambda case: close(rules.importance(case["content"], case["category"]), case),
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
        rules.cache_key(case["query"], case["limit"], case["session_id"], case["namespace"])
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
