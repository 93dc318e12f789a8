"""Secrets: find and mask keys, passwords and identity numbers in memory text."""

import polars as pl


def redacted(texts: pl.Series) -> pl.Series:
    """Return the texts with every secret masked."""
    return texts
