"""Witnesses: live rows by which it is told, inside a short lock, that a group is above its floor.

Counting a large table takes longer than the lock may be held, and beside an agent that commits all
the while a count taken before the lock is never the one that holds inside it. But floors are small:
some rows of each group that may lose are enough to judge by, and those are quickly looked at again.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import polars as pl

from memops.schema import COUNTS, DEFAULTS
from memops.stores.sqlite.table import Row, Table
from memops.stores.sqlite.values import bound, plain

_AT_ONCE = 500  # rowids in one statement
_SCOPE = DEFAULTS["scope"]


class Witnesses:
    """At most so many live rows (all without `most`) of each scope and category of some rows.

    Where they are fewer, rows of the other categories of their kind stand by them. `cut` tells
    whether there may be more of the kind than were found.
    """

    def __init__(self, table: Table, rows: Iterable[Row], most: int | None) -> None:
        self.table = table
        there = table.columns
        scope = f"coalesce({table.scope}, '{_SCOPE}')" if table.scope in there else f"'{_SCOPE}'"
        self._scope, self._category = scope, table.category if table.category in there else "NULL"
        self._live = f"({table.live})" if table.link in there else "true"
        self._group: dict[int, tuple[Any, Any]] = {}
        self.cut = False
        wanted: dict[tuple[str, str], tuple[set[Any], set[Any]]] = {}
        for row in rows:
            scopes, own = wanted.setdefault(self._read_as(*table.group_of(row)), (set(), set()))
            scopes.add(row.get(table.scope))
            own.add(row.get(table.category))
        self._kinds = frozenset(wanted)
        query = f'SELECT DISTINCT {self._category} FROM "{table.name}"'
        names = table.connection.execute(query).fetchall()
        for (_, kind), (scopes, own) in wanted.items():
            others = {name for (name,) in names if table.kind_of(plain(name)) == kind} - own
            self._find(scopes, own, others, most)

    def counts(self) -> pl.DataFrame:
        """Return so many live rows as the groups have, or more (COUNTS)."""
        return totals(
            (*self._read_as(*group), None if group[1] is None else str(group[1]), n)
            for group, n in Counter(self._group.values()).items()
        )

    def fewer(self) -> bool:
        """Tell whether one of them is gone, superseded, or in another group now."""
        there: Counter[tuple[Any, Any]] = Counter()
        rowids = [*self._group]
        for at in range(0, len(rowids), _AT_ONCE):
            some = ",".join(map(str, rowids[at : at + _AT_ONCE]))
            query = f'SELECT {self._scope}, {self._category}, count(*) FROM "{self.table.name}"'
            for scope, category, n in self.table.connection.execute(
                f"{query} WHERE rowid IN ({some}) AND {self._live} GROUP BY 1, 2"
            ):
                there[plain(scope), plain(category)] += n
        return there != Counter(self._group.values())

    def follow(self, done: Iterable[tuple[Row | None, Row | None]]) -> None:
        """Take note of rows that were changed: each as it was and as it is, None for absence."""
        for was, now in done:
            if was:
                self._group.pop(was["rowid"], None)
            if now and self.table.is_live(now):
                group = self.table.group_of(now)
                if self._read_as(*group) in self._kinds:
                    self._group[now["rowid"]] = group

    def _read_as(self, scope: Any, category: Any) -> tuple[str, str]:
        return self.table.scope_of(scope), self.table.kind_of(category)

    def _find(self, scopes: set[Any], own: set[Any], others: set[Any], most: int | None) -> None:
        """Find rows of each own category, and of the others together where those are few."""
        found = 0
        for names in [*({name} for name in sorted(own, key=repr)), others]:
            if not names:
                continue
            if names is others and most is not None and found >= most:
                self.cut = True
                continue
            rows = self._rows(scopes, names, -1 if most is None else most)
            self._group |= {rowid: (plain(s), plain(c)) for rowid, s, c in rows}
            found += len(rows)
            self.cut |= len(rows) == most

    def _rows(self, scopes: set[Any], categories: set[Any], most: int) -> list[Any]:
        within = [bound(_SCOPE if scope is None else scope) for scope in sorted(scopes, key=repr)]
        named = [bound(name) for name in sorted(categories - {None}, key=repr)]
        told = [f"{self._category} IN ({', '.join(m for m, _ in named)})"] if named else []
        told += [f"{self._category} IS NULL"] if None in categories else []
        query = f'SELECT rowid, {self._scope}, {self._category} FROM "{self.table.name}"'
        query += f" WHERE {self._live} AND {self._scope} IN ({', '.join(m for m, _ in within)})"
        query += f" AND ({' OR '.join(told)})"
        return self.table.connection.execute(
            f"{query} LIMIT {most}", [value for _, value in (*within, *named)]
        ).fetchall()


def totals(rows: Iterable[tuple[str, str, str | None, int]]) -> pl.DataFrame:
    """Return counts of live rows (COUNTS) added up."""
    *group, _ = COUNTS.names()
    whole = pl.DataFrame([*rows], schema=COUNTS, orient="row").group_by(group).agg(pl.sum("live"))
    return whole.filter(pl.col("live") > 0).sort(group)
