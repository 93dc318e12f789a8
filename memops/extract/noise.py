"""Noise: why a whole note is no statement of the user's.

A person says a short thing often; software sends the same long text, with a name or a date
changed. So a long text is judged by the word 5-grams that it shares with other notes.
"""

from functools import cache

import polars as pl

from memops.extract.clauses import folded
from memops.extract.grammar import expanded
from memops.language.lexicon import lexicon
from memops.language.text import tokens
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


_LONG = 80  # characters below which a repeated text may well be a person's
_READ = 2000  # characters that tell one prompt from another
_GRAM = 5
_SHARED = 0.6  # share of a text's 5-grams that the others hold too
_ORDERS = (
    r"(?i)请|必须|不要|你是|回答|输出|步骤|依次|"
    r"\b(?:you are|you must|you should|please|reply|respond|answer|return|ask|do not|don't|"
    r"only|must|step|call|use|write|read)\b"
)


def repeated(texts: pl.Series, times: int) -> pl.Series:
    """Return why a text is such a prompt, or null: `times` notes hold most of it."""
    blank = pl.Series("why", [None], dtype=pl.String).new_from_index(0, len(texts))
    rows = pl.DataFrame({"text": texts.str.head(_READ)}).with_row_index("note")
    long = rows.filter(
        pl.col("text").str.len_chars() >= _LONG, pl.col("text").str.contains(_ORDERS)
    )
    if long.height < times:
        return blank
    words = tokens(long["text"]).with_columns(hash=pl.col("token").hash(0))
    gram = pl.concat_list(pl.col("hash").shift(-i).over("row") for i in range(_GRAM))
    grams = (
        words.select("row", gram=gram)
        .filter(pl.col("gram").list.len() == _GRAM, ~pl.col("gram").list.contains(None))
        .select("row", pl.col("gram").hash(0))
        .unique(maintain_order=True)
    )
    held = grams.with_columns(often=pl.len().over("gram") >= times)
    share = held.group_by("row").agg(pl.col("often").mean()).filter(pl.col("often") >= _SHARED)
    notes = long["note"].gather(share["row"])
    why = pl.lit("noise.repeated")
    return rows.select(why=pl.when(pl.col("note").is_in(notes.implode())).then(why))["why"]
