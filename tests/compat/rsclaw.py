"""rsclaw: bytes of rows, summaries, scopes, relevance, tiers, and what its API answers."""

import struct
from datetime import UTC, datetime, timedelta

import polars as pl

from memops.errors import Incomplete, Unauthorised
from memops.hygiene.decay import adjusted, half_life, relevance, rsclaw_tier
from memops.policy.hygiene import Decay
from memops.schema import from_rows
from memops.search import rsclaw as recall
from memops.search.profiles import profile_run
from memops.stores import open_store
from memops.stores import rsclaw_formats as formats
from memops.stores import rsclaw_parsing as parsing
from memops.stores.rsclaw_docs import (
    DOCS,
    Doc,
    abstract,
    acceptable,
    document,
    overview,
    packed,
    to_records,
    unpacked,
)
from memops.stores.rsclaw_transcripts import default_scope
from tests.compat import Unsupported
from tests.stores.rsclaw_gateway import Gateway, doc

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PARITY = Decay(model="rsclaw", clock="created")


def value(given, expr, now=NOW):
    row = {"id": "x", "tier": given.get("tier", "Working").lower(), "kind": "fact"}
    row |= {name: given[name] for name in ("importance", "access_count", "pinned") if name in given}
    if "age_days" in given:
        row["created_at"] = now - timedelta(days=given["age_days"])
    elif "created_at" in given:
        row["created_at"] = datetime.fromtimestamp(given["created_at"], UTC)
    return from_rows([row]).select(x=expr)["x"][0]


def close(got, wanted):
    return abs(got - wanted) <= 1e-3


def tier_transition(case):
    given = case["input"]
    now = datetime.fromtimestamp(given["now"], UTC) if "now" in given else NOW
    tier = value(given, rsclaw_tier(now, PARITY), now).capitalize()
    newly = tier == "Core" != given["tier"] and not given["pinned"]
    return {"tier": tier, "newly_core": newly} == case["expected"]


def insert_normalisation(case):
    given = case["input"] | {"created_at": NOW.timestamp()}  # 0 on insert becomes now
    return value(given, rsclaw_tier(NOW, PARITY)).capitalize() == case["expected"]["tier"]


def relevance_score(case):
    got = value(case["input"], relevance(NOW, PARITY, floored=True))
    return close(got, case["expected"]["score"])


def effective_half_life(case):
    return close(value(case["input"], half_life(PARITY)), case["expected"]["days"])


def adjust_importance(case):
    got = value(case["input"], adjusted(case["input"]["delta"]))
    return close(got, case["expected"]["importance"])


def redb_value(case):
    given, wanted = case["input"], case["expected"]
    if "json" in given:
        kept = document(_record(given["json"])).fields
        survives = set(kept) > set(given["json"]) - {"superseded_by"} and "superseded_by" in kept
        # memops keeps what it does not know; rsclaw loses it at its next write of the row.
        return acceptable(given["json"]) == wanted["loads"] and survives
    vector = struct.pack(f"<{len(given['vector'])}f", *given["vector"])
    bytes_ = packed(given["doc"], vector)
    return bytes_.hex() == wanted["hex"] and unpacked(bytes_) == (vector, given["doc"])


def _record(fields):
    return to_records([Doc(DOCS, fields["id"], fields)]).row(0, named=True)


def abstract_overview(case):
    text = case["input"]["text"]
    got = {"abstract_text": abstract(text), "overview_text": overview(text)}
    return got == case["expected"]


def default_memory_scope(case):
    given = case["input"]
    return default_scope(given["agent_id"], given["channel"]) == case["expected"]["scope"]


def http(case):
    """What a gateway answers, as our own stand-in does, and what reading makes of it."""
    return _HTTP[case["name"]](case["expected"])


def _reading(**given):
    gateway = Gateway(**given)
    store = open_store(f"rsclaw:{gateway.url}")
    store.pause = 0.001
    try:
        return store.read().height, gateway.seen
    except (Incomplete, Unauthorised) as error:
        return error.code, gateway.seen
    finally:
        gateway.shutdown()
        gateway.server_close()


def _answering(status, body):
    return {"always": lambda handler: handler.answer(body, status)}


def _limited(expected):
    docs = [doc(n, ["a", "b"][n % 2]) for n in range(expected["total"])]
    got, seen = _reading(docs=docs)
    return got == expected["total"] and all("limit=1000" in p for p, _ in seen if "docs" in p)


_HTTP = {
    "unauthorized": lambda e: _reading(tricks=_answering(e["status"], e["body"]))[0] == 12,
    "open_when_no_token": lambda e: _reading(token=None)[0] == 3,
    "limit_default": _limited,
    "limit_hard_cap": _limited,
    "snapshot_lock_reads_as_empty": lambda e: (
        _reading(tricks=_answering(e["status"], e["body"]))[0] == 21
    ),
    "search_mutates": lambda e: not any("q=" in path for path, _ in _reading()[1]),
    "rate_limit": lambda e: _reading(tricks=_answering(e["status"], e["body"]))[0] == 21,
}


def normalize_memory_scope(case):
    given = case["input"]
    return {"scope": formats.scope_of(given["scope"], given["agent_id"])} == case["expected"]


def normalized_identity(case):
    same = formats.identity(case["input"]["a"]) == formats.identity(case["input"]["b"])
    return {"same": same} == case["expected"]


def exact_dedup(case):
    kept = formats.stored_again(case["input"]["first"], case["input"]["second"])
    expected = {**case["expected"]}
    uses = expected.pop("access_count_min")
    return kept["access_count"] >= uses and expected.items() <= ({"docs": 1} | kept).items()


def refresh_duplicate(case):
    document, expected = case["input"].get("doc"), case["expected"]
    if document is None:
        return not expected["found"]  # there is none to refresh
    got = formats.refreshed(document, case["input"]["importance"])
    uses = expected.get("access_count", got["access_count"])
    return got["importance"] >= expected["importance_min"] and got["access_count"] == uses


def rrf_fuse(case):
    given, wanted = case["input"], case["expected"]
    ids = sorted(given["docs"])
    priors = [value(given["docs"][id_], recall.prior(NOW)) for id_ in ids]
    legs = [[ids.index(id_) for id_ in given[leg]] for leg in ("vector_hits", "bm25_hits")]
    found = [(ids[row], score) for row, score in recall.fused(legs, priors)][: given["top_k"]]
    scores = wanted["scores"]
    return [id_ for id_, _ in found] == wanted["order"] and all(
        abs(score - scores[id_]) <= 1e-6 for id_, score in found
    )


def hybrid_fanout(case):
    wide = recall.fanout(case["input"]["top_k"])
    return case["expected"] == {
        "vector_k": wide.vectors, "bm25_k": wide.words, "bm25_scan_with_scope": wide.scanned,
        "rrf_k": recall.RRF_K,
    }  # fmt: skip


def bm25(case):
    if case["version"] == "snapshot":
        raise Unsupported
    given, wanted = case["input"], case["expected"]
    rows = []
    for id_, held in given["docs"].items():
        scope, text = held if isinstance(held, list) else ("default", held)
        rows.append({"id": id_, "scope": scope, "text": text})
    queries = pl.DataFrame(
        {"query_id": ["q"], "text": [given["query"]], "scope": [given.get("scope")]},
        schema_overrides={"scope": pl.String},
    )
    found = profile_run("rsclaw", from_rows(rows), queries, None, 5)["doc_id"].to_list()
    if "first" in wanted:
        return found[0] == wanted["first"]
    return found == wanted["hits"] if "hits" in wanted else wanted["contains"] in found


GROUPS = {
    "rrf_fuse": rrf_fuse,
    "hybrid_fanout": hybrid_fanout,
    "bm25": bm25,
    "exact_dedup": exact_dedup,
    "refresh_duplicate": refresh_duplicate,
    "extractor_parse": lambda case: (
        parsing.extracted(case["input"]["raw"]) == case["expected"]["items"]
    ),
    "heartbeat_type": lambda case: (
        parsing.heartbeat_type(case["input"]["heartbeat_md"]) == case["expected"]["type"]
    ),
    "slugify": lambda case: parsing.slug(case["input"]["name"]) == case["expected"]["slug"],
    "tier_transition": tier_transition,
    "insert_normalisation": insert_normalisation,
    "relevance_score": relevance_score,
    "effective_half_life": effective_half_life,
    "adjust_importance": adjust_importance,
    "redb_value": redb_value,
    "abstract_overview": abstract_overview,
    "default_memory_scope": default_memory_scope,
    "http": http,
    "normalize_memory_scope": normalize_memory_scope,
    "memory_put_defaults": lambda case: (
        formats.tool_document(case["input"]["kind"]) == case["expected"]
    ),
    "kind_policy": lambda case: (
        formats.extracted_document(case["input"]["kind"]) == case["expected"]
    ),
    "normalized_identity": normalized_identity,
    "memory_age_label": lambda case: (
        formats.age_label(case["input"]["age_days"]) == case["expected"]["label"]
    ),
}

_EXTRACTION = "by parity of extraction, which memops does in its own way"
_RETRIEVAL = (
    "by nothing: what the gateway does with what it recalled, or a stand-in of its embedder"
)
_DUPLICATES = "by parity of rsclaw's duplicates, which memops finds by its own signals"
REASONS = {
    **dict.fromkeys(
        ("salience_gate", "correction_gate", "extractor_filter", "entity_scan",
         "compaction_entities", "llm_entities", "auto_capture_note", "lessons_phase"),
        _EXTRACTION,
    ),
    **dict.fromkeys(
        ("auto_recall_gate", "recall_final_k", "recall_max_tokens", "estimate_tokens",
         "recall_feedback_delta", "fnv_embedding"),
        _RETRIEVAL,
    ),
    **dict.fromkeys(
        ("semantic_dup", "supersede_label", "meditation_dedup"),
        _DUPLICATES,
    ),
    **dict.fromkeys(
        ("cjk_tokenizer", "cjk_query_terms"),
        "by nothing: a tokenizer that its memory index does not use",
    ),
    "": "by nothing: the gateway's own machinery (configuration, embedder), which memops never calls",
}  # fmt: skip
