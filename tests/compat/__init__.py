"""Parity with the engines whose stores are maintained, on their own vectors."""


class Unsupported(Exception):
    """A case that has no parity implementation here."""
