"""A thousand queries over a million records, by both arms, and how near faiss comes to the machine.

Run with `pytest -m slow -s tests/bench/test_million.py`, on a machine that does nothing else.
"""

import resource
import time

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_limits

from memops.models.encode import Lsa, unit
from memops.models.nearest import library, nearest
from memops.policy import Policy
from memops.schema import from_rows
from memops.search.retrieve import Searcher
from tests.bench.timing import ratio

pytestmark = pytest.mark.slow
RECORDS, QUERIES = 1_000_000, 1000


def texts(rng, count, words, vocabulary=50_000):
    """Texts of one vocabulary, whose words are as unequally frequent as a language's."""
    syllables = np.array([a + b for a in "bdfgklmnprstvz" for b in "aeiou"])
    chosen = np.random.default_rng(7).choice(70**3, vocabulary, replace=False)
    names = np.array(["".join(syllables[[n // 4900, n // 70 % 70, n % 70]]) for n in chosen])
    drawn = (rng.random((count, words)) ** 4 * vocabulary).astype(np.int64)
    table = pl.DataFrame({f"w{i}": names[drawn[:, i]] for i in range(words)})
    return table.select(pl.concat_str(table.columns, separator=" ").alias("text"))["text"]


def test_a_thousand_queries_over_a_million_records_take_seconds():
    rng = np.random.default_rng(0)
    row = from_rows([{"id": "x", "text": "x", "scope": "u", "kind": "fact"}])
    ids = pl.Series([f"r{i:07}" for i in range(RECORDS)])
    records = pl.DataFrame({"id": ids, "text": texts(rng, RECORDS, 10)}).join(
        row.drop("id", "text"), how="cross"
    )
    records = records.select(row.columns)
    queries = pl.DataFrame(
        {"query_id": [f"q{i:04}" for i in range(QUERIES)], "text": texts(rng, QUERIES, 6)}
    )
    lsa = Lsa().fitted(records["text"].head(20_000).to_list())
    searcher = Searcher(records, queries, lsa, Policy())
    for name, build in (
        ("words", lambda: searcher.arms.sparse("words")), ("vectors", lambda: searcher.arms.vectors),
        *((name, lambda name=name: searcher.run(name, 10)) for name in ("bm25", "dense")),
    ):  # fmt: skip
        wall, begun = time.perf_counter(), time.process_time()
        made = build()
        wall, begun = time.perf_counter() - wall, time.process_time() - begun
        gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"\n{name}: {wall:.1f} s, {begun:.1f} CPU s; peak {gigabytes:.2f} GB", end="")
        if name in ("bm25", "dense"):
            assert (made.group_by("query_id").len()["len"] == 10).mean() > 0.99
    assert gigabytes <= 4


@pytest.mark.parametrize("count", [100, 1000])
def test_exact_search_runs_at_the_rate_of_the_matrix_product(count):
    rng = np.random.default_rng(1)
    documents = unit(rng.normal(size=(100_000, 256)).astype(np.float32))
    asked = unit(rng.normal(size=(count, 256)).astype(np.float32))
    room = np.empty((count, 4000), np.float32)  # stays in the cache, as the search's own does

    def product():
        for i in range(0, 100_000, 4000):
            np.matmul(asked, documents[i : i + 4000].T, out=room)

    # By one thread, for threads that wait for each other on a busy machine count as work.
    faiss = library()
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    with threadpool_limits(1):
        times, _ = ratio(product, lambda: nearest(documents, asked, 10), 5, 1)
    faiss.omp_set_num_threads(threads)
    print(f"\n{count} queries: faiss at {times:.0%} of the rate of the product")
    assert times >= 0.7
