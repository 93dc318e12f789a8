"""Suites: golden queries, what a right answer to each is, and the grading of a store by them."""

from memops.suite.check import Problem, check
from memops.suite.golden import Suite, load, save
from memops.suite.grading import Grades, freeze, grade
from memops.suite.lineage import lineage, qrels

__all__ = [
    "Grades", "Problem", "Suite", "check", "freeze", "grade", "lineage", "load", "qrels", "save",
]  # fmt: skip
