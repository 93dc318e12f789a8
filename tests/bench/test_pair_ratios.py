"""Duplicates and conflicts, as ratios of CPU time in one process: against SemHash, sparse_dot_topn and a Python loop.

Run with `pytest -m slow tests/bench/test_pair_ratios.py -s -n 0`, on a machine that does nothing else.
SemHash and sparse_dot_topn are compared with where they are installed.
"""

import subprocess
import sys
from datetime import UTC, datetime
from math import log, sqrt

import numpy as np
import polars as pl
import pytest

from memops.context import Context
from memops.judge.candidates.near import alike, alike_by_hashes, sets
from memops.judge.candidates.similarity import candidates, statements
from memops.judge.candidates.worth import combined
from memops.judge.conflicts import judged
from memops.language.codes import codes
from memops.policy import Conflicts
from tests.bench.corpus import store, texts
from tests.bench.timing import cpu

pytestmark = pytest.mark.slow
NOW = datetime(2026, 6, 1, tzinfo=UTC)
MANY = 100_000


@pytest.fixture(scope="module")
def notes():
    return pl.Series("text", texts(MANY))


@pytest.fixture(scope="module")
def ours(notes):
    """CPU seconds of tokens and of the search, token sets, and the pairs."""
    reading, found = cpu(lambda: codes(notes))
    search, pairs = cpu(lambda: alike(*sets(found.rows, found.codes, MANY), MANY, 0.7))
    print(f"\n{MANY} notes: tokens {reading:.2f}, near duplicates {search:.2f} CPU-s, {len(pairs[0])} pairs")  # fmt: skip
    return reading, search, found, pairs


def test_near_duplicates_are_found_many_times_faster_than_by_semhash(notes, ours):
    semhash = pytest.importorskip("semhash")
    pytest.importorskip("model2vec")
    reading, search, *_ = ours
    model = static_model()
    theirs, _ = cpu(
        lambda: semhash.SemHash.from_records(
            records=notes.to_list(), model=model
        ).self_deduplicate(),
        1,
    )
    print(f"\nSemHash {theirs:.1f} CPU-s: {theirs / search:.0f}x, with our tokens {theirs / (reading + search):.0f}x")  # fmt: skip
    assert theirs / search >= 50


def static_model():
    """A static embedding of 256 numbers a word, made here: SemHash does the same work with any."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=20_000, special_tokens=["[UNK]", "[PAD]"])
    tokenizer.train_from_iterator(texts(5000, seed=1), trainer)
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(tokenizer.get_vocab_size(), 256)).astype(np.float32)
    return StaticModel(vectors=vectors, tokenizer=tokenizer)


def test_near_duplicates_are_found_many_times_faster_than_by_sparse_dot_topn(ours):
    library = pytest.importorskip("sparse_dot_topn")
    from scipy.sparse import csr_matrix, diags

    _, search, found, pairs = ours
    rows, items = sets(found.rows, found.codes, MANY)
    _, columns = np.unique(items, return_inverse=True)
    held = np.bincount(columns)
    weights = np.log(MANY / held)[columns]
    tfidf = csr_matrix((weights, (rows, columns)), shape=(MANY, len(held)))
    norms = np.sqrt(np.asarray(tfidf.multiply(tfidf).sum(axis=1)).ravel())
    tfidf = (diags(1 / np.maximum(norms, 1e-12)) @ tfidf).tocsr().astype(np.float32)
    other = tfidf.T.tocsr()
    theirs, _ = cpu(lambda: library.sp_matmul_topn(tfidf, other, top_n=8, threshold=0.6), 1)
    print(f"\nsparse_dot_topn {theirs:.1f} CPU-s: {theirs / search:.0f}x")
    assert theirs / search >= 30


def test_nothing_is_missed_that_comparing_all_with_all_finds():
    from scipy.sparse import csr_matrix

    n = 10_000
    found = codes(pl.Series("text", texts(n)))
    rows, items = sets(found.rows, found.codes, n)
    known, columns = np.unique(items, return_inverse=True)
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, len(known)))

    def exhaustive():
        product = (matrix @ matrix.T).tocoo()
        size = np.bincount(rows, minlength=n)
        share = product.data / (size[product.row] + size[product.col] - product.data)
        keep = (share >= 0.7 - 1e-9) & (product.row < product.col)
        return set(zip(product.row[keep].tolist(), product.col[keep].tolist(), strict=True))

    theirs, expected = cpu(exhaustive, 1)
    search, (a, b, _) = cpu(lambda: alike(rows, items, n, 0.7))
    one, two, _ = alike_by_hashes(rows, items, n, 0.7)
    hashed = set(zip(one.tolist(), two.tolist(), strict=True))
    print(f"\n{len(expected)} pairs, {theirs / search:.0f}x exhaustive; by hashes {len(hashed & expected) / len(expected):.4f} of them")  # fmt: skip
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == expected
    assert hashed <= expected and len(hashed) >= 0.99 * len(expected)


def test_candidates_hold_nearly_all_pairs_that_judging_all_with_all_would_find():
    """The limits of a thousand statements: every pair is compared, and its verdict known."""
    from memops.judge.comparing import verdicts
    from memops.statements.readings import read_all

    frame, ctx = store(1200, seed=4), Context(now=NOW)
    table = statements(frame, ctx).table
    a, b = np.triu_indices(table.height, 1)
    every = pl.DataFrame({"a": a.astype(np.uint32), "b": b.astype(np.uint32)})
    told = pl.concat([every, verdicts(every, read_all(table["text"].to_list()), np.arange(table.height))], how="horizontal")  # fmt: skip
    firm = pl.col("firm_a") & pl.col("firm_b")
    wanted = told.filter(firm & (pl.col("same") | pl.col("opposes").is_not_null()))
    held = wanted.join(candidates(frame, ctx), on=["a", "b"], how="semi").height
    read = wanted.join(judged(frame, ctx), on=["a", "b"], how="semi").height
    print(f"\nof {wanted.height} pairs that all with all would judge, {held / wanted.height:.3f} are candidates, {read / wanted.height:.3f} read")  # fmt: skip
    assert held >= 0.9 * wanted.height


def loop(pairs, members, held, n, weights):
    """The three signals and their weighted sum, a pair at a time."""
    out = []
    for a, b in pairs:
        one, two = members[a], members[b]
        both = one & two
        jaccard = len(both) / max(len(one | two), 1)
        idf = {t: log(1 + n / (1 + held[t])) for t in one | two}
        norms = sqrt(sum(idf[t] ** 2 for t in one)) * sqrt(sum(idf[t] ** 2 for t in two))
        cosine = sum(idf[t] ** 2 for t in both) / norms if norms else 0.0
        rare = {t: log(1 + (n - held[t] + 0.5) / (held[t] + 0.5)) for t in one | two}
        shared = sum(rare[t] for t in both)
        own = [max(sum(rare[t] for t in side), 1e-9) for side in (one, two)]
        bm25 = min((shared / own[0] + shared / own[1]) / 2, 1)
        out.append(weights.jaccard * jaccard + weights.cosine * cosine + weights.bm25 * bm25)
    return out


def test_scoring_is_many_times_faster_than_a_loop_over_pairs_and_agrees():
    from memops.judge.candidates.neighbours import weighed
    from memops.judge.candidates.similarity import _signals
    from memops.judge.candidates.termsets import tagged, untagged

    n, said = 20_000, pl.Series("text", texts(20_000))
    rows, items = tagged(untagged(codes(said, unigrams=True), n), pl.repeat("", n, eager=True))
    terms = weighed(rows, items, n, n)
    rng = np.random.default_rng(0)
    a = rng.integers(0, n, 400_000)
    b = (a + 1 + rng.integers(0, n - 1, len(a))) % n
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    ours, found = cpu(lambda: _signals(terms, a, b).select(score=combined(Conflicts()))["score"])
    indptr, columns = terms.held.indptr, terms.held.indices
    members = [set(columns[indptr[i] : indptr[i + 1]].tolist()) for i in range(n)]
    some = rng.choice(len(a), 20_000, replace=False)
    pairs = list(zip(a[some].tolist(), b[some].tolist(), strict=True))
    theirs, expected = cpu(
        lambda: loop(pairs, members, np.bincount(columns).tolist(), n, Conflicts()), 1
    )
    ratio = (theirs / len(pairs)) / (ours / len(a))
    print(f"\nscoring {ratio:.0f}x a loop, {len(a) / ours / 1e6:.2f} million pairs a CPU-second")
    assert np.abs(found.to_numpy()[some] - np.array(expected)).max() < 1e-5
    assert ratio >= 50


ONE = """
import importlib, resource, sys, time
from datetime import UTC, datetime
from memops.judge.conflicts import judged
from memops.context import Context
from memops.rules.merge_exact import merge_exact
from memops.rules.merge_near import merge_near
from memops.rules.supersede_conflicting import supersede_conflicting
store = importlib.import_module(f"tests.bench.{sys.argv[2]}").store
n = int(sys.argv[1])
store(100)
frame, ctx = store(n), Context(now=datetime(2026, 6, 1, tzinfo=UTC))
judged(frame.head(200), Context(now=ctx.now))
start = time.process_time()
for rule in (supersede_conflicting, merge_exact, merge_near):
    rule(frame, ctx)
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def whole(n, made="corpus"):
    """CPU seconds and GiB of deduplicating n records and looking for conflicts, in a new process."""
    done = subprocess.run([sys.executable, "-c", ONE, str(n), made], capture_output=True, text=True, check=True)  # fmt: skip
    return tuple(map(float, done.stdout.split()))


@pytest.mark.parametrize("made", ["corpus", "lives"])
def test_the_cost_grows_with_the_records_not_with_their_square(made):
    small, large = whole(10_000, made), whole(100_000, made)
    print(f"\n{made}, 10,000: {small[0]:.1f} CPU-s; 100,000: {large[0]:.1f} CPU-s, {large[0] / small[0]:.1f} times, {large[1]:.1f} GiB")  # fmt: skip
    assert large[0] / small[0] <= 15


def test_a_million_records_are_deduplicated_and_scanned_for_conflicts():
    seconds, memory = whole(1_000_000)
    print(f"\n1,000,000: {seconds:.0f} CPU-s, {memory:.1f} GiB")
    assert memory <= 5 and seconds <= 120
