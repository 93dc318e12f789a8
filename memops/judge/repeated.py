"""Repeated: what a document holds again as a whole, so that one copy can go and no place misses it."""

import polars as pl

from memops.documents.repeats import REPEATED
from memops.judge.places import KEPT, line_of, placed
from memops.language.text import wording
from memops.schema import SUBJECT, native

_CODES = ("merge.copied", "merge.again", "merge.apart")
_MESSAGE = r"(?m)^\[message_id: \S+\]$"  # the channel's own name of a message
_VALUES = ("attribute", "table")  # forms of what a day measured
_LINES, _BYTES = 3, 100  # of a section that somebody else's would hardly hold by chance


def held_again(live: pl.DataFrame, free: pl.Expr) -> pl.DataFrame:
    """Return the records that can go, each with its `keeper` and `code`, and those that are kept.

    `live` are rows of `memops.judge.merge.counted` with their spelling (`_spelt`); of a section
    that is held again all goes, or, where one record of it is not `free`, nothing.
    """
    of = live.filter(placed()).with_columns(_free=(free & ~pl.col("pinned")).fill_null(False))
    if of.is_empty():
        return of.select(live.columns).with_columns(keeper="id", code=pl.lit(""))
    inside = [_in_file(of, *way) for way in zip(REPEATED, _CODES, strict=True)]
    found = pl.concat([*inside, _sent(of), _curated(of)])
    found = found.unique("id", keep="first")
    found = found.join(found, left_on="keeper", right_on="id", how="anti")
    gone = live.join(found, on="id")
    kept = live.join(found.select(id="keeper").unique(), on="id", how="semi")
    return pl.concat([gone, kept.with_columns(keeper="id", code=pl.lit(""))]).sort("id")


def _in_file(of: pl.DataFrame, where: str, code: str) -> pl.DataFrame:
    """What a file holds again in one of the ways of `memops.documents.repeats`, all or nothing."""
    copies = of.with_columns(_of=pl.concat_str("path", pl.lit("#"), native(where)))
    copies = copies.drop_nulls("_of")
    keepers = of.select("scope", _of="origin", keeper="id")
    found = copies.join(keepers, on=["scope", "_of"], how="left", maintain_order="left")
    turn = (pl.col("role") == "session") & (code == "merge.apart")  # it may be half of one
    whole = (pl.col("_free") & pl.col("keeper").is_not_null() & ~turn).all().over("scope", "path")
    return found.filter(whole).select("id", "keeper", code=pl.lit(code))


def _sent(of: pl.DataFrame) -> pl.DataFrame:
    """Turns of a talk that are the same message of their channel, by its own name for it."""
    said = of.filter("_free", pl.col("role") == "session", pl.col("text").str.contains(_MESSAGE))
    over = ("scope", "path", "text")
    found = said.with_columns(keeper=pl.col("id").sort_by(line_of()).first().over(over))
    return found.filter(pl.col("id") != pl.col("keeper")).select(
        "id", "keeper", code=pl.lit("merge.sent")
    )


def _curated(of: pl.DataFrame) -> pl.DataFrame:
    """Sections of a day's notes that one of a curated file holds word for word, in their order."""
    key = {"_said": wording(pl.col("text")), "_line": line_of(), "_done": native("done")}
    again = of.filter(pl.len().over("scope", "_spelt") > 1)
    table, on = again.with_columns(**key), ["scope", "_said", "form", "_done"]
    kept = table.filter(pl.col("role").is_in(KEPT))
    theirs = kept.select(*on, keeper="id", _theirs="block", _at="_line", _over="subject")
    mine = table.filter(pl.col("role") == "daily")
    both = mine.join(theirs, on=on, nulls_equal=True).sort("_line", "_at")
    over, text, units = ("scope", "block", "_theirs"), pl.col("text"), pl.col("units")
    stays = ~pl.col("_free") | pl.col("form").is_in(_VALUES) | (pl.col("_at").diff() <= 0)
    held = both.filter(
        (~stays.fill_null(False)).all().over(over),
        (pl.len().over(over) == units) & (pl.col("id").n_unique().over(over) == units),
        text.str.len_bytes().sum().over(over) >= _BYTES,
        (text.str.count_matches("\n") + 1).sum().over(over) >= _LINES,
    )
    held = held.filter(_heading("subject") == _heading("_over"))
    first = held.unique("id", keep="first", maintain_order=True)
    return first.select("id", "keeper", code=pl.lit("merge.curated"))


def _heading(subject: str) -> pl.Expr:
    """The words of the heading nearest to a section."""
    return wording(pl.col(subject).fill_null("").str.split(SUBJECT).list.last())
