"""Values: what a text says in numbers, times and names of things, each in one form however written."""

from memops.values.reading import numeral, read
from memops.values.relative import resolved
from memops.values.value import Comparison, Value, agree, compare, last_day

__all__ = ["Comparison", "Value", "agree", "compare", "last_day", "numeral", "read", "resolved"]
