"""Values: one thing that a text says, with where it stands, its kind and its one canonical form.

A form prints and reads back: reading `str(value)` gives the value again.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Gap(NamedTuple):
    """Words between the parts of a value that are none of it: three *classes* a week."""

    start: int
    end: int
    ahead: bool
    """Whether they stand before the number that the value says."""


class Value(NamedTuple):
    """A value and where it stands; `kind` is its dimension, `form` its canonical writing."""

    start: int
    end: int
    kind: str
    form: str
    grain: float = 0.0
    """Half the last place in which it was written, in the unit in which the kind prints; of a time
    that may be of either half of the day, 12 hours."""
    converted: bool = False
    """Whether it was written in another system than the one in which its kind prints."""
    written: float | None = None
    """The number that was written, in the unit that was written."""
    gaps: tuple[Gap, ...] = ()

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Yield where its parts stand."""
        at = self.start
        for gap in self.gaps:
            yield at, gap.start
            at = gap.end
        yield at, self.end

    def __str__(self) -> str:
        """Return the canonical form, which reads back as the value."""
        return self.form


def number(amount: float) -> str:
    """Return the one writing of a number, to twelve digits."""
    if abs(amount) < 1e15 and amount == int(amount):
        return str(int(amount))
    said = f"{amount:.12g}"
    return f"{amount:.12f}".rstrip("0") if "e-" in said and abs(amount) > 1e-9 else said


_STRICT = {"<": ("<=", -1), ">": (">=", 1)}


def other_side(form: str) -> str:
    """Return a bound turned round: what is not more than five is at most five."""
    return _OTHER_SIDE.sub(lambda m: _TURNED[m[0]], form, count=1)


_OTHER_SIDE = re.compile("[<>]=?")
_TURNED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def counted(kind: str, form: str) -> str:
    """Return a bound of whole numbers with its last one: fewer than five are at most four."""
    told = re.fullmatch(r"([<>])(-?\d+)", form) if kind == "number" else None
    if told is None:
        return form
    bound, step = _STRICT[told[1]]
    return f"{bound}{int(told[2]) + step}"
