"""clawseed's own scores, reproduced exactly, word lists and all, to compare with ours.

Nothing here decides anything in memops: substring lists without word boundaries, white-space
tokens and a threshold that only ever sees Jaccard are what its stores were made with. Formulas are
those of clawseed-memory (conflict.rs, vector.rs, importance.rs, decay.rs) at 06bebf7.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

THRESHOLD = 0.6
"""Above it, two core memories are taken to contradict each other."""

_NEGATIONS = ("not", "doesn't", "don't", "never", "no", "hates", "dislikes", "won't")
_PREFERENCES = ("prefers", "likes", "favorite", "favourite", "loves")
_ABSOLUTES = ("always", "forever", "every", "all")
_CHANGES = ("now", "currently", "recently", "lately", "switched", "changed")
_IMPORTANT = (
    "decision", "always", "never", "important", "critical", "must", "requirement", "policy",
    "rule", "principle",
)  # fmt: skip
_BASES = {"core": 0.7, "daily": 0.3, "conversation": 0.2}

Ranked = Sequence[tuple[str, float]]


def jaccard(a: str, b: str) -> float:
    """Return shared over all white-space tokens; two texts without any are the same."""
    left, right = set(a.split()), set(b.split())
    if not left or not right:
        return 1.0 if left == right else 0.0
    return len(left & right) / len(left | right)


def overlap(a: str, b: str) -> float:
    """Return shared tokens over the larger number of them, which clawseed calls BM25."""
    left, right = set(a.split()), set(b.split())
    if not left or not right:
        return 1.0 if left == right else 0.0
    return len(left & right) / max(len(left), len(right))


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the cosine within 0 and 1; 0 for other lengths, zero vectors and odd numbers."""
    if len(a) != len(b) or not a:
        return 0.0
    norm = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    if not math.isfinite(norm) or norm < 2.220446049250313e-16:
        return 0.0
    value = sum(x * y for x, y in zip(a, b, strict=True)) / norm
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0


def similarity(
    a: str,
    b: str,
    vectors: tuple[Sequence[float] | None, Sequence[float] | None] = (None, None),
    weights: tuple[float, float, float] | None = (0.4, 0.4, 0.2),
) -> float:
    """Return weighted Jaccard, cosine and overlap; Jaccard alone without weights or a vector."""
    one, other = vectors
    if weights is None or one is None or other is None:
        return jaccard(a, b)
    parts = (jaccard(a, b), cosine(one, other), overlap(a, b))
    return sum(weight * part for weight, part in zip(weights, parts, strict=True))


def contradiction(existing: str, new: str) -> float:
    """Return clawseed's signs of contradiction: negation 0.4, preference 0.3, time 0.3."""
    old, fresh = _lower(existing), _lower(new)
    same = jaccard(old, fresh)
    negated = _any(_NEGATIONS, old) != _any(_NEGATIONS, fresh) and same > 0.3
    preferred = _any(_PREFERENCES, old) and _any(_PREFERENCES, fresh) and old != fresh
    changed = _any(_ABSOLUTES, old) and _any(_CHANGES, fresh) and same > 0.2
    return min(0.4 * negated + 0.3 * preferred + 0.3 * changed, 1.0)


def conflict(existing: str, new: str) -> float:
    """Return the score that clawseed compares with its threshold: no vector ever takes part."""
    return jaccard(existing, new) + 0.3 * contradiction(existing, new)


def conflicting(
    rows: Iterable[Mapping[str, Any]], key: str, content: str, threshold: float = THRESHOLD
) -> list[str]:
    """Return the ids of the rows that clawseed would supersede by a new core memory."""
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


def importance(content: str, category: str) -> float:
    """Return clawseed's importance: a base by category, 0.1 a keyword, at most 0.2 for them."""
    found = sum(word in _lower(content) for word in _IMPORTANT)
    return min(1.0, _BASES.get(category, 0.4) + min(0.1 * found, 0.2))


def final_score(hybrid: float, important: float, recency: float) -> float:
    """Return clawseed's weighting of relevance, importance and recency, which nothing calls."""
    return 0.7 * hybrid + 0.2 * important + 0.1 * recency


def decayed(
    score: float | None, age_days: float | None, category: str, half_life: float = 7.0
) -> float | None:
    """Return a score after its age; core, unscored and undated rows keep theirs."""
    if score is None or age_days is None or category == "core":
        return score
    days = int(max(age_days, 0.0) * 86_400) / 86_400
    return score * math.exp(-days / (half_life if half_life > 0 else 7.0) * math.log(2))


def reciprocal_ranks(vector: Ranked, keyword: Ranked, k: float, limit: int) -> list[dict[str, Any]]:
    """Return the fusion of two result lists by 1 / (k + rank), each sorted by score, then id.

    An id that stands twice counts once among vectors (its later rank) and twice among keywords.
    """
    made: dict[str, dict[str, Any]] = {}
    by_vector = {id_: 1 / (k + rank) for rank, (id_, _) in enumerate(_sorted(vector), 1)}
    for id_, score in _sorted(vector):
        made[id_] = {"id": id_, "score": by_vector[id_], "vector_score": score}
    for rank, (id_, score) in enumerate(_sorted(keyword), 1):
        entry = made.setdefault(id_, {"id": id_, "score": 0.0, "vector_score": None})
        entry["score"] += 1 / (k + rank)
        entry["keyword_score"] = score
    return _best(made, limit)


def weighted_sum(
    vector: Ranked, keyword: Ranked, weights: tuple[float, float], limit: int
) -> list[dict[str, Any]]:
    """Return the weighted sum of raw vector scores and keyword scores over their largest."""
    most = max((score for _, score in keyword), default=0.0)
    most = most if most > 1.1920929e-07 else 1.0
    made: dict[str, dict[str, Any]] = {
        id_: {"id": id_, "vector_score": score} for id_, score in vector
    }
    for id_, score in keyword:
        entry = made.setdefault(id_, {"id": id_, "vector_score": None})
        entry["keyword_score"] = score / most
    for entry in made.values():
        parts = (entry["vector_score"] or 0.0, entry.get("keyword_score") or 0.0)
        entry["score"] = weights[0] * parts[0] + weights[1] * parts[1]
    return _best(made, limit)


def _best(made: Mapping[str, dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    order = sorted(made.values(), key=lambda entry: (-entry["score"], entry["id"]))
    names = ("id", "score", "vector_score", "keyword_score")
    return [{name: entry.get(name) for name in names} for entry in order[:limit]]


def _sorted(ranked: Ranked) -> list[tuple[str, float]]:
    return sorted(ranked, key=lambda item: (-item[1], item[0]))


def _any(words: Iterable[str], text: str) -> bool:
    return any(word in text for word in words)


def _lower(text: str) -> str:
    """ASCII letters only, as Rust's to_ascii_lowercase."""
    return "".join(char.lower() if char.isascii() else char for char in text)
