"""One batch of changes to a table: what stands there, what may be done, what was done; and its undo."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from memops.plan import outcome
from memops.schema import RETIRED
from memops.stores import State, Undo, Work, Written
from memops.stores.sqlite.table import Row, Table
from memops.stores.sqlite.values import as_json, from_json, plain


class Batch:
    """Made before the transaction, used inside it."""

    def __init__(self, work: Work, table: Table) -> None:
        self.work, self.table = work, table
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
        there, again = self.table.rows_of(ids), {*ids}
        self.live = {id_: row for id_, row in were.items() if id_ not in again} | there
        self.replacing = self.table.rows_of(near)
        differ = [id_ for id_ in ids if self.live.get(id_) != were.get(id_)]
        linked = any(id_ in links for id_ in differ)
        return linked or self.replacing != replaced or any(map(self._as_planned, differ))

    def records(self) -> pl.DataFrame:
        """Return as records those of the rows that were read that the check looks at."""
        sees = self.work.sees
        mine = [row for id_, row in self.live.items() if sees is None or id_ in sees]
        shown = dict.fromkeys(name for name in self.table.large if name in self.table.columns)
        rows = [
            [*(row | {name: len(row[name] or b"") for name in shown}).values()]
            for row in (*mine, *self.replacing.values())
        ]
        return self.table.records(rows)

    def carry_out(self, part: Sequence[str], refused: Mapping[str, str]) -> list[Written]:
        """Return what became of each change of a part, having made those that may be made."""
        answers = []
        for id_ in part:
            state, why, new = self._decided(id_)
            if state == "applied" and id_ in refused:
                state, why = "refused", refused[id_]
            elif state == "applied" and id_ not in self.planned:
                self.table.delete(id_)
            elif state == "applied" and id_ not in self.live:
                self.table.insert(new)
            elif state == "applied" and new:
                self.table.update(id_, new)
            new_id = self.table.id_of(id_) if id_ in self.planned else None
            answers.append(Written(id_, state, why, new_id))
        return answers

    def undo(self, answers: Sequence[Written]) -> list[Undo]:
        """Return what it takes to make the rows that changed what they were."""
        ids = [answer.id for answer in answers if answer.state == "applied"]
        after = self.table.rows_of(ids)
        self.done = {i: after.get(i, {}) for i in ids if self.live.get(i) != after.get(i)}
        rows = self.done.items()
        return [kept(self.table, id_, self.live.get(id_), row or None) for id_, row in rows]

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
        return self.table.seen(live) == self.table.planned_from(was)

    def _decided(self, id_: str) -> tuple[State, str, Row]:
        was, will, live = self.known.get(id_), self.planned.get(id_), self.live.get(id_)
        if will is not None and (link := will["superseded_by"]) and not self.table.stands(link):
            return "stale", "guard.keeper_gone", {}
        if was is None:
            return self._decided_new(live, will)
        if live is None:
            return ("already", "", {}) if will is None else ("stale", "skip.gone", {})
        expected, there = self.table.planned_from(was), self.table.seen(live)
        new = self.table.altered(was, will, self.work.now) if will else {}
        if there == expected:
            why = self.table.refused(was, new)
            new = self.table.added(new, was, live, id_ in self.work.kept)
            return ("stale", why, {}) if why else ("applied", "", new)
        after = expected | {name: value for name, value in new.items() if name in expected}
        if self.table.text in new:
            after |= {name: there[name] for name in self.table.stamped if name in there}
        if will is not None and there == after:
            return "already", "", {}
        return "stale", "skip.changed", {}

    def _decided_new(self, live: Row | None, will: Row | None) -> tuple[State, str, Row]:
        if will is None:
            return ("already" if live is None else "stale"), "", {}
        row = self.table.inserted(will, self.work.now)
        if live is not None:
            same = all(plain(live[n]) == row[n] for n in self.table.identical if n in row)
            return ("already", "", {}) if same else ("stale", "skip.id_taken", {})
        row, why = self.table.placed(row)
        return ("stale", why, {}) if why else ("applied", "", row)


def kept(table: Table, id_: str, before: Row | None, after: Row | None) -> Undo:
    """Return the undo of a change from one whole row to another; None is absence."""
    if before and after:
        pairs = ((name, value, after.get(name)) for name, value in before.items())
        altered = [n for n, was, now in pairs if was is not now and not _exact(was, now)]
        before, after = ({name: row[name] for name in altered} for row in (before, after))
    return Undo(id_, table.name, _as_json(before), _as_json(after))


def reverted(table: Table, entry: Undo, live: Row | None) -> Written:
    """Take one change back where the live row still is what the change made of it.

    Of an edit, only the columns that it altered are looked at and restored; what the agent did to
    the others since stays. What was added to a count is taken off it; one that is lower has lost it.
    A deleted row gets its rowid back if that is free.
    """
    before, after = _native(entry.before), _native(entry.after)
    there = live and {name: value for name, value in live.items() if name != "rowid"}
    if before is None:
        if there is None:
            return Written(entry.id, "already")
        if after is None or not _agree(table, there, after):
            return Written(entry.id, "stale", "skip.changed_after", table.id_of(entry.id))
        table.delete(entry.id)
        return Written(entry.id, "applied")
    if after is None:
        return _put_back(table, entry.id, before, there)
    if there is None:
        return Written(entry.id, "stale", "skip.deleted_after")
    counts = {n: (there[n] or 0) - (after[n] or 0) for n in before if n in table.counts}
    if all(_exact(there[n], was) or counts.get(n, 0) < 0 for n, was in before.items()):
        return Written(entry.id, "already", "", entry.id)
    if not _agree(table, there, after):
        return Written(entry.id, "stale", "skip.changed_after", entry.id)
    table.update(entry.id, before | {n: (before[n] or 0) + since for n, since in counts.items()})
    return Written(entry.id, "applied", "", entry.id)


def _put_back(table: Table, id_: str, before: Row, there: Row | None) -> Written:
    if there is not None:
        same = _agree(table, there, before)
        why = "" if same else "skip.stored_after"
        return Written(id_, "already" if same else "stale", why, id_)
    if table.key and table.has(table.key, before[table.key]):
        return Written(id_, "stale", "skip.key_stored_after")
    if table.has("rowid", before["rowid"]):
        before = {name: value for name, value in before.items() if name != "rowid"}
    table.insert(before)
    return Written(id_, "applied", "", id_)


def _agree(table: Table, there: Row, wanted: Row) -> bool:
    """Whether a live row is as wanted, apart from what the program fills at any time."""
    apart = (*table.derived, *table.counts, "rowid")
    return all(_exact(there.get(n), v) for n, v in wanted.items() if n not in apart)


def _exact(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _as_json(row: Row | None) -> Any:
    return row and {name: as_json(value) for name, value in row.items()}


def _native(row: Any) -> Row | None:
    return row and {name: from_json(value) for name, value in row.items()}
