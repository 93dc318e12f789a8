"""Tasks that nobody has to do any more."""

import polars as pl

from memops.context import Context
from memops.hygiene.closing import closed, tasks_of, unticked
from memops.hygiene.tasks import open_tasks, overdue, said_at
from memops.judge.places import KEPT, UNTOUCHED, file, line_of, placed
from memops.language.text import wording
from memops.plan import arguments, retire
from memops.schema import LIVE, native

_NAMED = 12  # bytes of a task that names what it is about


def retire_tasks(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Retire tasks that a later record closes, that are ticked off, or whose due day is past.

    Open tasks stay, however old; so do tasks of pinned and core records and those in a file that
    the agent is still writing. What is ticked in a document says how things are, and is no task;
    that another line there says the same is done is often said of another thing, and closes none
    but the very same task, which is ticked further on.
    """
    tasks = open_tasks(tasks_of(records, ctx)).filter(ctx.at_rest())
    tasks = tasks.join(_stating(records), on="id", how="anti")
    over = overdue(unticked(tasks), ctx.now, ctx.policy.tasks, ctx.remembered).select(
        "id",
        by=pl.lit(None, pl.String),
        code=pl.lit("task.overdue"),
        args=arguments(due=pl.col("due").cast(pl.String), late=pl.col("late")),
    )
    itself = pl.when(pl.col("by") == pl.col("id"))
    code = itself.then(pl.lit("task.ticked")).otherwise(pl.lit("task.done"))
    apart = tasks.filter(~pl.col("id").is_in(records.filter(placed())["id"].implode()))
    done = closed(apart, records, ctx).select("id", "by", code=code, args=arguments())
    both = pl.concat([done, _ticked_on(tasks, records), over]).unique(
        "id", keep="first", maintain_order=True
    )
    stale = tasks.join(both, on="id").sort("id")
    why, shown = (pl.col("code"), pl.col("args")), pl.concat_list(pl.coalesce("by", "id"))
    return retire(stale, ctx.now, *why, evidence=shown, risk="low")


def _ticked_on(tasks: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Open tasks of documents that stand in the same words further on, or in a later note, ticked."""
    said = {"_said": wording(pl.col("text")), "_at": said_at(), "_line": line_of()}
    open_ = tasks.filter(placed() & (pl.col("text").str.len_bytes() >= _NAMED)).with_columns(**said)
    ticked = records.filter(LIVE & placed() & (native("done") == "true")).with_columns(**said)
    both = open_.join(
        ticked.select("scope", "_said", by="id", path=file(), then="_at", further="_line"),
        on=["scope", "_said"],
    )
    below = (file() == pl.col("path")) & (pl.col("further") > pl.col("_line"))
    later = (file() != pl.col("path")) & (pl.col("then") > pl.col("_at"))
    first = both.filter(below | later).sort("id", "then", "further").unique("id", keep="first")
    return first.select("id", "by", code=pl.lit("task.done"), args=arguments())


def _stating(records: pl.DataFrame) -> pl.DataFrame:
    """Records of documents that are ticked, curated, or no task by their form."""
    box = native("done") == "true"
    other = (pl.col("form") != "task") | pl.col("role").is_in([*KEPT, *UNTOUCHED])
    return records.filter(placed() & (other | box.fill_null(False))).select("id")
