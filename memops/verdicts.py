"""Verdicts: what a decider is asked about a pair of statements, and what it may answer."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

SAME = "same"
A_REPLACES_B = "a_replaces_b"
B_REPLACES_A = "b_replaces_a"
BOTH_HOLD = "both_hold"
UNSURE = "unsure"
VERDICTS = (SAME, A_REPLACES_B, B_REPLACES_A, BOTH_HOLD, UNSURE)
CONFLICT = "conflict"
"""What a decider says that knows that both cannot hold, but not which is current: time tells."""
PART = "part"
"""What weights find of a pair of which one says all of the other."""
AGAINST = (CONFLICT, A_REPLACES_B, B_REPLACES_A)
"""Verdicts by which both cannot hold."""
TURNED = {A_REPLACES_B: B_REPLACES_A, B_REPLACES_A: A_REPLACES_B}
"""Verdicts that are another one when the pair is asked the other way round."""


class Side(NamedTuple):
    """One statement of a pair: its text, what it is about, when it was said (ISO) and where."""

    text: str
    about: str | None = None
    when: str | None = None
    where: str | None = None


class Pair(NamedTuple):
    """Two statements to be judged."""

    a: Side
    b: Side


class Verdict(NamedTuple):
    """One of VERDICTS or CONFLICT, and how probable it is, null where the decider does not say."""

    verdict: str
    probability: float | None = None


class Decider(Protocol):
    """Judges pairs; what it leaves unsure goes to the next decider of the cascade."""

    name: str

    def recipe(self) -> dict[str, object]:
        """Return what its verdicts depend on."""

    def __call__(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return one verdict a pair, in order."""
