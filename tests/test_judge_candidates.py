"""What a judge is asked about: the nearest pairs, whatever rules make of their places."""

from datetime import UTC, datetime

import polars as pl
import pytest

from memops.context import Context, Models
from memops.judge.conflicts import judged
from memops.policy import Judge, Policy
from memops.rules.merge_near import merge_near
from memops.rules.supersede_conflicting import supersede_conflicting
from memops.schema import conform
from memops.verdicts import A_REPLACES_B, B_REPLACES_A, BOTH_HOLD, SAME, Verdict

NOW = datetime(2026, 10, 1, tzinfo=UTC)
NOTE, TALK = ("event", "daily"), ("quotation", "session")


class Says:
    """A decider that says one word of every pair, or what a function of both sides says."""

    name = "told"

    def __init__(self, word, probability=0.99):
        self.word, self.probability, self.asked = word, probability, []

    def recipe(self):
        return {"sha256": "of the model"}

    def __call__(self, pairs):
        self.asked += pairs
        words = [self.word(p) if callable(self.word) else self.word for p in pairs]
        return [Verdict(word, self.probability) for word in words]


def placed(*rows, kind="note"):
    """Records of a workspace, each a file by itself: (text, (form, role), heading, block)."""
    made = [
        {
            "id": f"r{n}", "text": text, "kind": kind, "form": place[0], "role": place[1],
            "subject": subject, "block": block, "origin": f"memory/2026-05-{n + 1:02}.md#{n}",
            "created_at": datetime(2026, 5, n + 1, tzinfo=UTC),
        }
        for n, (text, place, subject, block) in enumerate(rows)
    ]  # fmt: skip
    return conform(pl.DataFrame(made))


def context(judge, **policy):
    settings = Policy(judge=Judge(model="x", **{"decides": True, **policy}))
    return Context(now=NOW, policy=settings, models=Models(judge=judge, recipes={"judge": judge.recipe()}))  # fmt: skip


APART = [("10:20 Rent is due on the 1st", NOTE, "Log", "a"), ("The 1st is when rent has to be paid", ("claim", "topic"), "Flat", "b")]  # fmt: skip


def test_a_moment_in_a_log_and_a_claim_under_another_heading_are_asked_about():
    frame, judge = placed(*APART), Says(SAME)
    assert judged(frame, Context(now=NOW)).is_empty()
    (row,) = judged(frame, context(judge)).to_dicts()
    assert (row["verdict"], row["effect"], row["same"]) == (SAME, "decided", True)
    assert {side.where for pair in judge.asked for side in pair} == {"memory/2026-05-01.md", "memory/2026-05-02.md"}  # fmt: skip
    assert merge_near(frame, context(judge)).is_empty()  # its time stands nowhere else
    frame = placed(("Rent is due on the 1st", *APART[0][1:]), APART[1])
    merge = merge_near(frame, context(judge)).filter(pl.col("intent") == "merge")
    assert merge["code"].to_list() == ["merge.judged"]
    assert merge_near(frame, context(judge, decides=False)).is_empty()


def test_what_a_note_says_later_replaces_a_moment_by_the_word_of_a_judge():
    frame = placed(("10:20 Rosa keeps the key of the mill", NOTE, "Log", "a"), ("Anton has the mill's key now", ("claim", "daily"), "Mill", "b"))  # fmt: skip
    assert supersede_conflicting(frame, Context(now=NOW)).is_empty()
    (change,) = supersede_conflicting(frame, context(Says(B_REPLACES_A))).to_dicts()
    assert (change["id"], change["superseded_by"], change["code"]) == ("r0", "r1", "conflict.judged")  # fmt: skip
    assert supersede_conflicting(frame, context(Says(A_REPLACES_B))).is_empty()


@pytest.mark.parametrize(
    "second",
    [
        ("The 1st is when rent has to be paid", ("claim", "topic"), "Flat", "a"),
        ("The 1st is when rent has to be paid", ("claim", "instructions"), "Flat", "b"),
        ("The 1st is when rent has to be paid", ("claim", "machine"), "Flat", "b"),
        ("The 1st is when rent has to be paid", ("table", "topic"), "Flat", "b"),
        ("The 1st is when rent has to be paid", ("instruction", "topic"), "Flat", "b"),
    ],
)
def test_siblings_instructions_and_what_states_nothing_are_asked_of_nobody(second):
    judge = Says(SAME)
    assert merge_near(placed(APART[0], second), context(judge)).is_empty() and not judge.asked


def test_of_one_text_at_many_places_each_is_asked_about_with_the_next():
    rows = [("09:00 The mill stands still", NOTE, "Log", f"b{n}") for n in range(5)]
    judge = Says(SAME)
    frame = placed(*rows)
    merges = merge_near(frame, context(judge)).filter(pl.col("intent") == "merge")
    assert len(judge.asked) == 4 and merges.height == 4


def test_as_many_of_the_nearest_are_asked_about_as_the_policy_says():
    texts = [f"Rosa mills {n} sacks of rye on day {n}" for n in range(12)]
    frame = placed(*((text, NOTE, "Log", text) for text in texts))
    few, many = Says(BOTH_HOLD), Says(BOTH_HOLD)
    judged(frame, context(few, nearest=1)), judged(frame, context(many, nearest=11))
    assert 0 < len(few.asked) < len(many.asked) == 66
    capped = Says(BOTH_HOLD)
    judged(frame, context(capped, nearest=11, asked=7))
    assert len(capped.asked) == 7


def test_what_a_decider_says_against_the_times_counts_for_nothing():
    """Of two days the earlier replaces the later: the answer is wrong, and no evidence of conflict."""
    rows = [(f"Anton{n} keeps the mill's key", NOTE, "Log", f"b{n}") for n in range(4)]
    frame = placed(*rows)
    late = Says(lambda p: A_REPLACES_B if p.a.when < p.b.when else B_REPLACES_A)
    assert supersede_conflicting(frame, context(late)).is_empty()
    assert set(judged(frame, context(late))["effect"].drop_nulls()) <= {"doubted", "vetoed"}


def test_in_a_small_scope_a_judge_is_asked_about_texts_that_share_no_word():
    judge = Says(BOTH_HOLD)
    frame = placed(*((text, ("claim", "topic"), "", None) for text in ("Quiet hours begin at ten", "晚上十点以后要安静", "The cat is called Miso")))  # fmt: skip
    assert judged(frame, context(judge)).height == 3 and len(judge.asked) == 3
    assert judged(frame, context(judge, nearest=1)).height < 3
