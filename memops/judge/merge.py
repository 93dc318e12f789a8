"""Merging: of records that say one thing, one is kept and the others step back behind it."""

import re

import polars as pl

from memops.judge.places import KEPT, MOMENTS, RANKS, file, placed, reporting, timed
from memops.plan import edit, nothing
from memops.schema import LIVE, TIERS, native
from memops.values import read_all

COPIED = 60
"""Bytes of a text that is written twice by copying alone, whatever it stands under."""
_STAMP = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"
_RANK = {tier: i for i, tier in enumerate(TIERS)}


def counted(records: pl.DataFrame) -> pl.DataFrame:
    """Return live records with how many stand in the block of each (`units`), and how each does.

    `timed`: with a time of its own in what stands before it (`mark`); `logged`: in a block of which
    some are, or tell a day with its time.
    """
    live = records.filter(LIVE).with_columns(timed=timed(), mark=native("prefix"), path=file())
    said = pl.when(placed()).then(pl.col("text"))
    entry = pl.col("timed") | said.str.contains(_STAMP).fill_null(False)
    logged = entry.any().over("scope", "block")
    return live.with_columns(units=pl.len().over("scope", "block"), logged=logged)


def merged(members: pl.DataFrame, code: str | pl.Expr) -> pl.DataFrame:
    """Propose that of each group one record absorbs the rest.

    `members` are rows of `counted` with a column `group` (records of one scope that may merge) and,
    if it matters, `fullness` (the more, the better a keeper). Nothing is torn out of what stands
    together for a copy in another file (`_torn`), unless a judge who saw both places `told` so (`_folded`).
    The keeper is chosen by the role of its place (what is curated before a note), tier, pin,
    fullness, confidence (none given is as sure as any) and age, the oldest first. A pinned record
    yields only to a pinned one.
    """
    return absorbed(_held(members), code) if members.height else nothing()


def into_fuller(pairs: pl.DataFrame, live: pl.DataFrame, code: str) -> pl.DataFrame:
    """Propose that records step back behind fuller ones: pairs of id and keeper, both among `live`.

    The keeper is of no lower tier, pinned where the other is, and no note of what is a fact; it
    holds by its dates as long as the other does.
    """
    rank = pl.col("tier").replace_strict(_RANK, return_dtype=pl.Int8)
    of = live.select("id", "pinned", "kind", "expires_at", "valid_from", "valid_to", rank=rank)
    both = pairs.join(of, on="id").join(of, left_on="keeper", right_on="id", suffix="_keeper")
    may = (pl.col("rank_keeper") >= pl.col("rank")) & (pl.col("pinned_keeper") | ~pl.col("pinned"))
    both = both.filter(
        may, *_as_long(), (pl.col("kind_keeper") != "note") | (pl.col("kind") == "note")
    )
    named = both.select("id", group="keeper", fullness=0)
    keepers = both.select(id="keeper", group="keeper", fullness=1).unique()
    every = live.join(pl.concat([named, keepers]), on="id").sort("id")
    return merged(every, code)


def _as_long() -> list[pl.Expr]:
    """The keeper begins to hold no later, and ends no earlier, than what it absorbs."""
    first = pl.col("valid_from_keeper") <= pl.col("valid_from")
    last = [pl.col(f"{name}_keeper") >= pl.col(name) for name in ("expires_at", "valid_to")]
    open_ = [
        pl.col(f"{name}_keeper").is_null() for name in ("valid_from", "expires_at", "valid_to")
    ]
    return [free | may.fill_null(False) for free, may in zip(open_, [first, *last], strict=True)]


def absorbed(held: pl.DataFrame, code: str | pl.Expr) -> pl.DataFrame:
    """Propose that each record steps back behind its `keeper`, who is among them.

    The keeper takes over the sum of the access counts and the highest importance.
    """
    stepping = edit(
        held.filter(pl.col("id") != pl.col("keeper")).sort("id"),
        "merge",
        pl.lit(code) if isinstance(code, str) else code,
        superseded_by=pl.col("keeper"),
        evidence=pl.concat_list("keeper"),
        risk="low",
    )
    gaining = edit(
        _gains(held).filter(pl.col("gains")),
        "update",
        "merge.keeper",
        access_count=pl.col("uses"),
        importance=pl.col("weight"),
        evidence=pl.col("others"),
        risk="low",
    )
    return pl.concat([stepping, gaining])


def _held(members: pl.DataFrame) -> pl.DataFrame:
    """The members that are kept or may go, each with its `keeper`."""
    first = {
        "keeper": "id", "keeper_pinned": "pinned", "_kept": "block", "_kept_mark": "mark",
        "_kept_path": "path", "_kept_role": "role", "_kept_values": "_held",
        "_kept_at": "created_at",
    }  # fmt: skip
    told = pl.col("told") if "told" in members.columns else pl.lit(False)
    if "told" in members.columns and members.select(placed().any()).item():
        members, told = members.with_columns(_valued(members["text"])), told & _folded()
    order = _in_order_of_keeping(members).with_columns(
        pl.col(of).first().over("group", "scope").alias(name)
        for name, of in first.items() if of in members.columns
    )  # fmt: skip
    order = order.filter(told | ~_torn())
    free = (pl.col("id") == pl.col("keeper")) | ~pl.col("pinned") | pl.col("keeper_pinned")
    return order.filter(free).filter(pl.len().over("group", "scope") > 1)


def _valued(texts: pl.Series) -> list[pl.Series]:
    """What a keeper of each text must hold (`_values`), and what the text holds as a keeper (`_held`).

    Digits are looked for as they stand; a value written in words may be written otherwise there.
    """
    told, held = [], []
    for text, values in zip(texts, read_all(texts.to_list()), strict=True):
        digits = re.findall(r"\d+", text)
        words = [v.form for v in values if not re.search(r"\d", text[v.start : v.end])]
        told.append(digits + words)
        held.append(digits + [value.form for value in values])
    kind = pl.List(pl.String)
    return [pl.Series("_values", told, dtype=kind), pl.Series("_held", held, dtype=kind)]


def _folded() -> pl.Expr:
    """True of a record that may leave its place by a judge's word alone.

    A note may be folded into a curated file, and what it tells again into the note that told it
    first, which hold each of its values; what a day measured stays with that day, what a curated
    file holds stays in it, and what one file says in two sections belongs to both.
    """
    lost = pl.col("_values").list.set_difference("_kept_values").list.len() > 0
    first = ~pl.col("_kept_role").is_in(MOMENTS) | (pl.col("created_at") > pl.col("_kept_at"))
    again = first.fill_null(False) & ~reporting() & (pl.col("path") != pl.col("_kept_path"))
    kept = pl.col("_kept_role").is_in(KEPT) | again
    return ~placed() | (~pl.col("role").is_in(KEPT) & kept & ~lost)


def _torn() -> pl.Expr:
    """True of a record of a document that its place would miss, whatever another one says.

    Each section was written to be read by itself, as one of several letters, or of the rounds of a
    day: it goes as a whole or not at all (`memops.judge.repeated`). What is said twice at length in
    one section goes once, in the curated file also in brief; in a log it belongs to the entry above
    it. A line with a time of its own was noted by itself, and is the same only at the same time;
    what software stamps with day and time stands by itself.
    """
    beside = (pl.col("path") == pl.col("_kept_path")).fill_null(False)
    stamped = pl.col("mark").str.contains(_STAMP) | (pl.col("mark") == pl.col("_kept_mark"))
    lasting = (pl.col("text").str.len_bytes() >= COPIED) | pl.col("role").is_in(KEPT)
    within = (pl.col("block") == pl.col("_kept")).fill_null(True)
    noted = pl.col("timed") & stamped & beside
    may = noted | (~pl.col("timed") & within & lasting & ~pl.col("logged"))
    return placed() & (pl.col("id") != pl.col("keeper")) & ~may.fill_null(False)


def _in_order_of_keeping(members: pl.DataFrame) -> pl.DataFrame:
    fullness = pl.col("fullness") if "fullness" in members.columns else pl.lit(0)
    return members.with_columns(
        _rank=pl.col("tier").replace_strict(_RANK, return_dtype=pl.Int8), _full=fullness,
        _sure=pl.col("confidence").fill_null(1.0),
        _role=pl.when(placed()).then(pl.col("role").replace_strict(RANKS, return_dtype=pl.Int8)),
    ).sort(
        "_role", "_rank", "pinned", "_full", "_sure", "created_at", "id",
        descending=[False, True, True, True, True, False, False],
        nulls_last=True,
    )  # fmt: skip


def _gains(held: pl.DataFrame) -> pl.DataFrame:
    """One row a keeper: what it had (`access_count`, `importance`) and what it comes to."""
    return (
        held.group_by("keeper")
        .agg(
            uses=pl.col("access_count").sum(),
            weight=pl.col("importance").max(),
            others=pl.col("id").filter(pl.col("id") != pl.col("keeper")).sort(),
            had_uses=pl.col("access_count").filter(pl.col("id") == pl.col("keeper")).first(),
            had_weight=pl.col("importance").filter(pl.col("id") == pl.col("keeper")).first(),
        )
        .with_columns(
            id="keeper",
            gains=(pl.col("uses") > pl.col("had_uses")) | (pl.col("weight") > pl.col("had_weight")),
        )
        .sort("id")
    )
