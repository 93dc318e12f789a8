"""Noise: why a whole note is no statement of the user's."""

from functools import cache

import polars as pl

from memops.extract.clauses import folded
from memops.extract.fingerprints import repeated
from memops.extract.grammar import expanded
from memops.language.lexicon import lexicon
from memops.policy import Policy
from memops.safety.hostile import injected

SURE = r"^noise\.(?:channel|repeated)$"
"""Reasons that more than a word or two of a note speak for."""

_CHANNELS = r"(?i)[:/](?:heartbeat|cron|system|internal|scheduler)(?:$|[:/])"
_SOURCES = (
    r"(?i)^(?:banner|channel|heartbeat|cron|system|scheduler|internal|compaction|onboarding|tool)$"
)


def noise(notes: pl.DataFrame, policy: Policy) -> pl.Series:
    """Return the reason's code of why each note is noise, or null.

    Needs text; scope, source and tags are judged where the frame has them.
    """
    text = folded(notes["text"].fill_null(""))
    why = pl.lit(None, pl.String)
    for code, pattern in reversed(_tables()):
        why = pl.when(pl.col("text").str.contains(pattern)).then(pl.lit(code)).otherwise(why)
    # What only may be an order is for the quarantine, which a person looks through.
    frame = pl.DataFrame(
        {"text": text, "hostile": injected(notes["text"], policy.hostile.of_owners())}
    )
    why = pl.coalesce("hostile", why)
    if "scope" in notes.columns:
        system = pl.col("scope").str.contains(_CHANNELS)
        system |= pl.col("source").str.contains(_SOURCES).fill_null(False)
        system |= (
            pl.col("tags")
            .list.eval(pl.element().str.contains(_SOURCES))
            .list.any()
            .fill_null(False)
        )
        frame = frame.with_columns(notes.select("scope", "source", "tags"))
        why = pl.when(system).then(pl.lit("noise.channel")).otherwise(why)
    return frame.select(why=pl.coalesce(why, repeated(text, policy.hostile.repeats)))["why"]


@cache
def _tables() -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"noise.{name}", "(?im)" + "|".join(f"(?:{expanded(p)})" for p in table["text"]))
        for name, table in lexicon("extract_noise").items()
    )
