"""Blame: which rule of a plan cost the recall that fails the gate."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from memops.evaluation.gate import Verdict, judge
from memops.evaluation.grading import Grades
from memops.policy import Policy
from memops.reasons import Reason, reason


@dataclass(frozen=True)
class Blame:
    """The rule from whose changes on the gate fails, and what they cost."""

    rule: str
    changes: int
    measure: str
    before: float
    after: float
    lost: list[str]
    """Queries that are worse with these changes than without them."""

    @property
    def because(self) -> Reason:
        """Return it as a reason."""
        named = ", ".join(self.lost[:5]) + (" ..." if len(self.lost) > 5 else "")
        ends = {"before": f"{self.before:.3f}", "after": f"{self.after:.3f}", "queries": named}
        about = {"rule": self.rule, "measure": self.measure, "changes": self.changes}
        return reason("gate.blame", about | ends)


def blamed(
    before: Grades, graded: Callable[[pl.DataFrame], Grades], plan: pl.DataFrame, policy: Policy
) -> Blame | None:
    """Return the rule of a failing plan with whose changes the gate begins to fail, by bisection.

    `graded` gives the grades of what the first part of the plan would leave. None when the plan
    does not fail as a whole.
    """
    part = plan.with_columns(part=pl.col("rule").rle_id())["part"]
    count = int(part.n_unique())
    known: dict[int, tuple[Grades, Verdict]] = {}

    def upto(parts: int) -> tuple[Grades, Verdict]:
        if parts not in known:
            now = graded(plan.filter(part < parts))
            known[parts] = now, judge(before, now, policy)
        return known[parts]

    if not count or upto(count)[1].verdict != "fail":
        return None
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if upto(middle)[1].verdict == "fail" else (middle, bad)
    was, now = upto(good)[0], upto(bad)[0]
    told = judge(was, now, policy)
    name = told.decided_by
    own = plan.filter(part == good)
    return Blame(
        own["rule"][0], own.height, name, was.means()[name], now.means()[name],
        told.lost["query_id"].to_list(),
    )  # fmt: skip
