"""Sink what says nothing: greetings, acknowledgements, signs of life, tool output."""

import polars as pl

from memops.context import Context
from memops.hygiene.chatter import chatter
from memops.judge.places import KEPT, MOMENTS, UNTOUCHED, placed
from memops.plan import edit
from memops.schema import LIVE, only

_IMPORTANCE = 0.1  # the lower end of the band of notes
_WORDLESS = "chatter.signs"
_PICTURES = r"[\x{2600}-\x{27BF}\x{1F300}-\x{1FAFF}]"
_LISTED = ("chatter.tool", "chatter.weather")
_ASKED_FOR = ("remember", "lesson", "procedure", "preference")


def demote_chatter(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Sink greetings, acknowledgements, signs of life and tool output; retention retires them.

    Pinned and core records stay, and kinds that somebody asked to have kept; so do files that the
    agent is still writing. Of a document only what says nothing wherever it stands sinks: a line
    of a list may be a tool's output, or the weather, because the list is of such; and where no
    moment is told, words of greeting or leave are what the text is about; dots and lines
    stand for what was left out, or part what is above from what is below.
    """
    loose = (
        LIVE & ~pl.col("pinned") & (pl.col("tier") == "working") & ~pl.col("kind").is_in(_ASKED_FOR)
    )
    small = only(records, ctx.changed).filter(loose & ctx.at_rest())
    said = small.with_columns(code=chatter(small["text"])).filter(pl.col("code").is_not_null())
    free = (pl.col("form") == "claim") & ~pl.col("role").is_in([*KEPT, *UNTOUCHED])
    wordless = (pl.col("code") == _WORDLESS) & pl.col("text").str.contains(_PICTURES)
    idle = wordless | ((pl.col("code") != _WORDLESS) & pl.col("role").is_in(MOMENTS))
    said = said.filter(~placed() | (free & idle & ~pl.col("code").is_in(_LISTED)))
    sunk = pl.min_horizontal("importance", pl.lit(_IMPORTANCE))
    return edit(
        said, "demote", pl.col("code"), tier="peripheral", importance=sunk, evidence=[], risk="low"
    )
