"""Arms: the scores that retrievers combine, each a queries x documents matrix for one block."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from memops.language.terms import grams, words
from memops.language.text import language, tokens
from memops.models.nearest import Floats, Scores
from memops.models.vectors import Encoder, Vectors
from memops.policy import Policy
from memops.search.bm25 import Counts, Sparse, bm25, by_part, cosine, counted, mean_lengths
from memops.search.collection import Block, Collection

ARMS = ("words", "grams", "dense")
_SAMPLE = 500  # texts by which it is told what an encoder can read


@dataclass
class Arms:
    """The arms of a collection; each is made when it is first asked for."""

    collection: Collection
    encoder: Encoder | None
    policy: Policy
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def scores(self, name: str, block: Block) -> Scores:
        """Return one arm's scores of a block."""
        if name == "dense":
            documents, queries = self.vectors
            return np.asarray(
                queries[block.queries] @ documents[block.documents].T, dtype=np.float32
            )
        index, asked = self.sparse(name)
        return dense_block((asked[block.queries] @ index.weights), block)

    def sparse(self, name: str) -> tuple[Sparse, Any]:
        """Return the index and the query matrix of `words`, `grams` or `cosines` (of words)."""
        if name not in self._made:
            terms = grams if name == "grams" else words
            parts = self.collection.document_parts
            counts = counted(grams(self.texts), parts) if terms is grams else self._words
            index = self._index(name, counts)
            asked = terms(self.collection.queries["text"])
            part = self.collection.queries["part"].gather(asked["row"])
            height = self.collection.queries.height
            self._made[name] = index, index.asked(asked.with_columns(part), height)
        made: tuple[Sparse, Any] = self._made[name]
        return made

    @cached_property
    def _words(self) -> Counts:
        return counted(words(self.texts), self.collection.document_parts)

    def _index(self, name: str, counts: Counts) -> Sparse:
        """BM25; but the cosine for the n-grams of parts that are mostly Chinese."""
        if name == "cosines":
            return cosine(counts)
        settings = self.policy.retrieval
        chars = self.collection.documents["text"].str.len_chars().to_numpy().astype(np.float64)
        mean = mean_lengths(chars, self.collection.document_parts)
        low, high = settings.short_chars, settings.long_chars
        share = np.clip(np.log(np.maximum(mean, 1) / low) / np.log(high / low), 0, 1)
        k1 = settings.k1_short + share * (settings.k1_long - settings.k1_short)
        b = settings.b_short + share * (settings.b_long - settings.b_short)
        index = bm25(counts, k1, b)
        mixed = name == "grams" and self.chinese.any()
        return by_part(cosine(counts), index, self.chinese) if mixed else index

    @cached_property
    def chinese(self) -> Floats:
        """Return 1 for each part whose documents are mostly Chinese, else 0."""
        of = self.collection.documents.select(language(pl.col("text"))).to_series()
        zh = (of == "zh").to_numpy()
        out = np.zeros(self.collection.count)
        shares = mean_lengths(zh.astype(np.float64), self.collection.document_parts)
        out[: len(shares)] = shares > 0.5
        return out

    @cached_property
    def readable(self) -> Floats:
        """Return for each part the share of its texts that the encoder can read, by a sample."""
        out, encoder = np.ones(self.collection.count), self.encoder
        if encoder is None:
            return out
        for kind in (0, 1):
            rows = np.flatnonzero(self.chinese[self.collection.document_parts] == kind)
            some = self.collection.documents["text"].gather(rows[:: max(1, len(rows) // _SAMPLE)])
            out[self.chinese == kind] = encoder.reads(some.to_list())
        return out

    @cached_property
    def texts(self) -> pl.Series:
        """Return what sparse arms read: speaker, text, caption, and for turns the date in words."""
        turn = pl.col("session").is_not_null()
        parts = [
            pl.format("{}: ", "speaker").fill_null(""),
            pl.col("text"),
            pl.format(" [image: {}]", "caption").fill_null(""),
            pl.when(turn).then(pl.col("created_at").dt.strftime(" %-d %B %Y %A")).fill_null(""),
        ]
        return self.collection.documents.select(text=pl.concat_str(parts)).to_series()

    @cached_property
    def vectors(self) -> tuple[Vectors, Vectors]:
        """Return the documents' and the queries' vectors."""
        from memops.errors import MemopsError

        if self.encoder is None:
            hint = "open one with open_encoder('lsa')"
            raise MemopsError("this retriever needs an encoder", hint)
        queries = self.collection.queries["text"].to_list()
        if not self.encoder.speaks:
            return vectors_of(self.encoder, self.texts.to_list(), queries)
        said = pl.concat_str("text", pl.format(" [image: {}]", "caption").fill_null(""))
        spoken = self.collection.documents.select(said).to_series().to_list()
        return vectors_of(self.encoder, spoken, in_own_voice(queries, self.named_speakers))

    @cached_property
    def named_speakers(self) -> list[str | None]:
        """Return for each query the one speaker of its part whom it names."""
        return named(self.collection.documents, self.collection.queries)


def vectors_of(
    encoder: Encoder, texts: Sequence[str], queries: Sequence[str]
) -> tuple[Vectors, Vectors]:
    """Return the vectors of texts and queries; an encoder that still has to learn is fitted."""
    if encoder.recipe().get("encoder") == "lsa" and "fitted" not in encoder.recipe():
        encoder = encoder.fitted(texts)
    return encoder.encode(texts), encoder.encode_queries(queries)


def dense_block(product: Any, block: Block) -> Scores:
    """Return a sparse queries x all documents product as the block's matrix."""
    out = np.zeros(block.shape, dtype=np.float32)
    rows = np.repeat(np.arange(block.shape[0]), np.diff(product.indptr))
    out[rows, product.indices - block.documents.start] = product.data
    return out


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
