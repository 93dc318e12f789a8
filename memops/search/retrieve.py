"""Retrieval: the one entry to every retriever, from records and queries to a run."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from memops.encode import Encoder
from memops.errors import MemopsError
from memops.policy import Policy
from memops.search.arms import Arms, Scores, dense_block
from memops.search.collection import Block, collect
from memops.search.fuse import rrf_rows
from memops.search.hybrid import Hybrid
from memops.search.profiles import PROFILES, profile_run

Ints = npt.NDArray[np.int64]
Ranks = tuple[Ints, npt.NDArray[np.float64]]
RUN = pl.Schema(
    {"query_id": pl.String(), "doc_id": pl.String(), "rank": pl.Int64(), "score": pl.Float64()}
)


def search(
    records: pl.DataFrame,
    queries: pl.DataFrame,
    retriever: str,
    encoder: Encoder | None,
    policy: Policy,
    k: int = 10,
) -> pl.DataFrame:
    """Return the run (query_id, doc_id, rank, score) of queries (query_id, text, scope?, as_of?).

    Only live records of the query's scope (null is all), stored by `as_of`, are ranked. Scores are
    rounded to 1e-6 before they are compared; ties go by id.
    """
    return Searcher(records, queries, encoder, policy).run(retriever, k)


class Searcher:
    """Several retrievers over one collection, sharing what they compute."""

    def __init__(
        self, records: pl.DataFrame, queries: pl.DataFrame, encoder: Encoder | None, policy: Policy
    ) -> None:
        self.collection = collect(records, queries)
        self.arms = Arms(self.collection, encoder, policy)
        self.policy = policy
        self._given = records, queries, encoder

    def run(self, retriever: str, k: int = 10) -> pl.DataFrame:
        """Return one retriever's or profile's run; raises MemopsError for an unknown one."""
        if retriever not in RETRIEVERS and retriever not in PROFILES:
            known = ", ".join((*RETRIEVERS, *PROFILES))
            raise MemopsError(f"unknown retriever {retriever!r}; known: {known}")
        if self.collection.documents.is_empty() or self.collection.queries.is_empty():
            return RUN.to_frame()
        if retriever in PROFILES:
            return profile_run(retriever, *self._given, k)
        found = [
            (block, *RETRIEVERS[retriever](self, block, k)) for block in self.collection.blocks()
        ]
        return self._table([f for f in found if f[1].size])

    @cached_property
    def hybrid(self) -> Hybrid:
        """Return the recommended retriever."""
        return Hybrid(self.arms)

    def _table(self, found: list[tuple[Block, Ints, Any]]) -> pl.DataFrame:
        if not found:
            return RUN.to_frame()
        parts = []
        for block, rows, scores in found:
            hit = rows >= 0
            query, rank = np.nonzero(hit)
            parts.append(
                (
                    query + block.queries.start,
                    rows[hit] + block.documents.start,
                    rank + 1,
                    scores[hit],
                )
            )
        query, row, rank, score = (np.concatenate(column) for column in zip(*parts, strict=True))
        return pl.DataFrame(
            {
                "query_id": self.collection.queries["query_id"].gather(query),
                "doc_id": self.collection.documents["id"].gather(row),
                "rank": rank, "score": score,
            },
            schema=RUN,
        )  # fmt: skip


def best(scores: Scores, k: int, seen: npt.NDArray[np.bool_] | None, above: float = 0.0) -> Ranks:
    """Return the columns and scores of each row's k best, best first, -1 where there is none.

    Scores are compared at 1e-6; ties go to the lower column. What is not seen, or not above the
    given score, is not ranked.
    """
    count = scores.shape[1]
    k = min(k, count)
    rounded = np.rint(scores.astype(np.float64) * 1e6).astype(np.int64)
    allowed = (
        rounded > np.rint(above * 1e6) if above > -np.inf else np.ones(scores.shape, dtype=bool)
    )
    allowed = allowed if seen is None else allowed & seen
    lowest = -(2**62)
    # One integer holds score and place, so that a partial sort is exact about ties.
    keys = np.where(allowed, rounded * count - np.arange(count), lowest)
    top = (
        np.argpartition(-keys, k - 1, axis=1)[:, :k]
        if k < count
        else np.tile(np.arange(count), (len(scores), 1))
    )
    order = np.argsort(-np.take_along_axis(keys, top, axis=1), axis=1, kind="stable")
    rows = np.take_along_axis(top, order, axis=1)
    ok = np.take_along_axis(allowed, rows, axis=1)
    return np.where(ok, rows, -1), np.take_along_axis(rounded, rows, axis=1) / 1e6


def _arm(name: str, above: float) -> "Retriever":
    def ranks(searcher: Searcher, block: Block, k: int) -> Ranks:
        seen = searcher.collection.seen(block)
        return best(searcher.arms.scores(name, block), k, seen, above)

    return ranks


def _rrf(searcher: Searcher, block: Block, k: int) -> Ranks:
    settings = searcher.policy.retrieval
    arms = [
        RETRIEVERS[name](searcher, block, max(k, settings.depth))[0] for name in ("bm25", "dense")
    ]
    return rrf_rows(arms, settings.rrf_k, k)


def _hybrid(searcher: Searcher, block: Block, k: int) -> Ranks:
    return best(searcher.hybrid.scores(block), k, searcher.collection.seen(block), float("-inf"))


def _grep(searcher: Searcher, block: Block, k: int) -> Ranks:
    index, asked = searcher.arms.sparse("words")
    binary, held = asked[block.queries].sign(), index.weights.sign()
    return best(dense_block(binary @ held, block), k, searcher.collection.seen(block))


Retriever = Callable[[Searcher, Block, int], Ranks]
RETRIEVERS: dict[str, Retriever] = {
    "bm25": _arm("words", 0.0),
    "dense": _arm("dense", float("-inf")),
    "rrf": _rrf,
    "hybrid": _hybrid,
    "grep": _grep,
}
