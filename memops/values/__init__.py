"""Values: what a text says in numbers, times and names of things, each in one form however written."""

from memops.values.agreement import agree, same_values
from memops.values.reading import numeral, read
from memops.values.relative import resolved
from memops.values.signs import sign
from memops.values.value import Comparison, Value, compare, last_day

__all__ = [
    "Comparison",
    "Value",
    "agree",
    "compare",
    "last_day",
    "numeral",
    "read",
    "resolved",
    "same_values",
    "sign",
]
