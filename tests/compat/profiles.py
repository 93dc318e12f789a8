"""Profiles: how each engine itself would search its store, reproduced on the records, its faults included."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain

import numpy as np
import polars as pl

from memops.errors import MemopsError
from memops.models.vectors import Encoder, Vectors
from memops.schema import INSTANT, LIVE, SHARED, native
from memops.search.arms import vectors_of
from memops.search.collection import RUN
from tests.compat import openclaw_search as openclaw
from tests.compat.fused import fanout, fused, prior, reciprocal_ranks

CHUNK = 1600  # weighted characters of an OpenClaw chunk: 400 tokens of four
_PATH = pl.col("origin").fill_null("").str.split("#").list.first()
_LINE = pl.col("origin").str.extract(r"#(\d+)").cast(pl.Int64)
_CURATED = r"(^|/)(MEMORY|USER)\.md$"
Hits = list[tuple[list[str], float]]
"""Ids that come together (the lines of a chunk) and their score, best first."""
Search = Callable[[pl.DataFrame, pl.DataFrame, Encoder | None, int], Iterator[tuple[str, Hits]]]


def profile_run(
    name: str, records: pl.DataFrame, queries: pl.DataFrame, encoder: Encoder | None, k: int
) -> pl.DataFrame:
    """Return the run of an engine's own search; the lines of one chunk share its rank."""
    rows = [
        (query, doc, rank, round(score, 6))
        for query, hits in PROFILES[name](records, queries, encoder, k)
        for rank, (docs, score) in enumerate(hits[:k], 1)
        for doc in docs
    ]
    return pl.DataFrame(rows, schema=RUN, orient="row")


def openclaw_keyword(
    records: pl.DataFrame, queries: pl.DataFrame, encoder: Encoder | None, k: int
) -> Iterator[tuple[str, Hits]]:
    """FTS5 over chunks of 400 tokens: all words, else up to six single ones; age; importance."""
    chunks = _chunks(records)
    with closing(_fts(chunks["text"].to_list())) as index:
        for query, text, scope in _asked(queries):
            words = _openclaw_hits(chunks, _openclaw_words(index, text), scope, "textScore")
            hits = openclaw.merged([], words, (0.0, 1.0))
            yield query, [(hit["ids"], hit["score"]) for hit in hits[:k]]


def openclaw_hybrid(
    records: pl.DataFrame, queries: pl.DataFrame, encoder: Encoder | None, k: int
) -> Iterator[tuple[str, Hits]]:
    """The same with vectors: 0.7 and 0.3, at most 200 a leg, diversified, then a minimum score."""
    chunks = _chunks(records)
    vectors, asked = _vectors(chunks["text"], queries, encoder)
    with closing(_fts(chunks["text"].to_list())) as index:
        for nth, (query, text, scope) in enumerate(_asked(queries)):
            cosines = vectors @ asked[nth]
            near = {int(i): float(cosines[i]) for i in np.argsort(-cosines, kind="stable")[:200]}
            words = _openclaw_hits(chunks, _openclaw_words(index, text), scope, "textScore")
            hits = openclaw.merged(_openclaw_hits(chunks, near, scope, "vectorScore"), words)
            shown = openclaw.selected([dict(h) for h in openclaw.diversified(hits)], words, k)
            yield query, [(hit["ids"], hit["score"]) for hit in shown]


def xinghebot_scan(
    records: pl.DataFrame, queries: pl.DataFrame, encoder: Encoder | None, k: int
) -> Iterator[tuple[str, Hits]]:
    """Each line by the share of the query's words that it contains; newest files first."""
    live = (
        records.filter(LIVE).with_columns(path=_PATH, line=_LINE)
        .with_columns(day=pl.col("created_at").max().over("path"))
        .sort("day", "path", "line", descending=[True, False, True], nulls_last=True)
    )  # fmt: skip
    for query, text, scope in _asked(queries):
        inside = live if scope is None else live.filter(pl.col("scope") == scope)
        scored = inside.select("id", score=line_score(text)).filter(pl.col("score") > 0)
        best = scored.sort("score", descending=True, maintain_order=True).head(k)
        yield query, [([id_], score) for id_, score in best.rows()]


def line_score(query: str) -> pl.Expr:
    """Return xinghebot's score of `text`: share of words contained, +0.5 for the whole query."""
    words = list(dict.fromkeys(filter(None, (w.strip("\"'") for w in query.lower().split()))))
    if not words:
        return pl.lit(0.0)
    text = pl.col("text").str.to_lowercase()
    hits = [text.str.contains(word, literal=True).cast(pl.Float64) for word in words]
    whole = text.str.contains(query.lower().strip(), literal=True).cast(pl.Float64) * 0.5
    share = pl.sum_horizontal(hits) / len(words)
    return pl.when(share > 0).then(share + whole).otherwise(0.0).clip(upper_bound=1.0)


def clawseed(
    records: pl.DataFrame, queries: pl.DataFrame, encoder: Encoder | None, k: int
) -> Iterator[tuple[str, Hits]]:
    """FTS5 and cosine fused by rank, cut to k, and only then without hidden or foreign rows.

    Nothing left falls back to substrings, newest first. A query of one namespace looks twice as far,
    for k of its own and k of the shared one (namespaced.rs).
    """
    rows = records.sort("id")
    hidden = rows.select(~LIVE).to_series().to_list()
    scopes, ids = rows["scope"].to_list(), rows["id"].to_list()
    vectors, asked = _vectors(rows["text"], queries, encoder) if encoder else (None, None)
    with closing(_fts(rows["text"].to_list(), rows["key"].fill_null("").to_list())) as index:
        for nth, (query, text, scope) in enumerate(_asked(queries)):
            wide = k if scope is None else 2 * k
            match = " OR ".join(f'"{word}"' for word in text.split())
            words = [(str(i), -rank) for i, rank in _matches(index, match, 2 * wide)]
            near: list[tuple[str, float]] = []
            if vectors is not None and asked is not None:
                near = _nearest(vectors, asked[nth], 2 * wide)
            ranked = reciprocal_ranks(near, words, 60, wide)
            single = sorted(words or near, key=lambda hit: -hit[1])[:wide]
            both = [(int(hit["id"]), hit["score"]) for hit in ranked]
            hits = both if words and near else [(int(i), score) for i, score in single]
            kept = [(i, s) for i, s in hits if not hidden[i]] or _substrings(rows, text, wide)
            if scope is not None:
                read = dict.fromkeys((scope, *SHARED))
                each = ([hit for hit in kept if scopes[hit[0]] == name][:k] for name in read)
                kept = sorted(chain.from_iterable(each), key=lambda hit: -hit[1])
            yield query, [([ids[i]], score) for i, score in kept]


def rsclaw(
    records: pl.DataFrame, queries: pl.DataFrame, encoder: Encoder | None, k: int
) -> Iterator[tuple[str, Hits]]:
    """BM25 and vectors fused by rank, times relevance (as of the newest record), pin, tier and importance."""
    rows = records.filter(LIVE).sort("id")
    newest = rows["created_at"].max()
    now = newest if isinstance(newest, datetime) else datetime(1970, 1, 1, tzinfo=UTC)
    priors = rows.select(prior(now)).to_series().to_list()
    scopes, ids = rows["scope"].to_list(), rows["id"].to_list()
    vectors, asked = _vectors(rows["text"], queries, encoder) if encoder else (None, None)
    wide = fanout(k)
    with closing(_fts(rows["text"].to_list())) as index:
        for nth, (query, text, scope) in enumerate(_asked(queries)):
            match = " OR ".join(f'"{word}"' for word in openclaw.WORDS.findall(text))
            words = [i for i, _ in _matches(index, match, wide.scanned)]
            legs = [[i for i in words if scope in (None, scopes[i])][: wide.words]]
            if vectors is not None and asked is not None:
                near = [int(i) for i, _ in _nearest(vectors, asked[nth], wide.vectors + 10)]
                legs.append([i for i in near if scope in (None, scopes[i])][: wide.vectors])
            found = fused(legs, priors)
            yield query, [([ids[i]], score) for i, score in found]


PROFILES: dict[str, Search] = {
    "openclaw-keyword": openclaw_keyword, "openclaw-hybrid": openclaw_hybrid,
    "xinghebot-scan": xinghebot_scan, "clawseed": clawseed, "rsclaw": rsclaw,
}  # fmt: skip


def _asked(queries: pl.DataFrame) -> Iterator[tuple[str, str, str | None]]:
    absent = pl.lit(None, pl.String).alias("scope")
    scope = "scope" if "scope" in queries.columns else absent
    yield from queries.select("query_id", "text", scope).iter_rows()


def _chunks(records: pl.DataFrame) -> pl.DataFrame:
    """(path, scope, text, ids, age): consecutive live lines of a file up to a chunk's weight.

    In MEMORY.md and USER.md a heading or "- " begins another (OpenClaw's markdown-chunks.ts).
    """
    newest = pl.lit(records["created_at"].max(), INSTANT)
    sized = (
        records.filter(LIVE).with_columns(path=_PATH, line=_LINE)
        .sort("path", "line", "id", nulls_last=True)
        .with_columns(size=pl.col("text").map_elements(openclaw.weight, return_dtype=pl.Int64) + 1)
        .with_columns(section=(_begins() & pl.col("path").str.contains(_CURATED)).cum_sum().over("path"))
        .with_columns(end=pl.col("size").cum_sum().over("path", "section"))
        .with_columns(chunk=pl.struct("section", part=(pl.col("end") - pl.col("size")) // CHUNK))
        .with_columns(chunk=pl.col("chunk").rle_id().over("path"))
    )  # fmt: skip
    dated = pl.col("path").str.contains(r"(^|/)\d{4}-\d{2}-\d{2}[^/]*\.md$")
    age = (newest - pl.col("created_at").max()).dt.total_seconds() / 86_400
    return sized.group_by("path", "chunk", maintain_order=True).agg(
        text=pl.col("text").str.join("\n"), ids="id", scope=pl.col("scope").first(),
        age=pl.when(dated.first()).then(age).otherwise(0.0).fill_null(0.0),
    )  # fmt: skip


def _begins() -> pl.Expr:
    """Return whether an entry of a curated file begins a chunk; one that no file holds does."""
    prefix, under = native("prefix"), native("under")
    moved = under.ne_missing(under.shift().over("path"))
    return prefix.str.starts_with("- ").fill_null(True) | moved


def _openclaw_words(index: sqlite3.Connection, text: str) -> dict[int, float]:
    """Scores by row: of the whole query, or else the best of its single words."""
    match = openclaw.fts_query(text)
    hits = _matches(index, match, 200) if match else []
    if not hits:
        words = openclaw.keywords(text)[: openclaw.MOST_KEYWORDS]
        hits = [hit for word in words for hit in _matches(index, f'"{word}"', 200)]
    scores: dict[int, float] = {}
    for row, rank in hits:
        scores[row] = max(scores.get(row, 0.0), openclaw.rank_score(rank))
    return scores


def _openclaw_hits(
    chunks: pl.DataFrame, scores: dict[int, float], scope: str | None, leg: str
) -> list[dict[str, object]]:
    rows = chunks[sorted(scores)].with_columns(id=pl.Series(sorted(scores), dtype=pl.Int64))
    if scope is not None:
        rows = rows.filter(pl.col("scope") == scope)
    return [
        {"id": row["id"], "path": row["path"], "startLine": row["chunk"], "ids": row["ids"],
         "snippet": row["text"][:700], "ageDays": row["age"], leg: scores[row["id"]]}
        for row in rows.to_dicts()
    ]  # fmt: skip


def _vectors(
    texts: pl.Series, queries: pl.DataFrame, encoder: Encoder | None
) -> tuple[Vectors, Vectors]:
    if encoder is None:
        raise MemopsError("this profile needs an encoder", "open one with open_encoder('lsa')")
    return vectors_of(encoder, texts.to_list(), queries["text"].to_list())


def _nearest(vectors: Vectors, asked: Vectors, count: int) -> list[tuple[str, float]]:
    cosines = vectors @ asked
    order = np.argsort(-cosines, kind="stable")[:count]
    return [(str(i), float(cosines[i])) for i in order if cosines[i] > 0]


def _fts(*columns: Sequence[str]) -> sqlite3.Connection:
    """An index in memory with SQLite's default tokenizer; rowid is the place in the columns."""
    index = sqlite3.connect(":memory:")
    names = [f"c{i}" for i in range(len(columns))]
    index.execute(f"CREATE VIRTUAL TABLE t USING fts5({', '.join(names)})")
    marks = ", ".join("?" * (len(names) + 1))
    rows = ((i, *values) for i, values in enumerate(zip(*columns, strict=True)))
    index.executemany(f"INSERT INTO t(rowid, {', '.join(names)}) VALUES ({marks})", rows)
    return index


def _matches(index: sqlite3.Connection, match: str, count: int) -> list[tuple[int, float]]:
    """(row, rank) best first; what FTS5 calls a syntax error finds nothing, as in the engines."""
    try:
        return index.execute(
            "SELECT rowid, rank FROM t WHERE t MATCH ? ORDER BY rank, rowid LIMIT ?", (match, count)
        ).fetchall()
    except sqlite3.OperationalError:
        return []


def _substrings(rows: pl.DataFrame, text: str, k: int) -> list[tuple[int, float]]:
    """Live rows that contain any of the first eight words (LIKE folds ASCII), newest first."""
    words = text.lower().split()[:8]
    key = pl.col("key").fill_null("").str.to_lowercase()
    said = pl.col("text").str.to_lowercase()
    hits = [c.str.contains(w, literal=True) for w in words for c in (said, key)]
    found = rows.with_row_index("row").filter(LIVE, pl.any_horizontal(hits) if hits else True)
    newest = found.sort("updated_at", "id", descending=[True, False], nulls_last=True).head(k)
    return [(int(row), 1.0) for row in newest["row"].to_list()]
