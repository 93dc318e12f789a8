"""Records that say the same thing in the same words."""

import polars as pl

from memops.context import Context
from memops.merge import merged
from memops.schema import LIVE
from memops.text import normalised


def merge_exact(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Keep one of the records of a scope whose texts differ at most in punctuation and width.

    A capital inside a sentence may tell a name from a word (Word and word, Polish and polish),
    so texts that differ in one are left for `memops duplicates` to list.
    """
    live = records.filter(LIVE & ~pl.col("id").is_in(list(ctx.fresh)))
    said = live.with_columns(_form=normalised(pl.col("text")), _case=letters(pl.col("text")))
    said = said.filter(pl.col("_form").str.len_chars() > 0)
    twice = said.filter(pl.len().over("scope", "_form", "_case") > 1)
    grouped = twice.with_columns(group=pl.struct("_form", "_case")).drop("_form", "_case")
    return merged(grouped, "it says the same as its keeper in the same words")


def letters(text: pl.Expr) -> pl.Expr:
    """Return the letters of a text in their case, without the first, which any sentence lifts."""
    bare = text.str.normalize("NFKD").str.replace_all(r"\P{L}", "")
    return bare.str.slice(1)
