"""Profiles: how an engine itself would search its store by words, reproduced on the records."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain

import polars as pl

from memops.schema import LIVE, SHARED
from memops.search.collection import RUN
from tests.compat import openclaw_search as openclaw
from tests.compat.fused import fanout, fused, prior

_PATH = pl.col("origin").fill_null("").str.split("#").list.first()
_LINE = pl.col("origin").str.extract(r"#(\d+)").cast(pl.Int64)
Hits = list[tuple[list[str], float]]
"""Ids that come together (the lines of a chunk) and their score, best first."""
Search = Callable[[pl.DataFrame, pl.DataFrame, int], Iterator[tuple[str, Hits]]]


def profile_run(name: str, records: pl.DataFrame, queries: pl.DataFrame, k: int) -> pl.DataFrame:
    """Return the run of an engine's own search; the lines of one chunk share its rank."""
    rows = [
        (query, doc, rank, round(score, 6))
        for query, hits in PROFILES[name](records, queries, k)
        for rank, (docs, score) in enumerate(hits[:k], 1)
        for doc in docs
    ]
    return pl.DataFrame(rows, schema=RUN, orient="row")


def xinghebot_scan(
    records: pl.DataFrame, queries: pl.DataFrame, k: int
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


def clawseed(records: pl.DataFrame, queries: pl.DataFrame, k: int) -> Iterator[tuple[str, Hits]]:
    """FTS5, cut to k, and only then without hidden or foreign rows.

    Nothing left falls back to substrings, newest first. A query of one namespace looks twice as far,
    for k of its own and k of the shared one (namespaced.rs).
    """
    rows = records.sort("id")
    hidden = rows.select(~LIVE).to_series().to_list()
    scopes, ids = rows["scope"].to_list(), rows["id"].to_list()
    with closing(_fts(rows["text"].to_list(), rows["key"].fill_null("").to_list())) as index:
        for query, text, scope in _asked(queries):
            wide = k if scope is None else 2 * k
            match = " OR ".join(f'"{word}"' for word in text.split())
            hits = [(i, -rank) for i, rank in _matches(index, match, 2 * wide)][:wide]
            kept = [(i, s) for i, s in hits if not hidden[i]] or _substrings(rows, text, wide)
            if scope is not None:
                read = dict.fromkeys((scope, *SHARED))
                each = ([hit for hit in kept if scopes[hit[0]] == name][:k] for name in read)
                kept = sorted(chain.from_iterable(each), key=lambda hit: -hit[1])
            yield query, [([ids[i]], score) for i, score in kept]


def rsclaw(records: pl.DataFrame, queries: pl.DataFrame, k: int) -> Iterator[tuple[str, Hits]]:
    """BM25 by rank, times relevance (as of the newest record), pin, tier and importance."""
    rows = records.filter(LIVE).sort("id")
    newest = rows["created_at"].max()
    now = newest if isinstance(newest, datetime) else datetime(1970, 1, 1, tzinfo=UTC)
    priors = rows.select(prior(now)).to_series().to_list()
    scopes, ids = rows["scope"].to_list(), rows["id"].to_list()
    wide = fanout(k)
    with closing(_fts(rows["text"].to_list())) as index:
        for query, text, scope in _asked(queries):
            match = " OR ".join(f'"{word}"' for word in openclaw.WORDS.findall(text))
            words = [i for i, _ in _matches(index, match, wide.scanned)]
            legs = [[i for i in words if scope in (None, scopes[i])][: wide.words]]
            found = fused(legs, priors)
            yield query, [([ids[i]], score) for i, score in found]


PROFILES: dict[str, Search] = {
    "xinghebot-scan": xinghebot_scan, "clawseed": clawseed, "rsclaw": rsclaw,
}  # fmt: skip


def _asked(queries: pl.DataFrame) -> Iterator[tuple[str, str, str | None]]:
    absent = pl.lit(None, pl.String).alias("scope")
    scope = "scope" if "scope" in queries.columns else absent
    yield from queries.select("query_id", "text", scope).iter_rows()


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
