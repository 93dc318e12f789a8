"""Recall bench: a retriever's run over a public question set, for measuring from outside."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import StoreNotFound
from memops.files import json_lines
from memops.models.encode import open_encoder
from memops.policy import Policy
from memops.schema import INSTANT
from memops.search.retrieve import search

DOCUMENTS = {
    "id": pl.String, "scope": pl.String, "text": pl.String, "timestamp": pl.String,
    "speaker": pl.String, "caption": pl.String, "session": pl.String, "seq": pl.Int64,
    "superseded_by": pl.String,
}  # fmt: skip
QUERIES = {"id": pl.String, "text": pl.String, "scope": pl.String, "seq": pl.Int64}


def recall_run(
    folder: Path, retriever: str, embedder: str, k: int, cache: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Yield {query_id, doc_id, rank, score} for `corpus.jsonl.gz` and `queries.jsonl.gz`.

    Searches inside a query's scope and, where both have `seq`, only what came before it.
    """
    at = pl.col("timestamp").str.to_datetime(
        strict=False, time_unit="us", time_zone="UTC", exact=False
    )
    documents = _table(folder / "corpus.jsonl.gz", DOCUMENTS).with_row_index("nth")
    documents = documents.with_columns(pl.col("nth").cast(pl.Int64), created_at=at.cast(INSTANT))
    queries = _table(folder / "queries.jsonl.gz", QUERIES).rename({"id": "query_id"})
    encoder = None if retriever in ("bm25", "grep") else open_encoder(embedder, cache)
    run = search(documents.drop("timestamp"), queries, retriever, encoder, Policy(), k)
    yield from run.iter_rows(named=True)


def _table(path: Path, columns: dict[str, Any]) -> pl.DataFrame:
    """The named columns of a JSON lines file; absent ones are null, numbers become text."""
    if not path.exists():
        raise StoreNotFound(f"{path}: no such file", "give a folder with corpus and queries")
    rows = [row for _, row in json_lines(path)]
    return pl.DataFrame(
        {name: _column([r.get(name) for r in rows], kind) for name, kind in columns.items()}
    )


def _column(values: list[Any], kind: Any) -> pl.Series:
    if kind is pl.String:
        values = [None if value is None else str(value) for value in values]
    return pl.Series(values, dtype=kind)
