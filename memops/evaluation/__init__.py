"""Evaluation: golden queries, the grading of a store by them, and whether and by which rule recall got worse."""
