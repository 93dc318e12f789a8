"""Passages: long records searched in parts, each record by its best part."""

import polars as pl

from memops.search.retrieve import RUN

_MARK = "\x1f"


def in_passages(records: pl.DataFrame, size: int) -> pl.DataFrame:
    """Return records cut at the ends of words into passages of about so many characters.

    Passages of a record have its id, a mark and their number; what is superseded stays so.
    """
    # The pattern takes up to `size` characters and then the rest of a word, or one Han character.
    pattern = rf"(?s).{{1,{size}}}[^\s\p{{Han}}，。；,.;]*[，。；,.;]?"
    return (
        records.with_columns(text=pl.col("text").str.extract_all(pattern))
        .with_columns(text=pl.when(pl.col("text").list.len() > 0).then("text").otherwise([""]))
        .explode("text")
        .with_columns(
            id=pl.concat_str("id", pl.lit(_MARK), pl.int_range(pl.len()).over("id").cast(pl.String))
        )
    )


def whole(run: pl.DataFrame, k: int) -> pl.DataFrame:
    """Return a run over passages as one over records, each at the rank of its best passage."""
    best = (
        run.with_columns(doc_id=pl.col("doc_id").str.split(_MARK).list.first())
        .group_by("query_id", "doc_id").agg(pl.max("score"), pl.min("rank"))
        .sort("query_id", "rank", "doc_id")
    )  # fmt: skip
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("query_id")
    return best.with_columns(rank=rank).filter(pl.col("rank") <= k).select(RUN.names())
