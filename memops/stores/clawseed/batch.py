"""One batch of changes to clawseed's table: what stands there, what may be done, what was done."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import polars as pl

from memops.plan import outcome
from memops.schema import RETIRED
from memops.stores import State, Undo, Work, Written
from memops.stores.clawseed.rows import (
    UNMODELLED,
    altered,
    frame,
    inserted,
    own_key,
    plain,
    planned_from,
    seen,
)
from memops.stores.clawseed.sql import TABLE, Row, id_of, insert, rows_of, update
from memops.stores.clawseed.undo import kept

_IDENTICAL = ("content", "category", "namespace", "importance", "superseded_by")


class Batch:
    """Made before the transaction, used inside it."""

    def __init__(self, work: Work, connection: sqlite3.Connection, columns: list[str]) -> None:
        self.work, self.connection, self.columns = work, connection, columns
        self.ids = work.changes["id"].to_list()
        self.live: dict[str, Row] = {}
        self.replacing: dict[str, Row] = {}
        self.done: dict[str, Row] = {}
        before = work.before.filter(pl.col("id").is_in(self.ids))
        after = outcome(before, work.changes)
        self.known = {row["id"]: row for row in before.to_dicts()}
        self.planned = {row["id"]: row for row in after.to_dicts()}

    def read(self, part: Sequence[str] | None = None) -> bool:
        """Read the live rows of the batch, or a part, and of all that replace; return if it matters.

        It matters if a row that may be written, or one that replaces another, is not what was
        read before; a row that is no longer as planned is left alone, whatever it says now.
        """
        links = self.work.changes["superseded_by"].drop_nulls().to_list()
        near = sorted({*links} - {*self.ids, *RETIRED})
        were, replaced = self.live, self.replacing
        mine = {*self.ids}
        ids = self.ids if part is None else [*part, *sorted(mine & {*links} - {*part})]
        there, again = rows_of(self.connection, self.columns, ids), {*ids}
        self.live = {id_: row for id_, row in were.items() if id_ not in again} | there
        self.replacing = rows_of(self.connection, self.columns, near)
        differ = [id_ for id_ in ids if self.live.get(id_) != were.get(id_)]
        linked = any(id_ in links for id_ in differ)
        return linked or self.replacing != replaced or any(map(self._as_planned, differ))

    def records(self, where: str) -> pl.DataFrame:
        """Return as records those of the rows that were read that the check looks at."""
        sees = self.work.sees
        mine = [row for id_, row in self.live.items() if sees is None or id_ in sees]
        rows = [[*row.values()] for row in (*mine, *self.replacing.values())]
        if "embedding" in self.columns:
            vector = 1 + self.columns.index("embedding")
            for row in rows:
                row[vector] = len(row[vector] or b"")
        return frame(rows, self.columns, partial(id_of, self.connection), where)

    def carry_out(self, part: Sequence[str], refused: Mapping[str, str]) -> list[Written]:
        """Return what became of each change of a part, having made those that may be made."""
        answers = []
        for id_ in part:
            state, why, new = self._decided(id_)
            if state == "applied" and id_ in refused:
                state, why = "refused", refused[id_]
            elif state == "applied" and id_ not in self.planned:
                self.connection.execute(f"DELETE FROM {TABLE} WHERE id = ?", [id_])
            elif state == "applied" and id_ not in self.live:
                insert(self.connection, new)
            elif state == "applied" and new:
                update(self.connection, id_, new)
            answers.append(Written(id_, state, why, id_ if id_ in self.planned else None))
        return answers

    def undo(self, answers: Sequence[Written]) -> list[Undo]:
        """Return what it takes to make the rows that changed what they were."""
        ids = [answer.id for answer in answers if answer.state == "applied"]
        after = rows_of(self.connection, self.columns, ids)
        self.done = {i: after.get(i, {}) for i in ids if self.live.get(i) != after.get(i)}
        return [kept(id_, self.live.get(id_), row or None) for id_, row in self.done.items()]

    def written(self) -> Iterator[tuple[Row | None, Row | None]]:
        """Yield each row that was changed since it was read: before and after, None for absence."""
        for id_, row in self.done.items():
            yield self.live.get(id_), row or None

    def settle(self) -> None:
        """Take what was done for what stands there."""
        rest = {id_: row for id_, row in self.live.items() if id_ not in self.done}
        self.live = rest | {id_: row for id_, row in self.done.items() if row}
        self.done = {}

    def _as_planned(self, id_: str) -> bool:
        """Whether a row is what its change was planned from; one that is to be made is."""
        was, live = self.known.get(id_), self.live.get(id_)
        if was is None or live is None:
            return was is None
        return seen(live) == planned_from(was, self.columns)

    def _decided(self, id_: str) -> tuple[State, str, Row]:
        was, will, live = self.known.get(id_), self.planned.get(id_), self.live.get(id_)
        if will is not None and (link := will["superseded_by"]) and not self._stands(link):
            return "stale", "guard.keeper_gone", {}
        if was is None:
            return self._decided_new(live, will)
        if live is None:
            return ("already", "", {}) if will is None else ("stale", "skip.gone", {})
        expected, there = planned_from(was, self.columns), seen(live)
        new = altered(was, will, self.columns, self.work.now, self._key_of) if will else {}
        if there == expected:
            return self._possible(was, new)
        after = expected | {name: value for name, value in new.items() if name in expected}
        if "content" in new:
            after["updated_at"] = there["updated_at"]
        if will is not None and there == after:
            return "already", "", {}
        return "stale", "skip.changed", {}

    def _possible(self, was: Row, new: Row) -> tuple[State, str, Row]:
        if "content" in new and "not_utf8" in json.loads(was["extra"]):
            return "stale", "skip.not_utf8", {}
        if "key" in new and self._taken(new["key"]):
            return "stale", "skip.key_taken", {}
        return "applied", "", new

    def _decided_new(self, live: Row | None, will: Row | None) -> tuple[State, str, Row]:
        if will is None:
            return ("already" if live is None else "stale"), "", {}
        row = inserted(will, self.columns, self.work.now, self._key_of)
        if live is not None:
            same = all(plain(live[name]) == row[name] for name in _IDENTICAL if name in row)
            return ("already", "", {}) if same else ("stale", "skip.id_taken", {})
        if self._taken(row["key"]):
            row["key"] = own_key(row["id"])
        return ("stale", "skip.key_taken", {}) if self._taken(row["key"]) else ("applied", "", row)

    def _stands(self, link: str) -> bool:
        return link in RETIRED or link.startswith(UNMODELLED) or self._key_of(link) is not None

    def _taken(self, key: str) -> bool:
        query = f"SELECT 1 FROM {TABLE} WHERE key = ?"
        return self.connection.execute(query, [key]).fetchone() is not None

    def _key_of(self, id_: str) -> str | None:
        query = f"SELECT key FROM {TABLE} WHERE id = ?"
        found = self.connection.execute(query, [id_]).fetchone()
        return None if found is None else bytes(found[0]).decode("utf-8", "replace")
