"""Measures: against ir_measures, against worked numbers, and what counts as nothing."""

import ir_measures
import numpy as np
import polars as pl
import pytest

from memops.errors import MemopsError
from memops.measures import EXPONENTIAL, FAMILIES, answerability, grades, measure

OURS = {EXPONENTIAL, "stale", "leak"}
"""Families that ir_measures has not: each has a test of its own below."""
THEIRS = ir_measures.measures.registry
NAMES = [
    *(name for stem, one in FAMILIES.items() if stem in THEIRS for name in one.written),
    "P@10", "AP@10",
]  # fmt: skip


def run_of(rows):
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "rank"], orient="row").with_columns(
        score=1.0 / pl.col("rank")
    )


def qrels_of(rows, names=("query_id", "doc_id", "grade")):
    return pl.DataFrame(rows, schema=list(names), orient="row", infer_schema_length=None)


def value(run, qrels, name):
    return grades(run, qrels, [name])["value"].to_list()


def random_judgements(seed, queries=200, documents=60, depth=30):
    rng = np.random.default_rng(seed)
    run, qrels = [], []
    for q in range(queries):
        relevant = rng.choice(documents, rng.integers(1, 15), replace=False)
        qrels += [(f"q{q}", f"d{d}", int(rng.integers(0, 4))) for d in relevant]
        qrels.append((f"q{q}", "d0x", 1))
        if q % 17:
            ranked = rng.permutation(documents)[:depth]
            run += [(f"q{q}", f"d{d}", i + 1) for i, d in enumerate(ranked)]
    return run_of(run), qrels_of(qrels)


def oracle(run, qrels, names):
    asked = [ir_measures.parse_measure(name) for name in names]
    found = ir_measures.iter_calc(
        asked,
        [ir_measures.Qrel(*row) for row in qrels.select("query_id", "doc_id", "grade").rows()],
        [ir_measures.ScoredDoc(*row) for row in run.select("query_id", "doc_id", "score").rows()],
    )
    return {(m.query_id, str(m.measure)): m.value for m in found}


def test_a_measure_that_ir_measures_lacks_is_named_as_ours():
    lacking = {*FAMILIES} - OURS - {*THEIRS}
    assert lacking == set(), f"name {lacking} in OURS, and write a test of each here"


@pytest.mark.parametrize("seed", range(3))
def test_measures_equal_those_of_ir_measures(seed):
    run, qrels = random_judgements(seed)
    theirs = oracle(run, qrels, NAMES)
    ours = {
        (q, str(ir_measures.parse_measure(m))): v
        for q, m, v in grades(run, qrels, NAMES).iter_rows()
    }
    assert ours.keys() == theirs.keys()
    assert max(abs(ours[key] - theirs[key]) for key in theirs) < 1e-9


def test_a_query_that_was_not_answered_counts_as_zero():
    out = grades(run_of([("a", "x", 1)]), qrels_of([("a", "x", 1), ("b", "y", 1)]), ["R@5", "RR"])
    assert out.rows() == [("a", "R@5", 1.0), ("b", "R@5", 0.0), ("a", "RR", 1.0), ("b", "RR", 0.0)]


def test_a_unit_that_no_record_holds_stays_in_the_denominator():
    qrels = qrels_of(
        [("a", "u1", "x", 1), ("a", "u2", None, 1)], ["query_id", "unit", "doc_id", "grade"]
    )
    assert value(run_of([("a", "x", 1)]), qrels, "R@5") == [0.5]


def test_a_unit_has_the_best_rank_of_its_holders():
    qrels = qrels_of(
        [("a", "u", "x", 1), ("a", "u", "y", 1)], ["query_id", "unit", "doc_id", "grade"]
    )
    assert value(run_of([("a", "z", 1), ("a", "y", 2), ("a", "x", 3)]), qrels, "RR") == [0.5]
    assert value(run_of([("a", "z", 1), ("a", "y", 2), ("a", "x", 3)]), qrels, "R@5") == [1.0]


def test_one_merged_record_that_holds_two_units_is_perfect_and_no_better():
    qrels = qrels_of(
        [("a", "u", "x", 1), ("a", "v", "x", 1)], ["query_id", "unit", "doc_id", "grade"]
    )
    run = run_of([("a", "x", 1)])
    assert [value(run, qrels, n) for n in ("R@5", "nDCG@10", "AP", "P@5")] == [
        [1.0],
        [1.0],
        [1.0],
        [0.2],
    ]


def test_stale_is_an_old_value_before_the_current_one_and_leak_is_any():
    names = ["query_id", "doc_id", "grade", "avoid"]
    qrels = qrels_of([("a", "new", 1, False), ("a", "old", 0, True)], names)
    before = run_of([("a", "old", 1), ("a", "new", 2)])
    after = run_of([("a", "new", 1), ("a", "old", 2)])
    alone = run_of([("a", "old", 3)])
    assert [value(r, qrels, "stale@5") for r in (before, after, alone)] == [[1.0], [0.0], [1.0]]
    assert [value(r, qrels, "leak@5") for r in (before, after, alone)] == [[1.0], [1.0], [1.0]]
    assert value(alone, qrels, "leak@2") == [0.0]


def test_an_unknown_measure_is_named_with_those_known():
    with pytest.raises(MemopsError, match=r"unknown measure 'NDCG@10'; known: R@5, R@10"):
        measure("NDCG@10")
    for name in ("R", "P", "R@0", "R@x", "", "Success"):
        with pytest.raises(MemopsError, match="unknown measure"):
            measure(name)


def test_exponential_gain_is_two_to_the_grade_less_one():
    run, qrels = random_judgements(5)
    raised = qrels.with_columns(grade=(2 ** pl.col("grade") - 1).cast(pl.Int64))
    theirs = oracle(run, raised, ["nDCG@10"])
    ours = {(q, "nDCG@10"): v for q, _, v in grades(run, qrels, [f"{EXPONENTIAL}@10"]).iter_rows()}
    assert max(abs(ours[key] - theirs[key]) for key in theirs) < 1e-9


def test_answerability_is_the_area_under_the_curve_of_scikit_learn():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(4)
    scores = rng.normal(size=300).round(1) + np.repeat([0.8, 0.0], [200, 100])
    ids = [f"q{i}" for i in range(300)]
    queries = pl.DataFrame({"query_id": ids, "answerable": [i < 200 for i in range(300)]})
    run = run_of([(q, "x", 1) for q in ids]).with_columns(score=pl.Series(scores))
    told = answerability(run, queries)
    assert told["auroc"] == pytest.approx(roc_auc_score(queries["answerable"], scores), abs=1e-12)
    reached = (scores[:200] >= told["threshold"]).mean()
    assert 0.95 <= reached < 0.97
    assert told["false_positives"] == pytest.approx((scores[200:] >= told["threshold"]).mean())


def test_a_query_without_any_result_scores_below_all_others():
    queries = pl.DataFrame({"query_id": ["a", "b"], "answerable": [True, False]})
    told = answerability(run_of([("a", "x", 1)]), queries)
    assert [*told.values()] == [1.0, 1.0, 0.0]
