"""Trust: how far a record is believed, by who wrote it, and what that decides.

A person's word stands above what was read off a page or came from a tool. What a machine wrote may
add to a store; it neither overtakes what a person said nor rises in it by being used.
"""

import polars as pl

MACHINES = ("banner", "system", "tool", "web")


def by_machine() -> pl.Expr:
    """Return whether a machine wrote a record; an unknown source is taken for a person's."""
    return pl.col("source").is_in(MACHINES).fill_null(False)
