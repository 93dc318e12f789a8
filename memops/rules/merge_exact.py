"""Records that say the same thing in the same words."""

import polars as pl

from memops.context import Context
from memops.judge.merge import COPIED, absorbed, counted, merged
from memops.judge.places import (
    KEPT,
    MOMENTS,
    about,
    file,
    one_a_block,
    placed,
    reporting,
    touchable,
)
from memops.judge.repeated import held_again
from memops.language.text import spelling, wording
from memops.schema import native

_SENTENCE = 40  # bytes; what is shorter in a day's notes is that section's, as "all is well"
_TO_FILL = r"(?m)^\s*\[[^\]\n]{3,}\]\s*$"  # of a form, which asks the same of several things
_CUT = r"…|\.{3}"
_ITEM = r"^\s*(?:[-*+•]|\d+[.)])\s"
_OWN = ("claim", "event")
"""Forms whose text says what it is about, as far as anything does."""


def merge_exact(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Keep one of the records of a scope and subject that are worded alike, but for width and spacing.

    A capital, an accent or a mark inside a sentence may tell names, values and words apart (Word and
    word, -3 and 3), so texts that differ in one are left for `memops records duplicates` to list. Of
    documents, what is short or has no subject of its own (a value with its label, a table, code) is the
    same only under one heading, and an event only if it is of one moment. Items of one
    list that are cut short alike may each be another thing: they stay. A brief turn of a
    conversation is that conversation's. What a document holds again as a whole goes whole
    (`memops.judge.repeated`).
    """
    fresh = ctx.at_rest()
    live = counted(records)
    live = live.with_columns(_spelt=ctx.formed(spelling, live["text"], spelling(pl.col("text"))))
    again = held_again(live, fresh & touchable())
    whole = live.filter(fresh & touchable() & (pl.col("form") != "quotation"))
    live = repeated(whole.join(again, on="id", how="anti"), "_spelt")
    said = live.with_columns(
        _form=wording(pl.col("text")),
        _about=about(),
        _moment=_moment(),
        _tags=pl.when(placed()).then(pl.col("tags").list.sort().list.join(" ")).fill_null(""),
    )
    size = pl.col("text").str.len_bytes()
    long = placed() & (pl.col("form") == "claim") & (size >= COPIED)
    said = said.with_columns(_about=pl.when(~long).then("_about").fill_null(""), _long=long)
    said = said.filter(~reporting() & ~(placed() & pl.col("text").str.contains(_TO_FILL)))
    told = pl.col("form").is_in(_OWN) | ~placed() | (pl.col("_about") != "")
    held = said.filter(told & (pl.col("_spelt") != ""))
    keys = ("_form", "_about", "_moment", "_tags", "form")
    twice = repeated(held, *keys).with_columns(group=pl.struct(*keys))
    listed = placed() & native("prefix").str.contains(_ITEM) & pl.col("text").str.contains(_CUT)
    beside = pl.len().over("scope", "group", "block") > 1
    twice = twice.filter(~(listed & beside).fill_null(False))
    curated = placed() & pl.col("role").is_in(KEPT)
    nth = curated.cum_sum().over("scope", "group")
    twice = twice.sort("id").filter(~(curated & pl.col("_long")) | (nth == 1))
    siblings = twice.filter(~pl.col("form").is_in(_OWN) & placed())
    alone = twice.join(siblings, on="id", how="anti")
    every = pl.concat([alone, one_a_block(siblings.sort("id"))]).sort("id")
    alike = every.drop("_spelt", "_form", "_about", "_moment", "_tags", "_long")
    return pl.concat([absorbed(again, pl.col("code")), merged(alike, "merge.exact")])


def _moment() -> pl.Expr:
    """What tells two equal texts apart: an event's time and file, a task's box, and of what is
    brief the section of a day's notes, or the turn itself.
    """
    size = pl.col("text").str.len_bytes()
    brief = placed() & pl.col("role").is_in(MOMENTS) & (size < _SENTENCE)
    turn = ~placed() & (pl.col("kind") == "session") & (size < COPIED)
    at = pl.col("created_at").cast(pl.String)
    event = pl.concat_str(file(), native("prefix"), at, "block", ignore_nulls=True)
    return (
        pl.when(brief).then("block")
        .when(turn).then("id")
        .when(placed() & (pl.col("form") == "event")).then(event)
        .when(placed() & (pl.col("form") == "task")).then(native("done"))
        .fill_null("")
    )  # fmt: skip


def repeated(said: pl.DataFrame, *names: str, **forms: pl.Expr) -> pl.DataFrame:
    """Return the rows of which another of the scope has the same in some columns."""
    made = said.with_columns(**forms)
    return made.filter(pl.len().over("scope", *names, *forms) > 1)
