"""Ratios of CPU time in one process: BM25 against bm25s, fusion against a dictionary, measures against ir_measures.

Run with `pytest -m slow tests/bench/test_search_ratios.py -s`, on a machine that does nothing else.
"""

import bm25s
import ir_measures
import numpy as np
import polars as pl
import pytest

from memops.measures import grades
from memops.search.bm25 import bm25, counted
from memops.search.fuse import rrf_rows
from memops.search.ranks import best_sparse
from tests.bench.timing import cpu

pytestmark = pytest.mark.slow
DOCUMENTS, LENGTH, VOCABULARY, QUERIES = 100_000, 30, 60_000, 200


@pytest.fixture(scope="module")
def ids():
    rng = np.random.default_rng(0)
    draw = lambda n, size: (rng.random((n, size)) ** 3 * VOCABULARY).astype(np.int64)  # noqa: E731
    return draw(DOCUMENTS, LENGTH), draw(QUERIES, 6)


def table(rows):
    row = np.repeat(np.arange(len(rows), dtype=np.uint32), rows.shape[1])
    return pl.DataFrame({"row": row, "code": rows.ravel().astype(np.uint64)})


def test_bm25_is_many_times_faster_than_bm25s_and_agrees(ids):
    documents, queries = ids
    part, k1, b = np.zeros(DOCUMENTS, np.int64), np.array([1.5]), np.array([0.75])
    ours_index, index = cpu(lambda: bm25(counted(table(documents), part), k1, b))
    asked = index.asked(table(queries).with_columns(part=pl.lit(0, pl.Int64)), QUERIES)
    ours_search, (_, scores) = cpu(lambda: best_sparse(asked, index.weights, 0, 10))
    vocabulary = {str(i): i for i in range(VOCABULARY)}
    tokens = bm25s.tokenization.Tokenized(
        ids=[list(map(int, d)) for d in documents], vocab=vocabulary
    )
    theirs = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    theirs_index, _ = cpu(lambda: theirs.index(tokens, show_progress=False), 1)
    asked_ = bm25s.tokenization.Tokenized(
        ids=[list(map(int, q)) for q in queries], vocab=vocabulary
    )
    theirs_search, found = cpu(
        lambda: theirs.retrieve(asked_, k=10, show_progress=False, backend_selection="numpy"), 1
    )
    print(f"\nindex {theirs_index / ours_index:.1f}x, search {theirs_search / ours_search:.1f}x")
    assert np.abs(found.scores - scores).max() < 1e-4
    assert theirs_index / ours_index > 5 and theirs_search / ours_search > 10


def test_fusion_is_faster_than_a_dictionary():
    rng = np.random.default_rng(1)
    runs = [np.argsort(rng.random((2000, 300)), axis=1)[:, :100] for _ in range(2)]
    ours, (rows, _) = cpu(lambda: rrf_rows(runs, 60, 10))
    lists = [run.tolist() for run in runs]

    def by_dictionary():
        out = []
        for query in zip(*lists, strict=True):
            votes = {}
            for ranking in query:
                for rank, document in enumerate(ranking, 1):
                    votes[document] = votes.get(document, 0) + 1 / (60 + rank)
            out.append(sorted(votes, key=lambda d: (-round(votes[d], 6), d))[:10])
        return out

    theirs, expected = cpu(by_dictionary)
    print(f"\nfusion {theirs / ours:.1f}x")
    assert rows.tolist() == expected
    assert theirs / ours > 3


def test_measures_are_many_times_faster_than_ir_measures():
    count, names = 5000, ["R@10", "RR", "nDCG@10"]
    rng = np.random.default_rng(2)
    documents = np.argsort(rng.random((count, 400)), axis=1)[:, :100].ravel()
    run = pl.DataFrame(
        {
            "query_id": np.repeat([f"q{i}" for i in range(count)], 100),
            "doc_id": [f"d{d}" for d in documents], "rank": np.tile(np.arange(1, 101), count),
        }
    ).with_columns(score=1 / pl.col("rank"))  # fmt: skip
    qrels = run.filter(pl.col("rank").is_in([2, 5, 30])).select(
        "query_id", "doc_id", grade=pl.lit(1)
    )
    ours, values = cpu(lambda: grades(run, qrels, names))
    parsed = [ir_measures.parse_measure(name) for name in names]
    tables = (
        qrels.select("query_id", "doc_id", pl.col("grade").alias("relevance")),
        run.drop("rank"),
    )
    theirs, found = cpu(
        lambda: list(
            ir_measures.iter_calc(
                parsed,
                [ir_measures.Qrel(*row) for row in tables[0].iter_rows()],
                [ir_measures.ScoredDoc(*row) for row in tables[1].iter_rows()],
            )
        ),
        1,
    )
    print(f"\nmeasures {theirs / ours:.1f}x")
    expected = {(m.query_id, str(m.measure)): m.value for m in found}
    assert max(abs(v - expected[q, m]) for q, m, v in values.iter_rows()) < 1e-9
    assert theirs / ours > 8
