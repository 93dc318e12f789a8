"""Daily notes that are long past."""

import polars as pl

from memops.context import Context
from memops.extract.verdicts import judged_notes
from memops.hygiene.decay import DATED
from memops.hygiene.impact import impact
from memops.hygiene.moving import moved
from memops.hygiene.tasks import is_task
from memops.judge.places import writable
from memops.plan import nothing, retire
from memops.schema import LIVE, LOOSE

_RAW = ("note", "session", "summary")


def consolidate_daily(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Move what lasts out of old daily notes into undated files, and archive their chatter.

    What lasts: every line that is no raw note, high-impact facts, and notes in which extraction
    finds a statement; a raw note becomes a record of that statement's kind. Notes that are neither
    clearly that nor mere chatter stay where they are, and so do open tasks, what is pinned or core,
    and all of a file that was written lately.
    """
    old = _old_lines(records, ctx)
    if old.is_empty():
        return nothing()
    raw = pl.col("kind").is_in(_RAW)
    judged, said = judged_notes(old.filter(raw).with_columns(kind=pl.lit("note")), ctx)
    told, idle = (
        pl.col("id").is_in(judged.filter(pl.col("verdict") == verdict)["id"].implode())
        for verdict in ("extract", "tombstone")
    )
    lasting = ~raw | impact().is_not_null() | told
    age, kept = {"days": _age(ctx)}, _of_their_kind(old.filter(lasting), said)
    gone, why = old.filter(~lasting, idle), ("place.daily_idle", age)
    return pl.concat(
        [
            moved(kept, "promote", "place.daily_lasts", age),
            retire(gone, ctx.now, *why, evidence=pl.concat_list("id"), risk="low"),
        ]
    )


def _age(ctx: Context) -> pl.Expr:
    """Days since the day that a daily note is named after."""
    day = pl.col("id").str.extract(DATED, 2).str.to_date(strict=False)
    return (pl.lit(ctx.now.date()) - day).dt.total_days()


def _old_lines(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """The lines of daily notes past their time that may be moved or archived."""
    most = ctx.policy.budgets.daily_days
    if not most:
        return records.clear()
    lines = records.filter(LIVE, pl.col("id").str.contains(".md:", literal=True))
    past = (_age(ctx) > most).fill_null(False)
    return lines.filter(
        pl.col("id").str.contains(r"\.md:[0-9a-f]{12}:\d+$") & past,
        LOOSE,
        writable(),
        ctx.at_rest(),
    ).filter(~is_task())


def _of_their_kind(kept: pl.DataFrame, said: pl.DataFrame) -> pl.DataFrame:
    """Raw notes as records of the kind of what they say first; a fact if nothing was told."""
    kinds = said.group_by("note").agg(_kind=pl.col("kind").sort_by("start").first())
    own = pl.when(pl.col("kind").is_in(_RAW)).then(pl.col("_kind").fill_null("fact"))
    return (
        kept.join(kinds, left_on="id", right_on="note", how="left", maintain_order="left")
        .with_columns(kind=own.otherwise("kind"))
        .drop("_kind")
    )
