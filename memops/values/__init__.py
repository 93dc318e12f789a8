"""Values: what a text says in numbers, times and names of things, each in one form however written."""

from memops.values.reading import read
from memops.values.value import Comparison, Value, agree, compare, last_day

__all__ = ["Comparison", "Value", "agree", "compare", "last_day", "read"]
