"""Riskiest: the changes that a person should look at first, and the place where each stands."""

import json
from collections.abc import Collection
from typing import Any

import polars as pl

from memops.plan import tallied

MOST = 10
"""Changes that a plan and its report show first."""
_TURN = 3  # changes of a rule that are shown before another rule has its turn
_RISKS = {"high": 0, "medium": 1, "low": 2}


def riskiest(changes: pl.DataFrame, most: int = MOST) -> list[int]:
    """Return the sequence numbers of the riskiest changes: a few of each rule in turn."""
    rows = changes.select("rule", "risk", "unattended").with_row_index("seq", 1)
    risk = pl.col("risk").replace_strict(_RISKS, default=len(_RISKS), return_dtype=pl.Int8)
    rows = rows.sort(pl.col("unattended").fill_null(True), risk, "seq").with_row_index("nth")
    turn = (pl.col("nth").rank("ordinal").over("rule") - 1) // _TURN
    ordered: list[int] = rows.sort(turn, "nth")["seq"].head(most).to_list()
    return ordered


def by_risk(changes: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return how many changes each rule proposes, by risk."""
    rows = changes.select("rule", "risk").sort("rule", "risk")
    return tallied(rows.with_columns(pl.col("risk").fill_null("none")), "rule", "risk")


def around(records: pl.DataFrame, ids: Collection[str]) -> pl.DataFrame:
    """Return these records and those that stand in the same files, which is all that `places` needs."""
    file = pl.col("origin").str.extract(r"^(.*)#\d+$")
    mine = pl.col("id").is_in(list(ids))
    files = records.filter(mine).select(file).to_series().drop_nulls().unique()
    return records.filter(mine | file.is_in(files.implode()).fill_null(False))


def places(records: pl.DataFrame, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return where records stand: the headings above, and the text before and after in the file."""
    parts = pl.col("origin").str.extract_groups(r"^(?<file>.*)#(?<line>\d+)$")
    lines = records.select("id", "subject", "text", "extra", parts.alias("parts")).unnest("parts")
    lines = lines.with_columns(pl.col("line").cast(pl.Int64)).sort("file", "line", "id")
    near = {"above": pl.col("text").shift(1), "below": pl.col("text").shift(-1)}
    filed = pl.when(pl.col("file").is_not_null())
    beside = lines.with_columns(filed.then(to.over("file")).alias(n) for n, to in near.items())
    rows = beside.filter(pl.col("id").is_in(list(ids))).iter_rows(named=True)
    return {r["id"]: {"under": _under(r), "above": r["above"], "below": r["below"]} for r in rows}


def _under(row: dict[str, Any]) -> list[str]:
    headings = json.loads(row["extra"] or "{}").get("under")
    if isinstance(headings, list) and all(isinstance(h, str) for h in headings):
        return headings
    return [row["subject"]] if row["subject"] else []
