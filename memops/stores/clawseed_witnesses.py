"""Witnesses: live rows by which it is told, inside a short lock, that a group is above its floor.

Counting a large table takes longer than the lock may be held, and beside an agent that commits all
the while a count taken before the lock is never the one that holds inside it. But floors are small:
some rows of each group that may lose are enough to judge by, and those are quickly looked at again.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from memops.stores.clawseed_rows import group_of, kind_of, plain
from memops.stores.clawseed_sql import TABLE, Row
from memops.stores.sqlite import bound

COUNTS = pl.Schema({"scope": pl.String(), "kind": pl.String(), "live": pl.Int64()})
_AT_ONCE = 500  # rowids in one statement


class Witnesses:
    """At most so many live rows (all without `most`) of each group (scope, kind) of some rows."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        columns: Sequence[str],
        rows: Iterable[Row],
        most: int | None,
    ) -> None:
        self.connection = connection
        self._scope = "coalesce(namespace, 'default')" if "namespace" in columns else "'default'"
        self._live = "superseded_by IS NULL" if "superseded_by" in columns else "true"
        self._group: dict[int, tuple[str, str]] = {}
        groups = {group_of(row): row.get("namespace") for row in rows}
        categories = connection.execute(f"SELECT DISTINCT category FROM {TABLE}").fetchall()
        for group, scope in groups.items():
            mine = [name for (name,) in categories if kind_of(str(plain(name))) == group[1]]
            for rowid in self._found(scope, mine, -1 if most is None else most):
                self._group[rowid] = group
        self._groups = frozenset(groups)
        seen = Counter(self._group.values())
        self.cut = most is not None and any(seen[group] >= most for group in groups)

    def counts(self) -> pl.DataFrame:
        """Return (scope, kind, live): so many live rows the groups have, or more."""
        return totals((*group, n) for group, n in Counter(self._group.values()).items())

    def fewer(self) -> bool:
        """Tell whether one of them is gone, superseded, or in another group now."""
        there: Counter[tuple[str, str]] = Counter()
        rowids = [*self._group]
        for at in range(0, len(rowids), _AT_ONCE):
            some = ",".join(map(str, rowids[at : at + _AT_ONCE]))
            query = f"SELECT {self._scope}, category, count(*) FROM {TABLE}"
            for scope, category, n in self.connection.execute(
                f"{query} WHERE rowid IN ({some}) AND {self._live} GROUP BY 1, 2"
            ):
                there[str(plain(scope)), kind_of(str(plain(category)))] += n
        return there != Counter(self._group.values())

    def follow(self, done: Iterable[tuple[Row | None, Row | None]]) -> None:
        """Take note of rows that were changed: each as it was and as it is, None for absence."""
        for was, now in done:
            if was:
                self._group.pop(was["rowid"], None)
            if now and now.get("superseded_by") is None and group_of(now) in self._groups:
                self._group[now["rowid"]] = group_of(now)

    def _found(self, scope: Any, categories: Sequence[Any], most: int) -> list[int]:
        values = [bound(value) for value in ("default" if scope is None else scope, *categories)]
        marks = [mark for mark, _ in values]
        query = f"SELECT rowid FROM {TABLE} WHERE {self._live} AND {self._scope} = {marks[0]}"
        query += f" AND category IN ({', '.join(marks[1:])}) LIMIT {most}"
        return [row[0] for row in self.connection.execute(query, [value for _, value in values])]


def totals(rows: Iterable[tuple[str, str, int]]) -> pl.DataFrame:
    """Return (scope, kind, live) rows added up by scope and kind."""
    groups = pl.DataFrame([*rows], schema=COUNTS, orient="row").group_by("scope", "kind")
    return groups.agg(pl.sum("live")).filter(pl.col("live") > 0).sort("scope", "kind")
