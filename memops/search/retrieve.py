"""Retrieval: the one entry to every retriever, from records and queries to a run."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from memops.errors import MemopsError
from memops.models.nearest import Approximate, Ints, Ranks, Scores, approximate, nearest
from memops.models.vectors import Encoder
from memops.policy import Policy
from memops.search.arms import Arms, dense_block
from memops.search.collection import RUN, Block, collect
from memops.search.fuse import best, best_sparse, diversified, rrf_rows
from memops.search.hybrid import Hybrid


def search(
    records: pl.DataFrame,
    queries: pl.DataFrame,
    retriever: str,
    encoder: Encoder | None,
    policy: Policy,
    k: int = 10,
) -> pl.DataFrame:
    """Return the run (query_id, doc_id, rank, score) of queries (query_id, text, scope?, as_of?).

    Ranked are live records of the query's scope (null is all) and shared ones, stored by `as_of`;
    scores are rounded to 1e-6 before they are compared, ties go by id.
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
        self.indexes: dict[int, Approximate] = {}
        """Of each part that is too large for exact search, with the recall that was measured."""

    def run(self, retriever: str, k: int = 10) -> pl.DataFrame:
        """Return one retriever's run; raises MemopsError for an unknown one."""
        if retriever not in RETRIEVERS:
            raise MemopsError(f"unknown retriever {retriever!r}; known: {', '.join(RETRIEVERS)}")
        if self.collection.documents.is_empty() or self.collection.queries.is_empty():
            return RUN.to_frame()
        ranked = RETRIEVERS[retriever]
        found = [(block, *ranked(self, block, k)) for block in self.collection.blocks()]
        return self._table([f for f in found if f[1].size])

    def weighing(self, weights: dict[str, float]) -> "Searcher":
        """Return the same with other weights of the arms, sharing what was computed."""
        other = copy(self)
        retrieval = replace(
            self.policy.retrieval, weights=weights, model_weights=weights, chinese_weights=weights
        )
        other.policy = replace(self.policy, retrieval=retrieval)
        other.arms = copy(self.arms)
        other.arms.policy = other.policy
        other.__dict__.pop("hybrid", None)
        return other

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
            places = query + block.queries.start, rows[hit] + block.documents.start
            parts.append((*places, rank + 1, scores[hit]))
        query, row, rank, score = (np.concatenate(column) for column in zip(*parts, strict=True))
        return pl.DataFrame(
            {
                "query_id": self.collection.queries["query_id"].gather(query),
                "doc_id": self.collection.documents["id"].gather(row),
                "rank": rank, "score": score,
            },
            schema=RUN,
        )  # fmt: skip


def _bm25(searcher: Searcher, block: Block, k: int) -> Ranks:
    if block.large and searcher.collection.seen(block) is None:
        index, asked = searcher.arms.sparse("words")
        return best_sparse(asked[block.queries], index.weights, block.documents.start, k)
    return _whole(searcher, block, k, lambda piece: searcher.arms.scores("words", piece), 0.0)


def _dense(searcher: Searcher, block: Block, k: int) -> Ranks:
    if block.large and searcher.collection.seen(block) is None:
        documents, queries = searcher.arms.vectors
        settings = searcher.policy.retrieval
        if block.shape[1] > settings.exact_vectors:
            if block.part not in searcher.indexes:
                least = settings.approximate_recall
                searcher.indexes[block.part] = approximate(documents[block.documents], least)
            return searcher.indexes[block.part].nearest(queries[block.queries], k)
        return nearest(documents[block.documents], queries[block.queries], k)
    return _whole(searcher, block, k, lambda piece: searcher.arms.scores("dense", piece))


Scoring = Callable[[Block], Scores]


def _whole(
    searcher: Searcher, block: Block, k: int, scores: Scoring, above: float = float("-inf")
) -> Ranks:
    """Ranks by the full matrix of scores, some queries at a time."""
    seen = searcher.collection.seen
    parts = [best(scores(piece), k, seen(piece), above) for piece in block.pieces()]
    rows, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, values


def _rrf(searcher: Searcher, block: Block, k: int) -> Ranks:
    settings = searcher.policy.retrieval
    deep = max(k, settings.depth)
    arms = [arm(searcher, block, deep)[0] for arm in (_bm25, _dense)]
    return rrf_rows(arms, settings.rrf_k, k)


def _mmr(searcher: Searcher, block: Block, k: int) -> Ranks:
    """The hybrid's best, each next one the most telling beside those before it."""
    rows, scores = _hybrid(searcher, block, max(5 * k, 50))
    documents = searcher.arms.vectors[0][block.documents]
    return diversified(rows, scores, documents, searcher.policy.retrieval.diversity, k)


def _hybrid(searcher: Searcher, block: Block, k: int) -> Ranks:
    return _whole(searcher, block, k, searcher.hybrid.scores)


def _grep(searcher: Searcher, block: Block, k: int) -> Ranks:
    index, asked = searcher.arms.sparse("words")
    words, held = asked.sign(), index.weights.sign()
    return _whole(searcher, block, k, lambda p: dense_block(words[p.queries] @ held, p), above=0.0)


Retriever = Callable[[Searcher, Block, int], Ranks]
RETRIEVERS: dict[str, Retriever] = {
    "bm25": _bm25, "dense": _dense, "rrf": _rrf, "hybrid": _hybrid, "grep": _grep, "mmr": _mmr,
}  # fmt: skip
