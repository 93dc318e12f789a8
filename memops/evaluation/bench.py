"""Benches: labelled pairs, judged one by one as a night would, and a retriever over a public question set."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops.context import Context, Models
from memops.errors import StoreNotFound
from memops.evaluation.judge_tests import rows_of
from memops.files import json_lines
from memops.judge.candidates.similarity import statements
from memops.judge.conflicts import features, judged
from memops.judge.decision import DUPLICATE, conflict, likely
from memops.models.encode import open_encoder
from memops.policy import Policy
from memops.rules.merge_contained import merge_contained
from memops.schema import INSTANT, from_rows
from memops.search.retrieve import search
from memops.verdicts import AGAINST, SAME

_AT = datetime(2000, 1, 1, tzinfo=UTC)  # of no matter: neither text of a pair has a time
_WORDS = {"duplicate": (SAME,), "conflict": AGAINST}


def read_pairs(path: Path) -> list[dict[str, Any]]:
    """Return the pairs {id, a, b} of a file of JSON lines; raises Corrupt for a line that is none."""
    return rows_of(path, _pair, "pair", "write one JSON object a line, with the texts a and b")


def _pair(row: dict[str, Any]) -> dict[str, Any]:
    if not all(isinstance(row[side], str) for side in "ab"):
        raise ValueError(row)
    return row


def judge_pairs(
    pairs: list[dict[str, Any]], policy: Policy | None = None, models: Models | None = None
) -> Iterator[dict[str, Any]]:
    """Yield {id, duplicate, conflict, duplicate_score, conflict_score, newer} for each {id, a, b}.

    Each pair is put before a night as a scope of its own; what a model says counts half of each score.
    `newer` is the side that a model, or else a text itself, calls the current one, or None.
    """
    if not pairs:
        return
    ctx = Context(now=_AT, policy=policy or Policy(), models=models or Models())
    rows = pl.concat([_found(pairs, ctx), likely(features(pairs))], how="horizontal")
    scored = {
        f"{name}_score": pl.when(pl.col("verdict").is_null()).then(f"{name}_score")
        .otherwise((pl.col(f"{name}_score") + pl.col("verdict").is_in(words)) / 2)
        for name, words in _WORDS.items()
    }  # fmt: skip
    newer = pl.coalesce("later", "newer")
    told = rows.with_columns(_raised()).select(*_WORDS, **scored, newer=newer)
    for pair, row in zip(pairs, told.iter_rows(named=True), strict=True):
        yield {"id": pair.get("id"), **row}


def _raised() -> pl.Expr:
    """The score of a duplicate, of what only stands whole in the other too, more than a half."""
    seen = pl.col("duplicate") & (pl.col("duplicate_score") <= 0.5)
    score = pl.col("duplicate_score")
    return pl.when(seen).then(0.5 + score / 2).otherwise(score).alias("duplicate_score")


def in_scopes(pairs: list[dict[str, Any]]) -> pl.DataFrame:
    """Return the texts of pairs as records, each pair in a scope of its own."""
    sides = [(n, pair, side) for n, pair in enumerate(pairs) for side in "ab"]
    return from_rows([{"id": f"{n}{s}", "scope": str(n), "text": p[s]} for n, p, s in sides])


def _found(pairs: list[dict[str, Any]], ctx: Context) -> pl.DataFrame:
    """What a night makes of each pair: duplicate, conflict, verdict and later, the last two of a model."""
    records = in_scopes(pairs)
    whole = merge_contained(records, ctx)["id"].str.head(-1).cast(pl.Int64)
    said = dict(statements(records, ctx).members.select("id", "statement").iter_rows())
    weighed = pl.lit(ctx.models.judge is None)
    made = judged(records, ctx).with_columns(
        duplicate=DUPLICATE | (weighed & (pl.col("likely_same") | pl.col("likely_part"))),
        conflict=conflict(ctx.policy) | (weighed & pl.col("likely_conflict")),
    )
    if "verdict" not in made.columns:
        made = made.with_columns(verdict=pl.lit(None, pl.String), later=pl.lit(None, pl.String))
    sides = [tuple(said.get(f"{n}{side}", -1 - n) for side in "ab") for n in range(len(pairs))]
    asked = pl.DataFrame(sides, {"one": pl.Int64, "two": pl.Int64}, orient="row")
    asked = asked.with_columns(held=pl.int_range(pl.len()).is_in(whole.implode()))
    asked = asked.with_columns(a=pl.min_horizontal("one", "two"), b=pl.max_horizontal("one", "two"))
    of = made.select(pl.col("a", "b").cast(pl.Int64), *_WORDS, "verdict", "later")
    turned = pl.col("later").replace({"a": "b", "b": "a"})
    return asked.join(of, on=["a", "b"], how="left", maintain_order="left").select(
        pl.col("duplicate").fill_null(pl.col("one") == pl.col("two"))
        | (pl.col("held") & ~pl.col("conflict").fill_null(False)),
        pl.col("conflict").fill_null(False),
        "verdict",
        later=pl.when(pl.col("one") > pl.col("two")).then(turned).otherwise("later"),
    )


DOCUMENTS = {
    "id": pl.String, "scope": pl.String, "text": pl.String, "timestamp": pl.String,
    "speaker": pl.String, "caption": pl.String, "session": pl.String, "seq": pl.Int64,
    "superseded_by": pl.String,
}  # fmt: skip
QUERIES = {"id": pl.String, "text": pl.String, "scope": pl.String, "seq": pl.Int64}


def recall_run(
    folder: Path, retriever: str, embedder: str, k: int, cache: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Yield {query_id, doc_id, rank, score} for `corpus.jsonl.gz` and `queries.jsonl.gz`."""
    how: dict[str, Any] = {"strict": False, "time_unit": "us", "time_zone": "UTC", "exact": False}
    at = pl.col("timestamp").str.to_datetime(**how)
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
    rows, told = [row for _, row in json_lines(path)], dict[str, list[Any]]()
    for name, kind in columns.items():
        said = (row.get(name) for row in rows)
        told[name] = [str(v) if kind is pl.String and v is not None else v for v in said]
    return pl.DataFrame(told, columns)
