"""Scales: what is said of so much, or from so much on, as it is said of the rest."""

import re
from collections.abc import Iterable, Sequence

from memops.values.algebra import ALL, FROM, ONLY, Sign
from memops.values.value import Value, number

SCALED = frozenset({"time", "duration", "number"})
SINCE = frozenset({"since"})
"""Of what is so only once a time has come, or only from an age on."""
BESIDE = frozenset({"="})
"""Of what is so only of the value that stands beside: only on Fridays."""
_DAILY = "every 86400 s"
_BOUND = re.compile(r"[<>]=?\d+$")
_FIRST = re.compile(r"~?(>=?)?(\d[\d:.]*(?: mo| s)?)$")


def each(value: Value, denials: Sequence[int]) -> Value:
    """Return a value; no day on which it is not is every day."""
    within = value.kind == "duration" and len(denials) > 1
    if not within or not denials[0] <= value.start < denials[-1]:
        return value
    return value._replace(kind="frequency", form=f"every {value.form}")


def counted_out(
    sign: Sign, of: frozenset[str], values: Iterable[Value], denials: Sequence[int]
) -> tuple[Sign, list[str]]:
    """Return the sign and the values in order; what is so of at most three is not so of four or more.

    What less than half do more than half do not; what is so only from twelve on is not so before.
    `of` is what a sign is limited to, `denials` where they stand: one before a bound denies the
    bound, one behind it denies what is said of so many.
    """
    told = sorted({v for v in values if ONLY not in sign.ops or v.form != _DAILY}, key=_shown)
    less = [v for v in told if v.kind == "share" and v.form.startswith("<")]
    first = [v for v in told if v.kind in SCALED and _begins(sign, of, v.form)]
    bounds = [v for v in told if v.kind == "number" and _BOUND.match(v.form)]
    if len(less) == 1:
        turned, form = sign.flipped(), f"share={_rest(less[0].form)}"
    elif len(first) == 1:
        turned = Sign(sign.ops - {FROM, ONLY, ALL}, sign.denies).turned()
        form = _before(first[0])
    elif len(bounds) == 1 and not {ONLY, FROM} & sign.ops:
        (bound,) = bounds
        outer = not sign.denies or (denials or [0])[0] < bound.start
        turn = outer and bound.form.startswith("<")
        turned = sign.turned() if turn else sign
        form = _least(bound.form) if turn or bound.form.startswith(">") else bound.form
        form += "" if outer else " of them"
    else:
        return sign, [*map(_shown, told)]
    gone = (less or first or bounds)[0]
    return turned, [*(_shown(v) for v in told if v is not gone), form]


def _shown(value: Value) -> str:
    return f"{value.kind}={value.form}"


def _begins(sign: Sign, of: frozenset[str], form: str) -> bool:
    """Whether what is said is so only from a value on."""
    since = FROM in sign.ops or of == SINCE or (of == BESIDE and form[0] == ">")
    return since and _FIRST.match(form) is not None


def _before(value: Value) -> str:
    """What comes before a value from which on something is so."""
    told = _FIRST.match(value.form)
    bound, least = told.groups() if told else ("", value.form)
    before = f"{'<=' if bound == '>' else '<'}{least}"
    return f"{before} of them" if value.kind == "number" else f"{value.kind}={before}"


def _rest(share: str) -> str:
    """A share from above as the rest from below: less than 40 % is more than 60 %."""
    bound = share.rstrip("0123456789.%").replace("<", ">")
    return f"{bound}{number(100 - float(share.strip('<>=%')))}%"


def _least(bound: str) -> str:
    """The least whole number above a bound from below, or above all that one from above allows."""
    size = int(bound.lstrip("<>="))
    return f">={size + (bound.startswith('>') != ('=' in bound))}"
