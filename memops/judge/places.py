"""Places: which records may be compared at all, by what their places say of them.

A text is the same, or in conflict, only of one subject. What stands in one list, table or section
was written to hold together. A log entry, a quotation, code, a table and an instruction state no
value that a later one replaces. The curated file is current: no note replaces it by date alone.
"""

from typing import Any

import numpy as np
import polars as pl

from memops.schema import native, only

c = pl.col

STATING = ("claim", "attribute")
"""Forms that say how things are, so that a newer one may replace an older."""
TELLING = (*STATING, "event", "quotation")
"""Forms that say something, of which a model may be asked whether two say the same."""
UNTOUCHED = ("instructions", "machine")
"""Roles of places that are read and reported on, and never changed."""
KEPT = ("curated", "profile")
"""Roles of places whose word stands against a note's."""
MOMENTS = ("daily", "session")
"""Roles of places that tell what a moment was like."""
PASSING = ("note", "session", "summary", "project_state")
"""Kinds of what tells how things went, or how they stood that day."""
RANKS = {
    "curated": 0,
    "profile": 0,
    "instructions": 0,
    "topic": 1,
    "daily": 2,
    "session": 3,
    "machine": 4,
}
"""Where one of several equal records is kept: the lower the better."""


_MANY = 2  # dated files of which one of another year stands alone
_NAMED = r"`[^`\n]*\p{L}[^`\n]*`|[\w./-]*\w\.[a-z]{2,4}\b"  # in marks of code, or with an ending
_TIMED = r"\d{1,2}:\d{2}"
_HABIT = 3  # days whose notes have a heading by which it is a habit


def misdated() -> pl.Expr:
    """Return whether a record's file is the only dated one of its year among many: a slip of the pen."""
    path = file().filter(placed() & c("role").is_in(MOMENTS))
    year = c("created_at").dt.year()
    one, all_ = path.n_unique().over("scope", year), path.n_unique().over("scope")
    return (placed() & (one == 1) & (all_ >= _MANY)).fill_null(False)


def touchable() -> pl.Expr:
    """Return whether rules may change a record where it stands."""
    return ~c("role").is_in(UNTOUCHED)


def writable() -> pl.Expr:
    """Return whether a store lets a record's text be changed; what its agent writes anew is only read."""
    return ~c("extra").str.contains('"readonly": true', literal=True).fill_null(False)


def placed() -> pl.Expr:
    """Return whether a record stands in a document, among others."""
    return c("block").is_not_null()


def file() -> pl.Expr:
    """Return the file that a record stands in, without its line."""
    return c("origin").str.replace(r"#\d+$", "")


def line_of() -> pl.Expr:
    """Return the line of its file at which a record stands."""
    return c("origin").str.extract(r"#(\d+)$").cast(pl.Int64)


def timed() -> pl.Expr:
    """Return whether a time of its own stands before what a record of a document says."""
    return (placed() & native("prefix").str.contains(_TIMED)).fill_null(False)


def about() -> pl.Expr:
    """Return the subject by which texts are compared, '' where only the text itself tells.

    A record that stands by itself (a row with a key) tells it in its text. A heading that stands in
    the notes of several days ("Log", "Retain") names a section of any day, and no subject.
    """
    said = c("subject").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()
    daily = c("role").is_in(MOMENTS)
    files = file().filter(daily).n_unique().over("scope", said)
    habit = daily & (files >= _HABIT)
    return pl.when(placed() & ~habit).then(said).fill_null("")


def stating() -> pl.Expr:
    """Return whether a record says how things are, where rules may change it.

    What stands in the notes of a day, or in a talk, reports that moment: that a later one says
    otherwise makes it no less true of its day. Only what its writer marked as more than a note, a
    fact or a preference, is meant to hold on. Of the rest a model or a person may know better.
    """
    moment = placed() & c("role").is_in(MOMENTS) & c("kind").is_in(PASSING)
    return c("form").is_in(STATING) & touchable() & ~moment


def telling() -> pl.Expr:
    """Return whether a model may be asked about a record, where rules may change it."""
    return c("form").is_in(TELLING) & touchable()


def reporting() -> pl.Expr:
    """Return whether a record is a value of its moment: a label and a value in a day's notes."""
    return placed() & (c("form") == "attribute") & c("role").is_in(MOMENTS)


def own_subject() -> pl.Expr:
    """Return whether a text may stand for another of no subject: a label and a value may not."""
    return (c("form") != "attribute") | ~placed()


def of_one_subject(pairs: pl.DataFrame, table: pl.DataFrame) -> pl.Series:
    """Return which pairs (a, b) of a table's statements rules may compare.

    Both state how things are, of one subject.
    """
    told = table.select(c("about").rank("dense"), "owned", "states", named=c("about") != "")
    about, owned, states, named = (column.to_numpy() for column in told)
    a, b = _sides(pairs, table)
    one = (about[a] == about[b]) & (named[a] | (owned[a] & owned[b])) & states[a] & states[b]
    return pl.Series(one, dtype=pl.Boolean)


def kept_apart(pairs: pl.DataFrame, table: pl.DataFrame) -> pl.Series:
    """Return which pairs of a table's statements nobody is asked about.

    They stand in one list or section, written to hold together, or are places of one text between
    which there is another.
    """
    told = table.select(c("block", "text").rank("dense"))
    a, b = (pl.DataFrame(told[at]) for at in _sides(pairs, table))
    again = (a["text"] == b["text"]) & (pairs["b"] != pairs["a"] + 1)
    return (a["block"] == b["block"]).fill_null(False) | again


def _sides(pairs: pl.DataFrame, table: pl.DataFrame) -> list[Any]:
    """The places of the statements of either side of pairs in their table."""
    numbers = table["statement"].to_numpy()
    return [np.searchsorted(numbers, pairs[side].to_numpy()) for side in ("a", "b")]


def one_a_block(members: pl.DataFrame) -> pl.DataFrame:
    """Return members of groups, of those that stand together in one block only the first."""
    first = pl.int_range(pl.len()).over("group", "block") == 0
    return members.filter(first | ~placed())


def other_named(edges: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Return the edges (old, new: ids) between texts of documents that name other things by code.

    A commit, a file or a command that another note names is another thing, not its newer value.
    """
    ends = only(records, pl.concat([edges["old"], edges["new"]])).filter(placed())
    named = ends.select("id", _names=c("text").str.extract_all(_NAMED))
    named = named.filter(c("_names").list.len() > 0).with_columns(c("_names").list.sort())
    both = edges.join(named.rename({"id": "old", "_names": "_a"}), on="old").join(
        named.rename({"id": "new", "_names": "_b"}), on="new"
    )
    return both.filter(c("_a") != c("_b")).select(edges.columns)


def parted(edges: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Return the edges (old, new: ids) whose places let the new record replace the old one."""
    where = records.select("id", "block", _kept=c("role").is_in(KEPT) & placed())
    both = edges.join(where.rename({"id": "old", "block": "_a", "_kept": "_kept_a"}), on="old")
    both = both.join(where.rename({"id": "new", "block": "_b", "_kept": "_kept_b"}), on="new")
    siblings = (c("_a") == c("_b")).fill_null(False)
    return both.filter(~siblings & ~(c("_kept_a") & ~c("_kept_b"))).select(edges.columns)
