"""Opposites, signs and quantifiers: what forbids a merge, and what is merely alike."""

import pytest

from memops.evaluation.bench import judge_pairs
from memops.judge.conflicts import features


def judged(a, b):
    """What is said of a pair, the same both ways round."""
    one, other = judge_pairs([{"id": 1, "a": a, "b": b}, {"id": 2, "a": b, "b": a}])
    same = ("duplicate", "conflict")
    assert [one[name] for name in same] == [other[name] for name in same]
    return one


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The heating in the studio is turned on", "The heating in the studio is turned off"),
        ("The woman is putting her coat on", "The woman is taking off her coat"),
        ("The tenant is removing shelves from the cellar", "The tenant is adding shelves to the cellar"),
        ("All of the archive boxes are labelled", "None of the archive boxes are labelled"),
        ("仓库的大门一直开着", "仓库的大门一直关着"),
        ("门市部的规模明年会扩大", "门市部的规模明年会缩小"),
    ],
)  # fmt: skip
def test_words_that_exclude_each_other_are_a_conflict_and_no_duplicate(a, b):
    said = judged(a, b)
    assert said["conflict"] and not said["duplicate"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Some of the archive boxes are labelled", "All of the archive boxes are labelled"),
        ("所有合同都已归档", "部分合同已归档"),
        ("Anna lent the bike to Bob last week for the tour", "Bob lent the bike to Anna last week for the tour"),
    ],
)  # fmt: skip
def test_a_difference_forbids_a_merge_whatever_the_similarity(a, b):
    said = judged(a, b)
    assert not said["duplicate"] and said["duplicate_score"] > 0.2


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("这个版本把内存占用提高了一倍", "这个版本把内存占用降低了一倍"),
        (
            "I earn about 4,100 euros a month at the bakery on the square",
            "I recently got a raise and now earn about 4,400 euros a month at the bakery on the square",
        ),
        ("The rent is $900 a month", "The rent is 900 euros a month"),
    ],
)
def test_another_value_is_no_duplicate(a, b):
    assert not judged(a, b)["duplicate"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (
            "A volunteer with a grey beard is sorting the donated books on the shelf near the window",
            "A volunteer with a beard that is grey is sorting donated books on the shelf near the window",
        ),
        ("A man and a woman run the bakery", "The bakery is run by a man and a woman"),
        ("None of the lockers are open", "All lockers are closed"),
        ("Not one of the doors is locked", "All of the doors are unlocked"),
        ("仓库的门没有开着", "仓库的门关着"),
    ],
)
def test_what_is_alike_or_denied_twice_is_no_conflict(a, b):
    assert not judged(a, b)["conflict"]


@pytest.mark.parametrize(
    ("said", "passive", "turned"),
    [
        ("Anna manages Bob", "Bob is managed by Anna", "Anna is managed by Bob"),
        ("The choir rents the hall", "The hall is rented by the choir", "The choir is rented by the hall"),
        ("小李打败了小王", "小王被小李打败了", "小李被小王打败了"),
        ("张伟管理李娜", "李娜由张伟管理", "张伟由李娜管理"),
    ],
)  # fmt: skip
def test_who_acts_is_the_same_in_the_passive(said, passive, turned):
    pairs = [{"a": said, "b": other} for other in (passive, turned)]
    assert (features(pairs)["swapped"] > 0).to_list() == [False, True]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("咖啡机坏了", "咖啡机修好了"),
        ("旧仓库的租约延长了", "旧仓库的租约取消了"),
        ("The pump is serviced weekly", "The pump is serviced daily"),
        ("The lease of the shed was extended", "The lease of the shed was renamed"),
        ("Priya's camera is for concerts", "Priya's camera is for exams"),
    ],
)
def test_what_is_said_in_other_known_words_is_never_the_same(a, b):
    row = features([{"a": a, "b": b}, {"a": b, "b": a}])
    assert row["same"].to_list() == [False, False]
