"""Trust: how far a record is believed, by who wrote it, and what that decides.

A person's word stands above what was read off a page or came from a tool. What a machine wrote may
add to a store; it neither overtakes what a person said nor rises in it by being used. What came
over a channel may be anybody's: it does not overtake what a person said more often. Whoever wrote a
record, nothing less trusted takes its place unattended (`memops.guard`).
"""

import polars as pl

from memops.schema import native

MACHINES = ("banner", "system", "tool", "web")
AGENTS = ("agent", "assistant")
OWN = ("user", "owner", "person", *AGENTS)
"""Sources of the owner's own word, and of the agent's."""
DERIVED = ("extractor", "compaction", "consolidation")
"""Sources that were drawn from what others said, and may have misheard it."""
PERSONS = ("user", "owner", "person", "extractor")
"""Sources of a person's word; what is extracted is drawn from a person's notes."""
CHANNEL = "channel"


def by_machine() -> pl.Expr:
    """Return whether a machine wrote a record; an unknown source is taken for a person's."""
    return pl.col("source").is_in(MACHINES).fill_null(False)


def by_anybody() -> pl.Expr:
    """Return whether a record came over a channel, on which others than the owner may speak."""
    return (pl.col("source") == CHANNEL).fill_null(False)


def rank(source: str, absent: int) -> pl.Expr:
    """Return how far a source is trusted, from 0 to 3; `absent` for none and for one nobody knows.

    The owner's and the agent's own word stands above what was drawn from it, that above what came
    over a channel, and all of it above what a machine wrote.
    """
    levels = (*((s, 3) for s in OWN), *((s, 2) for s in DERIVED), (CHANNEL, 1))
    known = dict(levels) | dict.fromkeys(MACHINES, 0)
    return pl.col(source).replace_strict(known, default=absent, return_dtype=pl.Int8)


def voice() -> pl.Expr:
    """Return the person's voice that a record speaks with, its session or else its day; or null.

    Null is the one voice of all that was not said by a person, however often it is repeated.
    """
    said = pl.coalesce("valid_from", "created_at").dt.date().cast(pl.String)
    place = pl.coalesce(native("session_id"), native("session"), said, pl.lit("unknown"))
    return pl.when(pl.col("source").is_in(PERSONS) | pl.col("source").is_null()).then(place)
