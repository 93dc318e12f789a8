"""Values: what a text says in numbers, times and names of things, each in one form however written."""

from memops.values.reading import numeral, read, read_all
from memops.values.relative import resolved
from memops.values.signs import sign
from memops.values.value import Value

__all__ = [
    "Value",
    "numeral",
    "read",
    "read_all",
    "resolved",
    "sign",
]
