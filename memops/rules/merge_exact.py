"""Records that say the same thing in the same words."""

import polars as pl

from memops.context import Context
from memops.judge.merge import merged
from memops.language.text import in_form, normalised, spelling
from memops.schema import LIVE


def merge_exact(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Keep one of the records of a scope whose texts differ at most in punctuation and width.

    A capital inside a sentence may tell a name from a word (Word and word, Polish and polish),
    so texts that differ in one are left for `memops duplicates` to list.
    """
    fresh = ~pl.col("id").is_in(list(ctx.fresh))
    live = repeated(records.filter(LIVE & fresh), _spelt=spelling(pl.col("text"))).drop("_spelt")
    said = live.with_columns(_form=normalised(pl.col("text")), _case=letters(pl.col("text")))
    twice = repeated(said.filter(pl.col("_form").str.len_chars() > 0), "_form", "_case")
    grouped = twice.with_columns(group=pl.struct("_form", "_case")).drop("_form", "_case")
    return merged(grouped, "merge.exact")


def repeated(said: pl.DataFrame, *names: str, **forms: pl.Expr) -> pl.DataFrame:
    """Return the rows of which another of the scope has the same in some columns."""
    made = said.with_columns(**forms)
    return made.filter(pl.len().over("scope", *names, *forms) > 1)


def letters(text: pl.Expr) -> pl.Expr:
    """Return the letters of a text in their case, without the first, which any sentence lifts."""
    bare = in_form(text, "NFKD").str.replace_all(r"\P{L}", "")
    return bare.str.slice(1)
