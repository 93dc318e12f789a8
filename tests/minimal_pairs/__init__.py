"""Pairs of texts whose verdict is known by construction: frames, what they draw from, and what is made of both."""
