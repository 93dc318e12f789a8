"""clawseed's own rules: its scores, what it cuts, skips and prunes, its modes and its index.

Ported from clawseed-memory at 06bebf7 (the file is named beside each), word lists without word
boundaries, white-space tokens and cuts at bytes included. What memops itself needs of clawseed's
ways (its chunker, its fusion, its snapshot file) stands in memops.
"""

import json
import math
import re
import struct
from datetime import datetime, timedelta

from tests.compat.fused import best

CADENCE = timedelta(hours=12)
THRESHOLD = 0.6

_NEGATIONS = ("not", "doesn't", "don't", "never", "no", "hates", "dislikes", "won't")
_PREFERENCES = ("prefers", "likes", "favorite", "favourite", "loves")
_ABSOLUTES = ("always", "forever", "every", "all")
_CHANGES = ("now", "currently", "recently", "lately", "switched", "changed")
_IMPORTANT = (
    "decision", "always", "never", "important", "critical", "must", "requirement", "policy", "rule", "principle",
)  # fmt: skip
_BASES = {"core": 0.7, "daily": 0.3, "conversation": 0.2}
_SKIPPED = ("[cron:", "[heartbeat", "[distilled_")


def jaccard(a, b):
    """conflict.rs jaccard_similarity: two texts without tokens are the same."""
    left, right = set(a.split()), set(b.split())
    if not left or not right:
        return 1.0 if left == right else 0.0
    return len(left & right) / len(left | right)


def overlap(a, b):
    """conflict.rs bm25_overlap, which is no BM25."""
    left, right = set(a.split()), set(b.split())
    if not left or not right:
        return 1.0 if left == right else 0.0
    return len(left & right) / max(len(left), len(right))


def cosine(a, b):
    """vector.rs cosine_similarity, within 0 and 1."""
    if len(a) != len(b) or not a:
        return 0.0
    norm = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    if not math.isfinite(norm) or norm < 2.220446049250313e-16:
        return 0.0
    value = sum(x * y for x, y in zip(a, b, strict=True)) / norm
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0


def similarity(a, b, vectors=(None, None), weights=(0.4, 0.4, 0.2)):
    """conflict.rs combined_similarity: Jaccard alone without weights or a vector."""
    one, other = vectors
    if weights is None or one is None or other is None:
        return jaccard(a, b)
    parts = (jaccard(a, b), cosine(one, other), overlap(a, b))
    return sum(weight * part for weight, part in zip(weights, parts, strict=True))


def contradiction(existing, new):
    """conflict.rs detect_contradiction_signals: negation 0.4, preference 0.3, time 0.3."""
    old, fresh = _lower(existing), _lower(new)
    same = jaccard(old, fresh)
    negated = _any(_NEGATIONS, old) != _any(_NEGATIONS, fresh) and same > 0.3
    preferred = _any(_PREFERENCES, old) and _any(_PREFERENCES, fresh) and old != fresh
    changed = _any(_ABSOLUTES, old) and _any(_CHANGES, fresh) and same > 0.2
    return min(0.4 * negated + 0.3 * preferred + 0.3 * changed, 1.0)


def conflict(existing, new):
    """conflict.rs find_text_conflicts: no vector ever takes part."""
    return jaccard(existing, new) + 0.3 * contradiction(existing, new)


def conflicting(rows, key, content, threshold=THRESHOLD):
    """conflict.rs find_text_conflicts: the ids that a new core memory would supersede."""
    return [
        row["id"]
        for row in rows
        if row.get("category", "core") == "core"
        and row.get("superseded_by") is None
        and row["key"] != key
        and not row["content"].startswith("[SUPERSEDED")
        and row["content"] != content
        and conflict(row["content"], content) > threshold
    ]


def superseded(key, content):
    """conflict.rs check_and_resolve_conflicts: what it leaves of a memory that another replaced."""
    return f"[SUPERSEDED by '{key}'] {content}"


def importance(content, category):
    """importance.rs compute_importance."""
    found = sum(word in _lower(content) for word in _IMPORTANT)
    return min(1.0, _BASES.get(category, 0.4) + min(0.1 * found, 0.2))


def final_score(hybrid, important, recency):
    """importance.rs weighted_final_score."""
    return 0.7 * hybrid + 0.2 * important + 0.1 * recency


def decayed(score, age_days, category, half_life=7.0):
    """decay.rs apply_time_decay: core, unscored and undated rows keep theirs."""
    if score is None or age_days is None or category == "core":
        return score
    days = int(max(age_days, 0.0) * 86_400) / 86_400
    return score * math.exp(-days / (half_life if half_life > 0 else 7.0) * math.log(2))


def weighted_sum(vector, keyword, weights, limit):
    """vector.rs hybrid_merge: raw vector scores, keyword scores over their largest."""
    most = max((score for _, score in keyword), default=0.0)
    most = most if most >= 1.1920929e-07 else 1.0
    made = {id_: {"id": id_, "vector_score": score} for id_, score in vector}
    for id_, score in keyword:
        made.setdefault(id_, {"id": id_, "vector_score": None})["keyword_score"] = score / most
    for entry in made.values():
        parts = (entry["vector_score"] or 0.0, entry.get("keyword_score") or 0.0)
        entry["score"] = weights[0] * parts[0] + weights[1] * parts[1]
    return best(made, limit)


def vector_bytes(vector):
    """vector.rs vec_to_bytes: little-endian 32-bit floats, no header."""
    return struct.pack(f"<{len(vector)}f", *vector)


def vector_of(blob):
    """vector.rs bytes_to_vec: up to three bytes too many are dropped."""
    whole = len(blob) // 4
    return list(struct.unpack(f"<{whole}f", blob[: 4 * whole]))


def turn_summary(text, most=50):
    """consolidation.rs truncate_content: noise lines out, cut at some 50 bytes."""
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    kept = " ".join(
        line for line in lines if line.strip() and not line.strip().startswith(("[", "#"))
    )
    return kept if len(kept.encode()) <= most else _cut(kept, most)


def curated(text, most=50):
    """curator.rs truncate_content: whole up to 50 characters, else cut at 50 bytes."""
    return text if len(text) <= most else _cut(text, most)


def _cut(text, most):
    kept, size = "", 0
    for char in text:
        if size >= most:
            break
        kept, size = kept + char, size + len(char.encode())
    return (kept[: kept.rindex(" ")] if " " in kept else kept) + "…"


def curation(text):
    """curator.rs get_curate_plan: keys to delete, (keys, text) merges; None for what is no plan."""
    trimmed = text.strip()
    inner = next(
        (trimmed.removeprefix(f) for f in ("```json", "```") if trimmed.startswith(f)), trimmed
    )
    inner = inner.removesuffix("```") if inner.endswith("```") else trimmed
    try:
        said = json.loads(inner.strip())
        merges = [(_texts(m["keys"]), _text(m["merged_content"])) for m in said["merge"]]
        return _texts(said["delete"]), merges
    except (ValueError, KeyError, TypeError):
        return None


def _texts(value):
    if not isinstance(value, list):
        raise TypeError(value)
    return [_text(item) for item in value]


def _text(value):
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def skipped_by_autosave(content):
    """lib.rs should_skip_autosave_content."""
    trimmed = content.lstrip()
    return (
        not trimmed
        or trimmed.startswith(_SKIPPED)
        or trimmed.lower().startswith("[memory context]")
    )


def index_query(text):
    """sqlite.rs: every word quoted, joined by OR; a quotation mark inside makes it an error."""
    return " OR ".join(f'"{word}"' for word in text.split())


def cache_key(query, limit, session, namespace):
    """retrieval.rs: the key of a cached recall; times are no part of it."""
    return f"{query}:{limit}:{session}:{namespace}"


def floor_of(category, general, daily, conversation):
    """schema/mod.rs effective_retention_floor."""
    own = {"daily": daily, "conversation": conversation}.get(category)
    return own if own is not None else general or 0


def pruned(rows, category, cutoff, floor):
    """hygiene.rs prune_category_rows: the rows that go; times are compared as text.

    With a floor that bites only the oldest live rows go, and superseded ones stay for ever.
    """
    mine = [row for row in rows if row["category"] == category]
    old = [row for row in mine if row["updated_at"] < cutoff]
    live = sum(row["superseded_by"] is None for row in mine)
    expired = sorted(
        (row for row in old if row["superseded_by"] is None), key=lambda row: row["updated_at"]
    )
    if floor == 0:
        return old
    if live <= floor:
        return []
    return old if len(expired) <= live - floor else expired[: live - floor]


def hygiene_due(state, now):
    """hygiene.rs should_run_now, by the text of its state file; None is no file."""
    try:
        found = json.loads(state or "")
        report = found["last_report"]
        counts = [report["pruned_conversation_rows"], report["pruned_daily_rows"]]
        at = datetime.fromisoformat(found["last_run_at"])
    except (ValueError, KeyError, TypeError):
        return True
    return (
        at.tzinfo is None
        or not all(type(n) is int and n >= 0 for n in counts)
        or now - at >= CADENCE
    )


def would_hydrate(database_bytes, snapshot):
    """snapshot.rs should_hydrate; None is a missing database."""
    return snapshot and (database_bytes is None or database_bytes < 4096)


def conflict_mode(text):
    """memory_traits.rs ConflictMode in its canonical form; raises ValueError as clawseed words it."""
    lower = _lower(text)
    if lower in ("jaccard", "combined"):
        return lower if lower == "jaccard" else "combined(j=0.4,c=0.4,b=0.2)"
    if not (lower.startswith("combined(") and lower.endswith(")")):
        raise ValueError(
            f"unknown ConflictMode: '{text}', expected 'jaccard', 'combined', or 'combined(j=...,c=...,b=...)'"
        )
    return _canonical(lower, text, "combined", ("j", "c", "b"), "invalid combined weights")


def merge_strategy(text):
    """memory_traits.rs MergeStrategy in its canonical form; raises ValueError as clawseed words it."""
    lower = _lower(text)
    if lower in ("rrf", "weighted"):
        return "rrf(k=60)" if lower == "rrf" else "weighted(v=0.7,kw=0.3)"
    for name, parts in (("rrf", ("k",)), ("weighted", ("v", "kw"))):
        if lower.startswith(f"{name}(") and lower.endswith(")"):
            return _canonical(lower, text, name, parts, f"invalid {name} format")
    known = "expected 'rrf', 'weighted', 'rrf(k=...)', or 'weighted(v=...,kw=...)'"
    raise ValueError(f"unknown MergeStrategy: '{text}', {known}")


def _canonical(lower, text, name, parts, wrong):
    """Parts that it does not know are passed over; of one that stands twice the last counts."""
    number = r"\d+" if name == "rrf" else r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
    given = dict(part.strip().partition("=")[::2] for part in lower[len(name) + 1 : -1].split(","))
    if not all(re.fullmatch(number, given.get(part, "")) for part in parts):
        raise ValueError(f"{wrong}: '{text}'")
    return f"{name}({','.join(f'{part}={float(given[part]):g}' for part in parts)})"


def _any(words, text):
    return any(word in text for word in words)


def _lower(text):
    """ASCII letters only, as Rust's to_ascii_lowercase."""
    return "".join(char.lower() if char.isascii() else char for char in text)
