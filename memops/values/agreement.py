"""Agreement: whether two texts say the same values, one for one or put together.

A rate may be told at once or in parts (1,200 a month; monthly, 1,200), what is told twice counts
once, and a weekday says by itself that it comes every week.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from memops.values.value import DIFFERENT, EQUAL, INCOMPARABLE, Comparison, Value, compare, number

_WEEK = 604800
_PERIOD = {"w": "604800 s", "d": "86400 s", "h": "3600 s", "s": "1 s", "mo": "1 mo"}
_EVERY = re.compile(r"~?every (\d+(?:\.\d+)?) (s|mo)$")


def agree(one: Iterable[Value], two: Iterable[Value]) -> Comparison:
    """Compare all that two texts say: equal where each value has its equal in the other text.

    They are different where a value of one has no equal and differs from all of its kind; of two
    texts without values nothing is known.
    """
    left, right = (_told(side) for side in (one, two))
    alone, rest = _matched(left, right)
    alone, rest = _put_together(alone, rest)
    rest, alone = _put_together(rest, alone)
    alone, rest = _once(alone, left, rest), _once(rest, right, alone)
    if not alone and not rest:
        return EQUAL if left and _in_order(left, right) else INCOMPARABLE
    apart = any(compare(x, y) == DIFFERENT for x in alone for y in rest)
    return DIFFERENT if apart else INCOMPARABLE


def _told(side: Iterable[Value]) -> list[Value]:
    """The values of a text, each once."""
    return list({(v.kind, v.form): v for v in side}.values())


def _goes(value: Value, side: Sequence[Value], other: Sequence[Value]) -> bool:
    """Whether a value goes without saying: every week, of what is on a Monday."""
    weekly = value.kind == "frequency" and _seconds(value.form) == _WEEK
    return (
        weekly
        and any(v.kind == "weekday" for v in side)
        and all(v.kind != "frequency" for v in other)
    )


def _seconds(form: str) -> float | None:
    told = _EVERY.match(form)
    return float(told[1]) if told is not None and told[2] == "s" else None


def _matched(left: Sequence[Value], right: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    """What of each side has no equal on the other."""
    rest = list(right)
    alone: list[Value] = []
    for value in left:
        match = next((other for other in rest if compare(value, other) == EQUAL), None)
        if match is None:
            alone.append(value)
        else:
            rest.remove(match)
    return alone, rest


def _put_together(wholes: list[Value], parts: list[Value]) -> tuple[list[Value], list[Value]]:
    """What is left where a value of one side is two of the other: so much, and how often."""
    kept = []
    for whole in wholes:
        made = next((pair for pair, form in _pairs(parts) if _is(whole, form)), None)
        if made is None:
            kept.append(whole)
        else:
            parts = [part for part in parts if part not in made]
    return kept, parts


def _is(whole: Value, form: str) -> bool:
    base, stroke, per = whole.form.rpartition("/")
    return form == (f"{base}/{_PERIOD.get(per, per)}" if stroke else whole.form)


def _pairs(parts: Sequence[Value]) -> Iterator[tuple[tuple[Value, Value], str]]:
    """Every two values of which one is a time that passes, with the form that they make together."""
    for time in parts:
        every = time.form.removeprefix("every ")
        told = _EVERY.match(f"every {every}")
        if time.kind not in ("frequency", "duration") or told is None:
            continue
        for base in parts:
            if base is time or base.kind in ("frequency", "duration"):
                continue
            yield (base, time), f"{base.form}/{every}"
            if base.kind in ("number", "factor") and base.written:
                size = number(float(told[1]) / base.written)
                yield (base, time), f"every {size} {told[2]}"


def _once(alone: Sequence[Value], side: Sequence[Value], other: Sequence[Value]) -> list[Value]:
    """What is left without values that others of the same text say already."""
    return [
        value
        for value in alone
        if not _goes(value, side, other)
        and not any(own not in alone and _again(value, own) for own in side)
    ]


def _again(value: Value, other: Value) -> bool:
    same = value.written is not None and value.written == other.written
    return compare(value, other) == EQUAL or (same and value.kind == "number")


def _in_order(left: Sequence[Value], right: Sequence[Value]) -> bool:
    """Whether values of one kind stand in one order: 3 of 5 is not 5 of 3."""
    kinds = {_told_of(value) for value in left}
    return all(
        compare(x, y) == EQUAL
        for kind in kinds
        for x, y in zip(
            *([v for v in side if _told_of(v) == kind] for side in (left, right)), strict=False
        )
    )


def _told_of(value: Value) -> str:
    """The kind of a value, or what a number names: flat 2 at 14 Mill Road has no order."""
    return value.form.partition("#")[0] if value.kind == "ident" else value.kind
