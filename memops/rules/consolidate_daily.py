"""Daily notes that are long past."""

import polars as pl

from memops.context import Context
from memops.decay import DATED
from memops.extract.verdicts import judged_notes
from memops.impact import impact
from memops.moving import moved
from memops.plan import edit, nothing
from memops.schema import LIVE, TOMBSTONE
from memops.tasks import is_task

_RAW = ("note", "session", "summary")


def consolidate_daily(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Move what lasts out of old daily notes into undated files, and archive their chatter.

    What lasts: every line that is no raw note, high-impact facts, and notes in which extraction
    finds a statement; a raw note becomes a record of that statement's kind. Notes that are neither
    clearly that nor mere chatter stay where they are, and so do open tasks, what is pinned or core,
    and all of a file that was written lately.
    """
    most = ctx.policy.budgets.daily_days
    day = pl.col("id").str.extract(DATED, 2).str.to_date(strict=False)
    age = (pl.lit(ctx.now.date()) - day).dt.total_days()
    lines = records.filter(LIVE, pl.col("id").str.contains(".md:", literal=True))
    old = lines.filter(
        pl.col("id").str.contains(r"\.md:[0-9a-f]{12}:\d+$") & (age > most).fill_null(False),
        ~pl.col("pinned"),
        pl.col("tier") != "core",
        ~pl.col("extra").str.contains('"readonly": true', literal=True),
        ~pl.col("id").is_in(list(ctx.fresh)),
    ).filter(~is_task())
    if not most or old.is_empty():
        return nothing()
    raw = pl.col("kind").is_in(_RAW)
    judged, said = judged_notes(old.filter(raw).with_columns(kind=pl.lit("note")), ctx)
    kinds = said.group_by("note").agg(_kind=pl.col("kind").sort_by("start").first())
    told, idle = (
        pl.col("id").is_in(judged.filter(pl.col("verdict") == verdict)["id"].implode())
        for verdict in ("extract", "tombstone")
    )
    lasting = ~raw | impact().is_not_null() | told
    old = old.with_columns(_why=pl.format("a daily note of {} days ago: ", age))
    kept = old.filter(lasting).join(
        kinds, left_on="id", right_on="note", how="left", maintain_order="left"
    )
    kept = kept.with_columns(
        kind=pl.when(raw).then(pl.col("_kind").fill_null("fact")).otherwise("kind")
    )
    rest = old.filter(~lasting, idle)
    return pl.concat(
        [
            moved(kept.drop("_kind"), pl.col("_why") + "it says what lasts"),
            edit(
                rest,
                pl.col("_why") + "it says nothing that lasts",
                superseded_by=pl.lit(TOMBSTONE),
                valid_to=pl.lit(ctx.now),
                evidence=pl.concat_list("id"),
                risk="low",
            ),
        ]
    )
