"""Consensus: votes of a fallible decider, taken together."""

import itertools
import random

import numpy as np
import polars as pl
import pytest

from memops.judge.consensus import (
    CONFLICT,
    HOLD,
    LEAST,
    PRIOR,
    SAME,
    agreed,
    borne_out,
    forbid,
    replaced,
    share,
    votes,
)
from memops.judge.votes import agreed as voted


def cast(answers, accuracy=0.9):
    pairs = list(answers)
    classes = np.array([answers[pair] for pair in pairs])
    return pairs, votes(classes, np.full(len(pairs), accuracy))


def clusters(found):
    inside = {}
    for n, cluster in found.of.items():
        inside.setdefault(cluster, set()).add(n)
    return sorted(map(sorted, inside.values()))


def test_one_answer_of_a_decider_that_is_right_nine_times_in_ten_joins_nothing():
    assert clusters(agreed(*cast({(0, 1): SAME}), 0.8)) == [[0], [1]]
    assert clusters(agreed(*cast({(0, 1): SAME}, 0.99), 0.8)) == [[0, 1]]


def test_three_answers_that_agree_join_three_statements():
    every = dict.fromkeys([(0, 1), (0, 2), (1, 2)], SAME)
    assert clusters(agreed(*cast(every), 0.8)) == [[0, 1, 2]]
    assert clusters(agreed(*cast(every | {(0, 2): HOLD, (1, 2): HOLD}), 0.8)) == [[0], [1], [2]]


def test_all_pairs_between_two_clusters_vote_on_their_conflict():
    one, two = (0, 1, 2), (3, 4, 5)
    inside = {pair: SAME for side in (one, two) for pair in itertools.combinations(side, 2)}
    across = dict.fromkeys(itertools.product(one, two), CONFLICT) | {(0, 3): HOLD}
    found = agreed(*cast(inside | across), 0.8)
    assert clusters(found) == [[0, 1, 2], [3, 4, 5]] and found.conflict[0, 3] > 0.99
    outvoted = dict.fromkeys(itertools.product(one, two), HOLD) | {(0, 3): CONFLICT}
    assert agreed(*cast(inside | outvoted), 0.8).conflict == {}


def test_an_answer_weighs_more_where_a_third_bears_it_out_and_less_where_one_speaks_against_it():
    third = {"beside": (CONFLICT, CONFLICT), "against": (CONFLICT, HOLD), "else": (HOLD, HOLD)}
    chance = {}
    for name, (one, two) in third.items():
        pairs, ballots = cast({(0, 1): CONFLICT, (0, 2): one, (1, 2): two})
        plain = np.hstack([ballots, np.zeros((3, 3)), np.ones((3, 1))])
        told = borne_out(pairs, plain)
        assert np.allclose(np.exp(told[:, 3:6] + PRIOR).sum(axis=1), 1)
        assert (told[:, :3] == ballots).all() and (told[:, 6] == 1).all()
        chance[name] = agreed(pairs, told, 0.8).conflict.get((0, 1), 0.0)
        alone = agreed(pairs, plain, 0.8).conflict[0, 1]
    assert chance["against"] < 0.5 < chance["else"] <= alone < 0.85 < chance["beside"]
    assert borne_out([], np.zeros((0, 7))).shape == (0, 7)


def test_of_a_series_one_wrong_answer_replaces_nothing_and_a_chain_of_values_stays_one():
    """Ten entries of a log, one pair of which is called a conflict; four values, each after the other."""
    log = dict.fromkeys(itertools.combinations(range(10), 2), HOLD) | {(0, 9): CONFLICT}
    chain = dict.fromkeys(itertools.combinations(range(10, 14), 2), CONFLICT) | {(10, 13): HOLD}
    pairs, ballots = cast(log | chain)
    count = len(pairs)
    told = borne_out(pairs, np.hstack([ballots, np.zeros((count, 3)), np.ones((count, 1))]))
    found = agreed(pairs, told, 0.85).conflict
    assert found.get((0, 9), 0.0) < 0.8
    assert min(found[pair] for pair in chain if pair != (10, 13)) > 0.85


def test_doubts_that_a_text_is_replaced_do_not_add_up():
    assert replaced([(0, 1), (0, 2)], {(0, 1): 0.7, (0, 2): 0.8}) == {0: pytest.approx(0.8)}
    assert replaced([(2, 0)], {(0, 2): 0.7}) == {2: pytest.approx(0.7)}


def test_a_veto_is_outvoted_by_nobody():
    pairs, ballots = cast(dict.fromkeys([(0, 1), (0, 2), (1, 2)], SAME), 0.99)
    forbid(ballots, np.array([True, False, False]), SAME)
    found = agreed(pairs, ballots, 0.8)
    assert found.of[0] != found.of[1]


def test_a_few_wrong_answers_do_not_decide_how_often_a_decider_errs():
    assert share(0, 0) == 0.025 and share(0, 1000) < 0.001 and share(500, 1000) > 0.4
    assert votes(np.array([SAME, -1]), np.array([LEAST, 0.9])).round(6).tolist()[1] == [0, 0, 0]


def test_truth_is_found_again_from_answers_one_in_ten_of_which_is_wrong():
    right = joined = alike = 0
    for seed in range(40):
        draw = random.Random(seed)
        truth = [draw.randrange(6) for _ in range(24)]
        answers = {}
        for a, b in itertools.combinations(range(24), 2):
            true = SAME if truth[a] == truth[b] else HOLD
            answers[a, b] = true if draw.random() < 0.9 else draw.choice([SAME, CONFLICT, HOLD])
        found = agreed(*cast(answers), 0.8)
        assert found == agreed(*cast(answers), 0.8)
        for a, b in answers:
            alike += truth[a] == truth[b]
            if found.of[a] == found.of[b]:
                joined, right = joined + 1, right + (truth[a] == truth[b])
    assert right >= 0.97 * joined and right >= 0.8 * alike


def place_votes(answers, accuracy):
    """What comes of answers about places 0 to 2 of one text, and place 3 of another."""
    rows = [(a, b, *said) for (a, b), said in answers.items()]
    told = pl.DataFrame(rows, ["a", "b", "verdict", "probability"], orient="row").with_columns(
        rank=pl.lit(1), open=pl.lit(True), when_a=pl.lit("2031-01-01"), when_b=pl.lit("2031-02-01"),
        veto_same=pl.lit(None, pl.String), veto_conflict=pl.lit(None, pl.String),
    )  # fmt: skip
    texts = pl.Series(["Hall key: Ida", *["Hall key: Ida"] * 2, "Hall key: Juno"])
    none = told.select("a", "b").clear()
    return voted(told, 0.85, accuracy, none, texts)["_agreed"].to_list()


def test_a_wrong_answer_at_one_place_of_a_text_is_outvoted_at_its_other_places():
    replaces = {(0, 3): ("b_replaces_a", 0.99)}
    apart = dict.fromkeys([(0, 1), (1, 2)], ("both_hold", 0.9))
    assert place_votes(replaces, 0.9) == [True]
    others = dict.fromkeys([(1, 3), (2, 3)], ("both_hold", 0.9))
    assert place_votes(replaces | others | apart, 0.9)[0] is False


def test_places_of_one_text_are_merged_only_where_the_answers_on_them_are_to_be_believed():
    same = dict.fromkeys([(0, 1), (1, 2)], ("same", None))
    assert place_votes(same, 0.95) == [True, True]
    assert place_votes(same, LEAST) == [False, False]
