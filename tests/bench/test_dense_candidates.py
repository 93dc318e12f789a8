"""What an encoder's neighbours cost.

Run with `pytest -m slow tests/bench/test_dense_candidates.py -s -n 0`. LSA is measured, and the
sentence-transformers models whose folders MEMOPS_BENCH_ENCODERS names (with `:` between them).
"""

import os
from datetime import UTC, datetime

import pytest

from memops.context import Context
from memops.judge.candidates.similarity import candidates
from memops.models.local import local_models
from memops.policy import Dense, Policy
from tests.bench.corpus import store
from tests.bench.timing import cpu

pytestmark = pytest.mark.slow
NOW = datetime(2026, 6, 1, tzinfo=UTC)
ENCODERS = ["lsa", *filter(None, os.environ.get("MEMOPS_BENCH_ENCODERS", "").split(":"))]


def context(records, encoder, folder):
    policy = Policy(dense=Dense(encoder=encoder))
    return Context(now=NOW, policy=policy, models=local_models(policy, folder, records))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_what_dense_neighbours_of_ten_thousand_records_cost(encoder, tmp_path):
    records = store(10_000)
    plain, words = cpu(lambda: candidates(records, Context(now=NOW)), 1)
    opening, ctx = cpu(lambda: context(records, encoder, tmp_path), 1)
    spent, found = cpu(lambda: candidates(records, ctx), 1)
    print(f"\n{encoder}: {words.height} candidates by words in {plain:.1f} CPU-s; {found.height} in {spent:.1f}, opened in {opening:.1f}")  # fmt: skip
    assert words.select("a", "b").join(found, on=["a", "b"], how="anti").is_empty()
