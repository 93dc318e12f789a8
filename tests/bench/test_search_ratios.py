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
from memops.search.fuse import best_sparse, rrf_rows
from tests.bench.timing import ratio

pytestmark = pytest.mark.slow
DOCUMENTS, LENGTH, VOCABULARY, QUERIES = 100_000, 30, 60_000, 200


@pytest.fixture(scope="module")
def ids():
    rng = np.random.default_rng(0)
    draw = lambda n, size: (rng.random((n, size)) ** 3 * VOCABULARY).astype(np.int64)  # noqa: E731
    return draw(DOCUMENTS, LENGTH), draw(QUERIES, 6)


def table(rows):
    row = np.repeat(np.arange(len(rows), dtype=np.uint32), rows.shape[1])
    return pl.DataFrame(
        {"row": row, "code": rows.ravel().astype(np.uint64), "id": rows.ravel().astype(np.uint32)}
    )


def tokenized(rows):
    vocabulary = {str(i): i for i in range(VOCABULARY)}
    return bm25s.tokenization.Tokenized(ids=rows.tolist(), vocab=vocabulary)


def test_bm25_is_many_times_faster_than_bm25s_and_agrees(ids):
    documents, queries = map(table, ids)
    part, k1, b = np.zeros(DOCUMENTS, np.int64), np.array([1.5]), np.array([0.75])
    theirs, (corpus, asked_of_them) = (
        bm25s.BM25(method="lucene", k1=1.5, b=0.75),
        map(tokenized, ids),
    )
    indexing, (_, index) = ratio(
        lambda: theirs.index(corpus, show_progress=False),
        lambda: bm25(counted(documents, part), k1, b),
    )
    asked = index.asked(queries.with_columns(part=pl.lit(0, pl.Int64)), QUERIES)
    searching, (found, (_, scores)) = ratio(
        lambda: theirs.retrieve(
            asked_of_them, k=10, show_progress=False, backend_selection="numpy"
        ),
        lambda: best_sparse(asked, index.weights, 0, 10),
    )
    print(f"\nindex {indexing:.1f}x, search {searching:.1f}x")
    assert np.abs(found.scores - scores).max() < 1e-4
    assert indexing > 15 and searching > 15


def test_fusion_is_faster_than_a_dictionary():
    rng = np.random.default_rng(1)
    runs = [np.argsort(rng.random((2000, 300)), axis=1)[:, :100] for _ in range(2)]
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

    times, (expected, (rows, _)) = ratio(by_dictionary, lambda: rrf_rows(runs, 60, 10))
    print(f"\nfusion {times:.1f}x")
    assert rows.tolist() == expected
    assert times > 4


@pytest.mark.parametrize("names", [["R@10", "RR@10", "nDCG@10"], ["R@10", "RR", "nDCG@10"]])
def test_measures_are_many_times_faster_than_ir_measures(names):
    count = 5000
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
    parsed = [ir_measures.parse_measure(name) for name in names]
    tables = (
        qrels.select("query_id", "doc_id", pl.col("grade").alias("relevance")),
        run.drop("rank"),
    )

    def by_ir_measures():
        judged = [ir_measures.Qrel(*row) for row in tables[0].iter_rows()]
        ranked = [ir_measures.ScoredDoc(*row) for row in tables[1].iter_rows()]
        return list(ir_measures.iter_calc(parsed, judged, ranked))

    judged = [ir_measures.Qrel(*row) for row in tables[0].iter_rows()]
    ranked = [ir_measures.ScoredDoc(*row) for row in tables[1].iter_rows()]
    ours = lambda: grades(run, qrels, names)  # noqa: E731
    times, (found, values) = ratio(by_ir_measures, ours)
    bare, _ = ratio(lambda: list(ir_measures.iter_calc(parsed, judged, ranked)), ours)
    print(f"\n{names}: {times:.1f}x from one table, {bare:.1f}x of the calculation alone")
    expected = {(m.query_id, str(m.measure)): m.value for m in found}
    assert max(abs(v - expected[q, m]) for q, m, v in values.iter_rows()) < 1e-9
    assert times > 25
