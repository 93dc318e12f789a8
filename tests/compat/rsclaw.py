"""rsclaw: bytes of rows, summaries, scopes, relevance, tiers, and what its API answers."""

import json
import struct
from datetime import UTC, datetime, timedelta
from urllib.error import HTTPError
from urllib.request import urlopen

import polars as pl

from memops.errors import Incomplete, Unauthorised
from memops.hygiene.decay import half_life, relevance
from memops.policy.hygiene import Decay
from memops.schema import from_rows
from memops.stores import open_store
from memops.stores.rsclaw.docs import (
    DOCS,
    FIELDS,
    Doc,
    abstract,
    acceptable,
    document,
    overview,
    packed,
    to_records,
    unpacked,
)
from memops.stores.rsclaw.sessions import default_scope
from tests.compat import Unsupported, rows_of
from tests.compat import fused as recall
from tests.compat import rsclaw_rules as rules
from tests.compat.profiles import profile_run
from tests.stores.rsclaw_gateway import TOKEN, Gateway, doc

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
    tier = value(given, rules.tier(now, PARITY), now).capitalize()
    newly = tier == "Core" != given["tier"] and not given["pinned"]
    return {"tier": tier, "newly_core": newly} == case["expected"]


def insert_normalisation(case):
    given = case["input"] | {"created_at": NOW.timestamp()}  # 0 on insert becomes now
    return value(given, rules.tier(NOW, PARITY)).capitalize() == case["expected"]["tier"]


def relevance_score(case):
    got = value(case["input"], relevance(NOW, PARITY, floored=True))
    return close(got, case["expected"]["score"])


def effective_half_life(case):
    return close(value(case["input"], half_life(PARITY)), case["expected"]["days"])


def adjust_importance(case):
    got = value(case["input"], rules.adjusted(case["input"]["delta"]))
    return close(got, case["expected"]["importance"])


def redb_value(case):
    given, wanted = case["input"], case["expected"]
    if "json" in given:
        kept = document(_record(given["json"])).fields
        survives = set(kept) > set(given["json"]) - {"superseded_by"} and "superseded_by" in kept
        # memops keeps what it does not know; rsclaw loses it at its next write of the row.
        lost = set(given["json"]) - set(FIELDS)
        right = wanted["field_survives_next_persist"] == (not lost)
        return acceptable(given["json"]) == wanted["loads"] and survives and right
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
    """What a gateway in this state answers to the request, and what reading it makes of that."""
    given, wanted = case["input"], case["expected"]
    gateway = _gateway(given)
    try:
        asked = [_get(gateway, given) for _ in range(given.get("requests_in_60s_from_one_ip", 1))]
        right = _answered(*asked[-1], gateway, wanted)
        before, read = len(asked), _read(gateway)
    finally:
        gateway.shutdown()
        gateway.server_close()
    status, body = asked[-1]
    refused = {401: Unauthorised.code, 429: Incomplete.code}.get(status)
    empty = Incomplete.code if body.get("total") == 0 and gateway.docs else None
    paths = [path for path, _ in gateway.seen[before:]]
    polite = all("limit=1000" in path for path in paths if "/docs" in path) and not any(
        "q=" in p for p in paths
    )
    return right and polite and read == (refused or empty or len(gateway.docs))


def _gateway(given):
    token = TOKEN if given.get("token_configured") else None
    docs = [doc(n, "ab"[n % 2]) for n in range(given.get("docs_in_store", 3))]
    tricks = {}
    if given.get("gateway_holds_redb"):
        tricks["always"] = lambda handler: handler.answer({"docs": [], "total": 0})
    limit = 101 if "requests_in_60s_from_one_ip" in given else 10**6
    refuse = lambda handler: handler.answer({"error": "rate limit exceeded"}, 429)
    return Gateway(docs, token, tricks or dict.fromkeys(range(limit, limit + 400), refuse))


def _get(gateway, given):
    method, path = given.get("request", "GET /api/v1/memory/stats").split()
    if method != "GET" or given.get("auth") is not None:
        raise Unsupported
    try:
        with urlopen(gateway.url + path) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


def _answered(status, body, gateway, wanted):
    got = {
        "status": status,
        "body": body,
        "returned": len(body.get("docs", ())),
        "total": body.get("total"),
    }
    got["access_count_bumped"] = any(d["access_count"] for d in gateway.docs)
    return all(got[name] == value for name, value in wanted.items())


def _read(gateway):
    """How many rows memops reads through the gateway, or the code that it ends with."""
    store = open_store(f"rsclaw:{gateway.url}")
    store.pause = 0.001
    try:
        return store.read().height
    except (Incomplete, Unauthorised) as error:
        return error.code


def normalize_memory_scope(case):
    given = case["input"]
    return {"scope": rules.scope_of(given["scope"], given["agent_id"])} == case["expected"]


def normalized_identity(case):
    same = rules.identity(case["input"]["a"]) == rules.identity(case["input"]["b"])
    return {"same": same} == case["expected"]


def exact_dedup(case):
    names = ("id", "scope", "kind", "text", "importance", "pinned", "tags")
    kept = rules.stored_again(
        *(rows_of([case["input"][n]], *names)[0] for n in ("first", "second"))
    )
    expected = {**case["expected"]}
    uses = expected.pop("access_count_min")
    return kept["access_count"] >= uses and expected.items() <= ({"docs": 1} | kept).items()


def refresh_duplicate(case):
    given, expected = case["input"], case["expected"]
    importance = given["importance"]
    if "doc" not in given:
        return bool(given["id"]) and not expected["found"]  # there is none to refresh
    got = rules.refreshed(given["doc"], importance)
    uses = expected.get("access_count", got["access_count"])
    return (
        expected["found"]
        and got["importance"] >= expected["importance_min"]
        and got["access_count"] == uses
    )


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
    found = profile_run("rsclaw", from_rows(rows), queries, 5)["doc_id"].to_list()
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
        rules.extracted(case["input"]["raw"]) == case["expected"]["items"]
    ),
    "heartbeat_type": lambda case: (
        rules.heartbeat_type(case["input"]["heartbeat_md"]) == case["expected"]["type"]
    ),
    "slugify": lambda case: rules.slug(case["input"]["name"]) == case["expected"]["slug"],
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
        rules.tool_document(case["input"]["kind"]) == case["expected"]
    ),
    "kind_policy": lambda case: rules.extracted_document(case["input"]["kind"]) == case["expected"],
    "normalized_identity": normalized_identity,
    "memory_age_label": lambda case: (
        rules.age_label(case["input"]["age_days"]) == case["expected"]["label"]
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
