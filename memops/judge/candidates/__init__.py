"""Candidates: which pairs of statements are worth reading, found without comparing all with all."""
