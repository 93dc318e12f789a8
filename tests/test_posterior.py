"""Posterior: what the answers of a fallible model come to, taken together."""

import itertools
import random

import polars as pl
import pytest

from memops.judge.posterior import LEAST, accuracy, posterior, tallied
from memops.verdicts import A_REPLACES_B, B_REPLACES_A, BOTH_HOLD, SAME, UNSURE

CONFLICT = B_REPLACES_A  # of each pair b was said later
SURE = 0.85


def table(answers, rank=1, **columns):
    given = {
        "rank": rank, "open": True, "same": False, "opposes": None, "veto_same": None, "veto_conflict": None,
        "probability": None, "when_a": "2031-01-01", "when_b": "2031-02-01",
    } | columns  # fmt: skip
    rows = [{"a": a, "b": b, "verdict": said} for (a, b), said in answers.items()]
    told = pl.DataFrame(rows, {"a": pl.UInt32, "b": pl.UInt32, "verdict": pl.String})
    told = told.with_columns(pl.lit(value).alias(name) if not isinstance(value, list) else pl.Series(name, value) for name, value in given.items())  # fmt: skip
    text = ("opposes", "veto_same", "veto_conflict")
    return told.with_columns(pl.col(text).cast(pl.String), pl.col("probability").cast(pl.Float64))


def chances(answers, right=0.9, texts=None, **columns):
    """Of each pair how probable it is that the two are the same, in conflict, or both hold."""
    texts = texts or [f"text {n}" for n in range(60)]
    found = posterior(table(answers, **columns), pl.Series(texts), right, SURE)
    return dict(zip(answers, found.iter_rows(), strict=True))


def test_one_answer_of_a_model_that_is_right_nine_times_in_ten_is_not_sure():
    for said, place in ((SAME, 0), (CONFLICT, 1)):
        assert 0.5 < chances({(0, 1): said})[0, 1][place] < SURE
        assert chances({(0, 1): said}, 0.99)[0, 1][place] > SURE
        assert chances({(0, 1): said}, LEAST)[0, 1][place] < 0.1
    assert chances({(0, 1): UNSURE})[0, 1] == pytest.approx((0.04, 0.06, 0.9), abs=0.01)
    assert chances({}) == {}


def test_three_answers_that_agree_are_sure_and_one_that_two_contradict_is_not():
    every = dict.fromkeys([(0, 1), (0, 2), (1, 2)], SAME)
    assert min(chance[0] for chance in chances(every).values()) > SURE
    assert chances(every | {(0, 2): BOTH_HOLD})[0, 1][0] < chances({(0, 1): SAME})[0, 1][0]


def test_all_answers_between_two_groups_that_say_the_same_are_multiplied():
    one, two = (0, 1, 2), (3, 4, 5)
    inside = {pair: SAME for side in (one, two) for pair in itertools.combinations(side, 2)}
    across = dict.fromkeys(itertools.product(one, two), CONFLICT) | {(0, 3): BOTH_HOLD}
    assert chances(inside | across)[0, 3][1] > 0.99
    outvoted = dict.fromkeys(itertools.product(one, two), BOTH_HOLD) | {(0, 3): CONFLICT}
    assert chances(inside | outvoted)[0, 3][1] < 0.01


def test_of_a_series_one_wrong_answer_replaces_nothing_and_a_chain_of_values_stays_one():
    """Ten entries of a log, one pair of which is called a conflict; four values, each after the other."""
    log = dict.fromkeys(itertools.combinations(range(10), 2), BOTH_HOLD) | {(0, 9): CONFLICT}
    chain = dict.fromkeys(itertools.combinations(range(10, 14), 2), CONFLICT)
    found = chances(log | chain | {(10, 13): BOTH_HOLD})
    assert found[0, 9][1] < 0.8
    assert min(found[pair][1] for pair in chain if pair != (10, 13)) > SURE


def test_among_the_nearest_pairs_the_same_answer_tells_more():
    pairs = [(2 * n, 2 * n + 1) for n in range(1000)]
    answers = {pair: SAME if n < 150 else BOTH_HOLD for n, pair in enumerate(pairs)}
    rank = [1 if n < 200 else 9 for n in range(1000)]
    answers[pairs[-1]] = SAME
    found = chances(answers, texts=[f"{n}" for n in range(2000)], rank=rank)
    assert found[pairs[0]][0] > 0.95 and found[pairs[-1]][0] < 0.5


def test_what_rules_are_sure_of_outweighs_one_answer_of_a_model_that_often_errs():
    ruled = {"open": False, "same": True}
    assert chances({(0, 1): BOTH_HOLD}, 0.8, **ruled)[0, 1][0] > 1 - SURE
    assert chances({(0, 1): BOTH_HOLD}, 0.98, **ruled)[0, 1][0] < 1 - SURE


def test_answers_on_places_of_one_text_count_as_one():
    texts = ["Hall key: Ida", *["Hall key: Ida"] * 2, "Hall key: Juno"]
    once = chances({(0, 3): CONFLICT}, texts=texts)[0, 3]
    across = dict.fromkeys([(0, 3), (1, 3), (2, 3)], CONFLICT)
    assert chances(across, texts=texts)[0, 3] == once
    outvoted = across | dict.fromkeys([(1, 3), (2, 3)], BOTH_HOLD)
    assert chances(outvoted, texts=texts)[0, 3][1] < 0.1
    places = dict.fromkeys([(0, 1), (1, 2)], SAME)
    assert chances(places, texts=texts)[0, 1][0] > SURE
    assert chances(places, LEAST, texts=texts)[0, 1][0] < SURE


def test_a_veto_is_outvoted_by_nobody_and_an_answer_against_the_times_tells_nothing():
    every = dict.fromkeys([(0, 1), (0, 2), (1, 2)], SAME)
    assert chances(every, 0.99, veto_same=["value", None, None])[0, 1][0] < 1e-6
    assert chances({(0, 1): A_REPLACES_B}) == chances({(0, 1): UNSURE})


def test_truth_is_found_again_from_answers_one_in_ten_of_which_is_wrong():
    right = joined = alike = 0
    for seed in range(20):
        draw = random.Random(seed)
        truth = [draw.randrange(6) for _ in range(24)]
        answers = {}
        for a, b in itertools.combinations(range(24), 2):
            true = SAME if truth[a] == truth[b] else BOTH_HOLD
            answers[a, b] = true if draw.random() < 0.9 else draw.choice([SAME, CONFLICT, BOTH_HOLD])  # fmt: skip
        for (a, b), (same, *_) in chances(answers).items():
            alike += truth[a] == truth[b]
            if same >= SURE:
                joined, right = joined + 1, right + (truth[a] == truth[b])
    assert right >= 0.97 * joined and right >= 0.8 * alike


def test_how_often_a_model_errs_is_told_by_answers_that_cannot_be_right():
    pairs = [(2 * n, 2 * n + 1) for n in range(400)]
    texts = [(str(a), str(b)) for a, b in pairs]

    def measured(said):
        return accuracy(tallied(table(dict(zip(pairs, said, strict=True))), texts, {}))

    assert measured([BOTH_HOLD] * 400) > 0.97
    assert measured([A_REPLACES_B] * 20 + [BOTH_HOLD] * 380) == pytest.approx(0.8, abs=0.02)
    assert measured([A_REPLACES_B] * 400) == LEAST
    assert accuracy({}) == pytest.approx(0.9)
