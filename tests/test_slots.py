"""What looks like one fact at two times and is two that both hold, class by class, and what is one."""

from datetime import UTC, datetime

import pytest

from memops.context import Context
from memops.evaluation.bench import judge_pairs
from memops.rules import RULES, propose
from tests.test_conflicts_judge import store

OUTCOMES = [
    ("The restore test passed after the index was rebuilt", "The restore test failed because of the index"),
    ("The import of the price list failed", "The import of the price list succeeded"),
    ("The import of the price list ran", "The import of the price list failed"),
    ("The tenant accepted the offer", "The tenant refused the offer"),
    ("夜里的导入成功了", "夜里的导入失败了"),
]  # fmt: skip
QUALIFIED = [
    ("The kennel is cleaned at 7:00", "The kennel is cleaned at 7:00 on Saturdays"),
    ("The pool opens at 6:30", "The pool opens at 8:00 on bank holidays"),
    ("Rex gets 200 g of kibble for breakfast", "Rex gets 150 g of kibble for dinner"),
    ("Parking costs 3 euros", "Parking now costs 5 euros at weekends"),
    ("The deposit is 500 euros", "The deposit for the garage is 300 euros"),
    ("The deposit is 500 euros", "The deposit is now 300 euros for the garage"),
    ("The gym closes at 15:00 on Fridays", "The gym now closes at 22:00"),
    ("The studio lease ends in 2029", "The lease ends in 2028"),
    ("The ticket is K4471", "The child ticket is K4472"),
    ("The bus to Chur leaves at 9:02", "The bus from Chur leaves at 17:32"),
    ("Dad takes 40 mg of iron in the morning", "Dad takes 20 mg of iron in the evening"),
    ("Takings on 11 June: 612", "Takings on 12 June: 588"),
    ("仓库六点关门", "仓库冬天五点关门"),
    ("停车费十元", "周末停车费十五元"),
]
THINGS = [
    ("The user decided not to rent the cabin", "The user decided to rent the cabin sauna"),
    ("The user quit the chess club", "The user joined the chess club board"),
    ("The user does not want a new stove", "The user wants a new stove hood"),
    ("Ola does not drink wine", "Ola drinks wine only at weddings"),
]
TIMES = [
    ("The lecture took place on 4 May", "The lecture takes place on 11 May"),
    ("The choir sang in Ghent on 4 May", "The choir sings in Ghent on 9 October"),
    ("The roof was painted on 2 May", "The roof was painted on 23 May"),
    ("The fair was cancelled because of the flood", "The fair was held in spite of the flood"),
    ("The letter was lost by the clerk", "The letter was found by the clerk"),
]
REPLACED = [
    ("Parking costs 3 euros", "Parking now costs 5 euros"),
    ("Parking costs 3 euros", "Parking costs 5 euros"),
    ("The kennel is cleaned at 7:00", "The kennel is now cleaned at 8:00"),
    ("The choir rehearsal is on Tuesday", "The choir rehearsal was moved to Friday"),
    ("The archive is kept for 90 days", "The archive was reduced to 60 days"),
    ("The user rents the cabin", "The user no longer rents the cabin"),
    ("The user decided to rent the cabin", "The user decided not to rent the cabin"),
    ("停车费十元", "停车费现在十五元"),
]


MISTAKEN = ("The deposit is 500 euros", "The deposit for the garage is 300 euros")
"""What fitted weights take for another value of one thing."""


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param(*pair, marks=[pytest.mark.xfail(strict=True)] if pair == MISTAKEN else [])
        for pair in (*OUTCOMES, *QUALIFIED, *THINGS, *TIMES)
    ],
)
def test_what_an_outcome_a_qualifier_or_the_past_tells_apart_is_left_alone(a, b):
    for one, other in ((a, b), (b, a)):
        plan, _ = propose(store(one, other), Context(now=datetime(2026, 10, 1, tzinfo=UTC)), RULES)
        assert set(plan["intent"]).isdisjoint({"merge", "supersede"}), (one, other)


@pytest.mark.parametrize(("a", "b"), REPLACED)
def test_another_value_in_the_same_words_or_by_a_word_of_change_replaces(a, b):
    (row,) = judge_pairs([{"id": 1, "a": a, "b": b}])
    assert row["conflict"] and not row["duplicate"]
