"""Evaluation: whether recall holds, which rule cost it, and which way of searching is best."""
