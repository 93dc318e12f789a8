"""Tasks that nobody has to do any more."""

import polars as pl

from memops.context import Context
from memops.hygiene.closing import closed, tasks_of
from memops.hygiene.tasks import open_tasks, overdue
from memops.plan import edit
from memops.schema import TOMBSTONE


def retire_tasks(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Retire tasks that a later record closes, that are ticked off, or whose due day is past.

    Open tasks stay, however old; so do tasks of pinned and core records and those in a file that
    the agent is still writing.
    """
    tasks = open_tasks(tasks_of(records, ctx)).filter(~pl.col("id").is_in(list(ctx.fresh)))
    over = overdue(tasks, ctx.now, ctx.policy.tasks).select(
        "id",
        why=pl.format("it was due on {}, {} days ago", "due", "late"),
        by=pl.lit(None, pl.String),
    )
    said = pl.when(pl.col("by") == pl.col("id")).then(pl.lit("it is ticked off"))
    done = closed(tasks, records, ctx).select(
        "id", why=said.otherwise(pl.lit("a later record says that it is done")), by="by"
    )
    both = pl.concat([done, over]).unique("id", keep="first", maintain_order=True)
    stale = tasks.join(both, on="id").sort("id")
    return edit(
        stale,
        pl.col("why"),
        superseded_by=pl.lit(TOMBSTONE),
        valid_to=pl.lit(ctx.now),
        evidence=pl.concat_list(pl.coalesce("by", "id")),
        risk="low",
    )
