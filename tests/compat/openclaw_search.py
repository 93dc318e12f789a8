"""OpenClaw's retrieval, function by function, as its release of 2026-09 computes it."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HALF_LIFE_DAYS = 30.0
LAMBDA = 0.7
LEAST = 0.35  # minScore
WEIGHTS = (0.7, 0.3)  # vector, text
MOST_KEYWORDS = 6
WORDS_OF = Path(__file__).with_suffix(".toml")

WORDS = re.compile(r"[^\W]+")
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]+")
_WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_JAPANESE_PARTS = re.compile(r"[\u30a0-\u30ff]+|[\u4e00-\u9fff]+|[a-z0-9_]+")


def fts_query(text: str) -> str | None:
    """Return its FTS5 query: every word quoted, joined by AND; None without words."""
    words = WORDS.findall(text)
    return " AND ".join(f'"{word}"' for word in words) or None


def keywords(text: str, tokenizer: str = "unicode61") -> list[str]:
    """Return what is searched for when the whole query finds nothing, in order, without repeats."""
    stops = set(tomllib.loads(WORDS_OF.read_text(encoding="utf-8"))["stop_words"])
    found: list[str] = []
    for word in WORDS.findall(text.lower()):
        if _KANA.search(word):
            parts = [p for run in _JAPANESE_PARTS.findall(word) for p in _japanese(run)]
        elif _HAN_RUN.search(word) and tokenizer != "trigram":
            han = "".join(_HAN_RUN.findall(word))
            parts = [*han, *(han[i : i + 2] for i in range(len(han) - 1))]
            parts += re.findall(r"[a-z0-9_]+", word)
        else:
            parts = [word]
        found += [part for part in parts if part not in stops and not _trivial(part)]
    return list(dict.fromkeys(found))


def rank_score(rank: float) -> float:
    """Return FTS5's rank (negative is better) as a score of 0 to 1."""
    if rank in (float("inf"), float("-inf")) or rank != rank:
        return 1 / (1 + 999)
    return -rank / (1 - rank) if rank < 0 else 1 / (1 + rank)


def faded(score: float, age_days: float, half_life: float = HALF_LIFE_DAYS) -> float:
    """Return a dated file's score: halved every 30 days."""
    return float(score * 2 ** (-max(age_days, 0.0) / half_life))


def importance_factor(importance: float | None) -> float:
    """Return 0.75 + 0.05 n for a note marked 1 to 10, else 1."""
    return 1.0 if importance is None else 0.75 + 0.05 * min(max(importance, 1.0), 10.0)


def project_factor(project: str | None, active: Sequence[str]) -> float:
    """Return 1.15 within the project, 0.9 outside it, 1 for a note of none."""
    return 1.0 if project is None or not active else 1.15 if project in active else 0.9


def shingles(text: str) -> set[str]:
    """Return the words that likeness is measured by: ASCII words, characters and pairs of Han."""
    text = text.lower()
    runs = _HAN_RUN.findall(text)
    pairs = (run[i : i + 2] for run in runs for i in range(len(run) - 1))
    return {*re.findall(r"[a-z0-9_]+", text), *"".join(runs), *pairs}


def marginal(relevance: Any, similarity: Any, share: float = LAMBDA) -> Any:
    """Return the maximal marginal relevance (Carbonell and Goldstein 1998)."""
    return share * relevance - (1 - share) * similarity


def diversified(
    items: Sequence[Mapping[str, Any]], share: float = LAMBDA
) -> list[Mapping[str, Any]]:
    """Return items (score, snippet) reordered, each next the best by marginal relevance."""
    if not items:
        return []
    scores = np.array([item["score"] for item in items], dtype=float)
    span = scores.max() - scores.min()
    relevance = (scores - scores.min()) / span if span else np.ones(len(items))
    alike = likeness([item["snippet"] for item in items])
    nearest, left = np.zeros(len(items)), np.ones(len(items), dtype=bool)
    order: list[int] = []
    for _ in items:
        worth = marginal(relevance, nearest, share)
        best = max(np.flatnonzero(left), key=lambda i: (worth[i], scores[i]))
        order.append(int(best))
        left[best] = False
        nearest = np.maximum(nearest, alike[best])
    return [items[i] for i in order]


def merged(
    vector: Sequence[Mapping[str, Any]],
    keyword: Sequence[Mapping[str, Any]],
    weights: tuple[float, float] = WEIGHTS,
    active: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return hits of both legs, best first: a weighted sum, times age, importance and project."""
    made: dict[str, dict[str, Any]] = {}
    for hit in (*vector, *keyword):
        made.setdefault(hit["id"], {"vectorScore": 0.0, "textScore": 0.0}).update(hit)
    for hit in made.values():
        score = weights[0] * hit["vectorScore"] + weights[1] * hit["textScore"]
        score = faded(score, hit.get("ageDays") or 0.0)
        score *= importance_factor(hit.get("importance"))
        hit["score"] = score * project_factor(hit.get("projectKey"), active)
    return sorted(made.values(), key=lambda hit: -hit["score"])


def selected(
    hits: Sequence[dict[str, Any]],
    keyword: Sequence[Mapping[str, Any]],
    most: int,
    least: float = LEAST,
) -> list[dict[str, Any]]:
    """Return the hits that are shown: strong ones first, then what only words found."""
    backed = {_place(hit) for hit in keyword}
    strong = [hit for hit in hits if hit["score"] >= least]
    weak = [hit for hit in hits if hit["score"] < least and _place(hit) in backed]
    rest = [hit for hit in weak if not strong or hit["vectorScore"] <= 0]
    return [*strong, *rest][:most]


def weight(text: str) -> int:
    """Return a text's length as chunks are measured: UTF-16 units, a CJK character for four."""
    return len(text.encode("utf-16-le")) // 2 + 3 * len(_WIDE.findall(text))


def likeness(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the Jaccard similarity of each two texts; two without words have none."""
    sets = [shingles(text) for text in texts]
    column = {word: i for i, word in enumerate(sorted(set().union(*sets)))}
    has = np.zeros((len(sets), max(len(column), 1)), dtype=np.float32)
    for row, words in enumerate(sets):
        has[row, [column[word] for word in words]] = 1
    shared = (has @ has.T).astype(float)
    sizes = has.sum(axis=1).astype(float)
    either = sizes[:, None] + sizes[None, :] - shared
    return np.asarray(shared / np.where(either > 0, either, 1))


def _place(hit: Mapping[str, Any]) -> tuple[Any, Any]:
    return hit["path"], hit.get("startLine")


def _japanese(run: str) -> list[str]:
    pairs = [run[i : i + 2] for i in range(len(run) - 1)] if _HAN_RUN.fullmatch(run) else []
    return [run, *(pair for pair in pairs if len(run) > 2)]


def _trivial(part: str) -> bool:
    """Lone letters and numbers say nothing; a lone Han character does."""
    return bool(re.fullmatch(r"[a-z]{1,2}|[0-9]+", part))
