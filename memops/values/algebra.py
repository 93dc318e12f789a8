"""Algebra: what denials, quantifiers and words of must and may come to together.

Operators stand in the order of their scope, the widest first. A denial is pushed inward by the
duals (not all is some not, must not is not may), so that it stands last or not at all; what is
said of all is said without a word for it. `only X` says that nothing else does; what holds of
all but X holds not of X only; what holds unless X holds not only if X.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

NOT, ALL, SOME, MUST, MAY = "¬", "∀", "∃", "□", "◇"
ONLY, ALSO, FROM, WAS, STILL, YET = "only", "also", "from", "was", "still", "yet"
NEARLY, MOST, MANY, TWO, ONE, NON = "nearly", "most", "many", "two", "one", "non"
_DUALS = {ALL: SOME, SOME: ALL, MUST: MAY, MAY: MUST}
_TURNING = {"except": ONLY, "unless": ONLY, "without": ONLY, "until": FROM}
"""What holds of all but one, or unless or until something is so, does not hold only of or from it."""
ORDER = (WAS, FROM, STILL, ONLY, ALSO, NON, NEARLY, MOST, MANY, TWO, ONE, SOME, MUST, MAY, ALL)


class Sign(NamedTuple):
    """How a clause says what it says: its operators in their order, and whether it denies."""

    ops: frozenset[str] = frozenset()
    denies: bool = False

    def __str__(self) -> str:
        """Return the normal form, which reads back as the sign."""
        return _written(self.ops, self.denies)

    def turned(self) -> "Sign":
        """Return the sign of what denies this, whatever it was or is only so of."""
        return Sign(frozenset(_DUALS.get(op, op) for op in self.ops), not self.denies)

    def flipped(self) -> "Sign":
        """Return the sign of the same about the opposite: all are shut, none is open."""
        return Sign(self.ops, not self.denies)


@cache
def _written(ops: frozenset[str], denies: bool) -> str:
    said = [shown(op) for op in ORDER if op in ops] + [NOT] * denies
    return " ".join(said) or "+"


def shown(operator: str) -> str:
    """Return how an operator is written: by its sign, or in brackets."""
    return f"[{operator}]" if operator.isalpha() and operator.isascii() else operator


def reduced(operators: Iterable[str]) -> Sign:
    """Return what operators come to, the one with the widest scope first."""
    out: set[str] = set()
    turning: list[str] = []
    denies = False
    told = [*operators]
    for at, operator in enumerate(told):
        if operator == NOT:
            denies = not denies
        elif operator in _TURNING:
            turning.append(operator)
        elif operator in (ONLY, ALSO):
            out.add(ALSO if denies else operator)
            denies = False
        elif operator in _DUALS:
            out.add(_DUALS[operator] if denies else operator)
        elif operator == WAS and denies and told[at + 1 : at + 2] == [NOT]:
            out.add(STILL)  # who has not stopped still does
        else:
            out.add(operator)
    still = {STILL} if denies and YET in out else set[str]()
    return _plain(_turned(Sign(frozenset(out - {YET} | still), denies), turning))


def _turned(sign: Sign, turning: Iterable[str]) -> Sign:
    """A sign, as it is said of all but one, or unless something is so."""
    for operator in turning:
        if operator == "without" and not sign.denies:
            sign = sign.flipped()
        else:
            sign = sign.turned()
            sign = Sign(sign.ops | {_TURNING[operator]}, sign.denies)
    return sign


def _plain(sign: Sign) -> Sign:
    """A sign without what its other operators say already."""
    ops = set(sign.ops)
    if SOME in ops:
        ops -= {ALL}
    if {ONLY, ALSO} & ops or MUST in ops:
        ops -= {MAY}
    if ONLY in ops:
        ops -= {ALL, SOME}
    return Sign(frozenset(ops), sign.denies)
