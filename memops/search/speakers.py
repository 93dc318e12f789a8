"""Speakers: who is named in a question, and the question as that speaker would put it."""

import re
from collections.abc import Sequence

import polars as pl

from memops.language.text import tokens

ROLES = ("user", "assistant", "system", "tool", "human", "ai", "bot", "agent")


def named(documents: pl.DataFrame, queries: pl.DataFrame) -> list[str | None]:
    """Return for each query the only speaker of its part whom it names; roles are no names."""
    speakers = (
        documents.select("part", "speaker").drop_nulls().unique().sort("part", "speaker")
        .filter(~pl.col("speaker").str.to_lowercase().is_in(ROLES))
    )  # fmt: skip
    if speakers.is_empty():
        return [None] * queries.height
    names = tokens(speakers["speaker"]).join(
        speakers.with_row_index("row"), on="row", how="left", maintain_order="left"
    )
    # A word that belongs to two speakers of a part (a family name) names neither.
    names = names.filter(pl.col("token").str.len_chars() > 1).filter(
        pl.col("speaker").n_unique().over("part", "token") == 1
    )
    asked = tokens(queries["text"]).select("row", "token").unique()
    asked = asked.with_columns(part=pl.lit(queries["part"]).gather(pl.col("row")))
    hits = asked.join(names.select("part", "token", "speaker"), on=["part", "token"], how="inner")
    single = (
        hits.group_by("row").agg(pl.col("speaker").unique())
        .filter(pl.col("speaker").list.len() == 1)
        .select("row", pl.col("speaker").list.first())
    )  # fmt: skip
    rows = pl.DataFrame({"row": pl.int_range(queries.height, dtype=pl.UInt32, eager=True)})
    return rows.join(single, on="row", how="left", maintain_order="left")["speaker"].to_list()


def in_own_voice(texts: Sequence[str], speakers: Sequence[str | None]) -> list[str]:
    """Return each text with its speaker's name as `I`, and `my` for the possessive."""
    pairs = zip(texts, speakers, strict=True)
    return [text if speaker is None else _swapped(text, speaker) for text, speaker in pairs]


def _swapped(text: str, speaker: str) -> str:
    words = sorted({speaker, *speaker.split()}, key=lambda word: (-len(word), word))
    name = "|".join(re.escape(word) for word in words if len(word) > 1) or re.escape(speaker)
    text = re.sub(rf"\b(?:{name})['’]s\b", "my", text, flags=re.IGNORECASE)
    return re.sub(rf"\b(?:{name})\b", "I", text, flags=re.IGNORECASE)
