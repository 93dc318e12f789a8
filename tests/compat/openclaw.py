"""OpenClaw's paths and line annotations, as the store reads them."""

import hashlib
import tempfile
from datetime import UTC, datetime, time
from pathlib import Path

from memops.documents.units import Place
from memops.stores.markdown.fields import day_in
from memops.stores.openclaw import OpenClaw, home
from memops.stores.openclaw.grammar import DATED
from memops.stores.openclaw.provenance import rows
from memops.stores.openclaw.repair import repairs
from tests.compat import Unsupported, rows_of
from tests.compat import openclaw_index as formats
from tests.compat import openclaw_search as search
from tests.compat.openclaw_index import after_write
from tests.stores import openclaw_state

STORE = OpenClaw("workspace")
HIT = (
    "id", "path", "startLine", "endLine", "source", "snippet", "score", "vectorScore", "textScore", "importance",
    "projectKey",
)  # fmt: skip


def dated_path(case):
    found = DATED.match(case["input"])
    day = day_in(found[1]) if found else None
    evergreen = STORE.wanted(case["input"]) and found is None
    return {"date": day and day.isoformat(), "evergreen": evergreen} == case["expected"]


def strip_annotations(case):
    prefix, text, _, _ = STORE.grammar.split(case["input"], Place("MEMORY.md"), "item")
    return prefix + text == case["expected"]


def recall_metadata(case):
    places = {(True, True): "MEMORY.md", (True, False): "USER.md", (False, True): "memory/topic.md"}
    path = places[case["input"]["curatedRoot"], case["input"]["projectScopeEligible"]]
    *_, fields = STORE.grammar.split(case["input"]["line"], Place(path), "item")
    native = fields.get("_native", {})
    found = {
        "importance": native.get("importance"),
        "triggers": "; ".join(native.get("triggers", [])) or None,
        "projectKey": native.get("project"),
    }
    return found == case["expected"]


def provenance_tracked_path(case):
    path = case["input"]
    written = STORE.wanted(path) and STORE.reads(path) and path.endswith(".md")
    *_, fields = STORE.grammar.split("- a", Place(path), "item")
    return (path if written and not fields["_readonly"] else None) == case["expected"]


def close(got, wanted):
    return abs(got - wanted) < 1e-9


def hybrid_merge(case):
    given = case["input"]
    now, decay = given.get("nowMs"), given.get("temporalDecay", {})
    if decay.get("halfLifeDays", search.HALF_LIFE_DAYS) != search.HALF_LIFE_DAYS:
        raise Unsupported
    now = now if decay.get("enabled") else None
    legs = [[_aged(hit, now) for hit in rows_of(given[leg], *HIT)] for leg in ("vector", "keyword")]
    weights = (given["vectorWeight"], given["textWeight"])
    found = search.merged(*legs, weights, given.get("activeProjectKeys", ()))
    if given.get("mmr", {}).get("enabled"):
        found = search.diversified(found, given["mmr"]["lambda"])
    wanted = case["expected"]
    names = [(hit["path"], hit["snippet"]) for hit in found]
    same = names == [(hit["path"], hit["snippet"]) for hit in wanted]
    return same and all(close(a["score"], b["score"]) for a, b in zip(found, wanted, strict=True))


def _aged(hit, now):
    dated = DATED.match(hit["path"]) if now else None
    at = datetime.combine(day_in(dated[1]), time(), UTC) if dated else None
    return hit | ({"ageDays": now / 86_400_000 - at.timestamp() / 86_400} if at else {})


def hybrid_select(case):
    given = case["input"]
    legs = (rows_of(given[leg], *HIT) for leg in ("merged", "keyword"))
    found = search.selected(*legs, given["maxResults"], given["minScore"])
    return [hit["path"] for hit in found] == case["expected"]


def age_vs_min_score(case):
    given = case["input"]
    if not given["another_strict_hit"] or given["halfLifeDays"] != search.HALF_LIFE_DAYS:
        raise Unsupported
    strict = {
        "id": "other",
        "path": "MEMORY.md",
        "score": 1.0,
        "vectorScore": 1.0,
        "textScore": 1.0,
    }
    hit = {"id": "x", "path": "memory/2026-01-01.md"} | given
    found = search.merged([hit], [])
    shown = search.selected([strict, *found], [], 10, given["minScore"])
    right = abs(found[0]["score"] - case["expected"]["score"]) < 6e-4
    return right and (found[0] in shown) == case["expected"]["returned"]


def mmr_rerank(case):
    given = case["input"]
    found = rows_of(given["items"], "id", "score", "snippet")
    if given["config"]["enabled"]:
        found = search.diversified(found, given["config"]["lambda"])
    return [item["id"] for item in found] == case["expected"]


def mmr_score(case):
    given = case["input"]
    got = search.marginal(given["relevance"], given["maxSimilarity"], given["lambda"])
    return close(got, case["expected"])


def extract_keywords(case):
    given = case["input"]
    return (
        search.keywords(given["query"], given.get("ftsTokenizer", "unicode61")) == case["expected"]
    )


def temporal_decay(case):
    given = case["input"]
    got = search.faded(given["score"], given["ageInDays"], given["halfLifeDays"])
    return close(got, case["expected"])


def project_multiplier(case):
    given = case["input"]
    return close(search.project_factor(given["projectKey"], given["active"]), case["expected"])


def chunk_markdown(case):
    given = case["input"]
    content = given["content"] if isinstance(given["content"], str) else _whole(given["content"])
    options = dict(given["options"])
    per_entry = options.pop("perEntry", False)
    names = ("startLine", "endLine", "chars", "sha256")
    got = [
        dict(zip(names, (c.start, c.end, len(c.text), c.hash), strict=True))
        | (dict(zip(("entryStartLine", "entryEndLine"), c.entry, strict=True)) if c.entry else {})
        for c in formats.chunks(content, per_entry=per_entry, **options)
    ]
    return got == case["expected"]


def _whole(content):
    """A long text, which the vector gives with its length, hash and beginning."""
    full, name = content["full"], content["pattern"]
    digest = hashlib.sha256(full.encode()).hexdigest()
    assert (len(full), digest) == (content["length"], content["sha256"]) and full.startswith(
        content["head"]
    ), name
    return full


def chunk_id(case):
    given = case["input"]
    chunk = formats.Chunk(given["startLine"], given["endLine"], given["chunkText"])
    made = formats.chunk_id(given["source"], given["path"], chunk, given["model"])
    return {"chunkHash": chunk.hash, "id": made} == case["expected"]


def entry_key(case):
    given = case["input"]
    names = ("source", "path", "startLine", "endLine", "claimHash")
    return formats.entry_key(*(given[n] for n in names)) == case["expected"]


def provenance_ratchet(case):
    """What the agent's next write makes of a file that was edited, once its row is mended."""
    origin = {"row deleted": "untrusted", "foreign edit + fileHash=sha256(new content)": "agent"}[
        case["input"][0]
    ]
    if case["input"][1:] != ["agent write"]:
        raise Unsupported
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        root.mkdir()
        note = root / "MEMORY.md"
        note.write_text("# Memory\n\n- tea\n")
        openclaw_state.keep(root, {"MEMORY.md": (origin, None)})
        note.write_text("# Memory\n\n- 咖啡\n")
        (found,) = repairs(OpenClaw(str(root)))
        found.carry_out()
        kept = rows(home(root), root)
        now = [row.origin for row in kept] or ["agent"]  # no row: OpenClaw takes it for the agent's
        known = (kept[0].file_hash, kept[0].origin) if kept else None
        written = after_write(known, note.read_bytes(), b"# Memory\n")
    return (origin == "untrusted") == (not kept) and [*now, written[1]] == case["expected"]


GROUPS = {
    "provenance_ratchet": provenance_ratchet,
    "dated_path": dated_path,
    "strip_annotations": strip_annotations,
    "recall_metadata": recall_metadata,
    "provenance_tracked_path": provenance_tracked_path,
    "build_fts_query": lambda case: search.fts_query(case["input"]) == case["expected"],
    "bm25_rank_to_score": lambda case: close(
        search.rank_score(float(case["input"])), case["expected"]
    ),
    "extract_keywords": extract_keywords,
    "exact_path_specificity": lambda case: (
        formats.path_specificity(**case["input"]) == case["expected"]
    ),
    "tokenize_mmr": lambda case: search.shingles(case["input"]) == set(case["expected"]),
    "text_similarity": lambda case: close(search.likeness(case["input"])[0, 1], case["expected"]),
    "mmr_score": mmr_score,
    "mmr_rerank": mmr_rerank,
    "temporal_decay": temporal_decay,
    "importance_multiplier": lambda case: close(
        search.importance_factor(case["input"]), case["expected"]
    ),
    "project_multiplier": project_multiplier,
    "hybrid_merge": hybrid_merge,
    "hybrid_select": hybrid_select,
    "age_vs_min_score": age_vs_min_score,
    "estimate_string_chars": lambda case: search.weight(case["input"]) == case["expected"],
    "chunk_markdown": chunk_markdown,
    "chunk_id": chunk_id,
    "promotion_entry_key": entry_key,
    "promotion_query_hash": lambda case: formats.query_hash(case["input"]) == case["expected"],
    "promotion_short_term_path": lambda case: (
        formats.is_short_term(case["input"]) == case["expected"]
    ),
}

REASONS = {
    "redact_sensitive_text": "by nothing: memops masks by its own shapes, more of them",
    "": "by parity of OpenClaw's promotion and compaction, which memops grades and does not repeat",
}
