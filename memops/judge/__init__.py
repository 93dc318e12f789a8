"""Pairs: which statements say the same or cannot both hold, and which record steps back."""
