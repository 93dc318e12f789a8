"""Collections: what is searched and asked, cut into parts (scopes) and laid out for matrices.

A record may also have `speaker`, `caption`, `session` (what it is a turn of), `nth` (its place) and
`seq` (a clock that counts). A query may have `scope` (null is all), `as_of` and `seq`; it sees what was
stored until `as_of`, or before its `seq`, and was not superseded by then.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from memops.models.nearest import Ints
from memops.schema import SHARED

RUN = pl.Schema(
    {"query_id": pl.String(), "doc_id": pl.String(), "rank": pl.Int64(), "score": pl.Float64()}
)
FOREVER = 1e300
_LARGE = 20_000
_CELLS = 16_000_000  # scores held at a time, 64 MB an arm
OPTIONAL: dict[str, Any] = {
    "speaker": pl.String, "caption": pl.String, "session": pl.String, "nth": pl.Int64,
    "seq": pl.Int64, "valid_to": pl.Datetime("us", "UTC"),
}  # fmt: skip


@dataclass(frozen=True)
class Block:
    """Queries of one part, and all its documents, as ranges of rows."""

    part: int
    queries: slice
    documents: slice

    @property
    def large(self) -> bool:
        """Return whether the matrix of all its scores is better not made."""
        return self.shape[1] > _LARGE

    def pieces(self) -> Iterator["Block"]:
        """Yield the block in pieces whose matrix is of bounded size."""
        size = max(1, _CELLS // max(1, self.shape[1]))
        for start in range(self.queries.start, self.queries.stop, size):
            stop = min(start + size, self.queries.stop)
            yield Block(self.part, slice(start, stop), self.documents)

    @property
    def shape(self) -> tuple[int, int]:
        """Return (queries, documents)."""
        return (self.queries.stop - self.queries.start, self.documents.stop - self.documents.start)


@dataclass(frozen=True)
class Collection:
    """Documents and queries, sorted by part and id; one is seen from `stored` to `until`."""

    documents: pl.DataFrame
    queries: pl.DataFrame
    count: int
    """How many parts there are."""

    @cached_property
    def document_parts(self) -> Ints:
        """Return each document's part."""
        return self.documents["part"].to_numpy().astype(np.int64)

    def blocks(self) -> Iterator[Block]:
        """Yield the parts that are asked, in order."""
        parts = np.arange(self.count + 1)
        d = np.searchsorted(self.document_parts, parts).tolist()
        q = np.searchsorted(self.queries["part"].to_numpy(), parts).tolist()
        for part in range(self.count):
            if q[part] < q[part + 1]:
                yield Block(part, slice(q[part], q[part + 1]), slice(d[part], d[part + 1]))

    def seen(self, block: Block) -> npt.NDArray[np.bool_] | None:
        """Return which documents each query may see; None is all."""
        if self._always:
            return None
        documents = self.documents[block.documents]
        asked = self.queries["asked"][block.queries].to_numpy()[:, None]
        stored, until = documents["stored"].to_numpy(), documents["until"].to_numpy()
        return np.asarray((stored[None, :] <= asked) & (until[None, :] > asked))

    @cached_property
    def _always(self) -> bool:
        no_clock = bool((self.queries["asked"] == FOREVER).all())
        return no_clock and bool((self.documents["until"] > FOREVER).all())


def collect(records: pl.DataFrame, queries: pl.DataFrame) -> Collection:
    """Return what the queries are asked of: what their scopes may read, live now or then."""
    asked = _asked(queries)
    every = asked["scope"].unique().sort().to_frame()
    scopes = every.with_row_index("part").cast({"part": pl.Int64})
    known = _dated(_with_columns(records, OPTIONAL))
    if bool((asked["asked"] == FOREVER).all()):
        known = known.filter(pl.col("until") > FOREVER)
    own = scopes.drop_nulls()
    beside = own.select("part").join(pl.DataFrame({"scope": SHARED}), how="cross")
    inside = known.join(pl.concat([own, beside.select(own.columns)]).unique(), on="scope")
    everywhere = known.join(scopes.filter(pl.col("scope").is_null()).select("part"), how="cross")
    documents = pl.concat([inside, everywhere.select(inside.columns)]).sort("part", "id")
    parted = asked.join(scopes, on="scope", how="left", nulls_equal=True).sort("part", "query_id")
    return Collection(documents, parted, scopes.height)


def _with_columns(table: pl.DataFrame, kinds: dict[str, Any]) -> pl.DataFrame:
    absent = [pl.lit(None, kind).alias(n) for n, kind in kinds.items() if n not in table.columns]
    return table.with_columns(absent)


def _dated(records: pl.DataFrame) -> pl.DataFrame:
    """Adds `stored`, and `until`: when a hidden record's successor was stored, or it ceased to be valid before."""
    stored = pl.coalesce(
        pl.col("seq").cast(pl.Float64), pl.col("created_at").dt.timestamp("us").cast(pl.Float64)
    )
    dated = records.with_columns(stored=stored.fill_null(-FOREVER))
    successors = dated.select(superseded_by="id", until="stored")
    ended = pl.when(pl.col("seq").is_null() & pl.col("until").is_not_null()).then(
        pl.col("valid_to").dt.timestamp("us").cast(pl.Float64)
    )
    return dated.join(successors, on="superseded_by", how="left").with_columns(
        until=pl.when(pl.col("superseded_by").is_null()).then(float("inf"))
        .otherwise(pl.min_horizontal("until", ended).fill_null(float("-inf")))
    )  # fmt: skip


def _asked(queries: pl.DataFrame) -> pl.DataFrame:
    kinds: dict[str, Any] = {"scope": pl.String, "as_of": pl.Datetime("us", "UTC"), "seq": pl.Int64}
    asked = _with_columns(queries, kinds).select("query_id", "text", *kinds)
    before = pl.col("seq").cast(pl.Float64) - 0.5
    until = pl.col("as_of").cast(kinds["as_of"]).dt.timestamp("us").cast(pl.Float64)
    return asked.with_columns(asked=pl.coalesce(before, until).fill_null(FOREVER))


_MARK = "\x1f"


def in_passages(records: pl.DataFrame, size: int) -> pl.DataFrame:
    """Return records cut at the ends of words into passages of about so many characters."""
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
