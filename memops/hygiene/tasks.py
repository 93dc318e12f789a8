"""Tasks: which records say what is to be done, and which of them are late.

The words stand in `data/lexicons/tasks.toml`; `memops.hygiene.closing` says which are done.
"""

import json
import re
from collections.abc import Iterable
from datetime import datetime
from functools import cache

import polars as pl

from memops.hygiene.dues import dues
from memops.language.lexicon import lexicon
from memops.policy.hygiene import Tasks
from memops.schema import LIVE
from memops.statements.remembered import Remembered

SAID_IN_PASSING = ("session", "summary")


def is_task() -> pl.Expr:
    """Return whether a record is a task: by its opening words, its box, its kind or its heading.

    The patterns are for the raw columns, so that a million records take half a second.
    """
    opens, around = _task_patterns()
    marked = pl.col("text").str.contains(opens) | pl.col("extra").str.contains(around)
    return marked.fill_null(False) & ~pl.col("kind").is_in(SAID_IN_PASSING)


@cache
def _task_patterns() -> tuple[str, str]:
    """What the text of a task opens with, and what its native columns hold in JSON."""
    table = lexicon("tasks")["task"]
    note = r"(?:[(（\[][^)）\]]*[)）\]])?\s*[:：]"
    opens = rf"(?i)^\s*(?:(?:{any_of(table['opening'])})\s*{note}|(?:{any_of(table['asking'])}))"
    kinds, headings = (
        "|".join(re.escape(json.dumps(word)[1:-1]) for word in table[name])
        for name in ("kinds", "headings")
    )
    box = r'"prefix": "[^"]*\[[ xX]\]'
    under = rf'"under": \[(?:"[^"]*", )*"[#\s]*(?:{headings})[\s:：]*"\]'
    return opens, rf'(?i){box}|"kind": "(?:{kinds})"|{under}'


def overdue(
    tasks: pl.DataFrame, now: datetime, limits: Tasks, kept: Remembered | None = None
) -> pl.DataFrame:
    """Return those of the open tasks whose due day is past (id, due, late); `late` in whole days.

    A day that the text only mentions counts a while later than one that it calls a due day.
    """
    said = [at and at.date() for at in tasks["said"]]
    found = dues(tasks["text"].to_list(), said, kept)
    days = pl.Series("due", [d.day if d else None for d in found], dtype=pl.Date)
    firm = pl.Series("firm", [d.firm if d else None for d in found], dtype=pl.Boolean)
    late = (pl.lit(now.date()) - pl.col("due")).dt.total_days()
    wait = pl.when("firm").then(limits.late_days).otherwise(limits.vague_days)
    return tasks.select("id").with_columns(days, firm).filter(late > wait).select(
        "id", "due", late=late
    )  # fmt: skip


def open_tasks(records: pl.DataFrame) -> pl.DataFrame:
    """Return the live tasks that a rule may touch, with when they were said."""
    loose = LIVE & ~pl.col("pinned") & (pl.col("tier") != "core")
    return records.filter(loose).filter(is_task()).with_columns(said=said_at())


def said_at() -> pl.Expr:
    """Return when a record was said."""
    return pl.coalesce("valid_from", "created_at")


def any_of(words: Iterable[object]) -> str:
    """Return a pattern for any of the words, the longest first."""
    listed = sorted(map(str, words), key=lambda w: (-len(w), w))
    return "|".join(w.replace("'", "['’]").replace("-", "[-]") for w in listed)
