"""Writing to a table: in short transactions, compare-and-set, undo first.

Only plain INSERT, UPDATE and DELETE by id are used, so that the program's own triggers keep what
hangs on the table in step. The lock is held from BEGIN IMMEDIATE to COMMIT; what scans the table
happens before it.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from memops.failpoints import failpoint
from memops.stores import Undo, Work, Written
from memops.stores.sqlite import errors, transaction, writer
from memops.stores.sqlite.batch import Batch, reverted
from memops.stores.sqlite.table import Table
from memops.stores.sqlite.witnesses import Witnesses, totals

LEAST, FIRST, MOST = 10, 50, 200
"""Fewest changes in a transaction, those in the first, and most."""
LOCK = 0.05
"""Seconds that a transaction should hold the lock at most."""
MOST_PAUSE = 0.5
"""Seconds between two transactions at most; else twice as long as the first held the lock."""
SPARE = 200
"""Witnesses of a group beyond the changes of a batch; enough for any usual floor."""
TRIES = 3
"""How often the guard judges before the lock; the last time it judges again under it."""


class Session:
    """One connection for a run of batches, and how many changes fit under one short lock."""

    def __init__(self, path: Path, table: type[Table]) -> None:
        self.path = path
        self.size = min(FIRST, MOST)
        self._witnesses: Witnesses | None = None
        self._held = self._freed = 0.0
        with errors(path):
            self.connection = writer(path)
            try:
                self.table = table(self.connection, str(path))
                self.table.refuse_writing()
            except BaseException:
                self.connection.close()
                raise
            self._begun = self._version()

    def close(self) -> None:
        """Let go of the database."""
        self.connection.close()

    def write(self, work: Work) -> list[Written]:
        """Carry out one batch, part by part; every change gets an answer, in the batch's order.

        The guard judges the batch before the lock is taken; once it is, what it judged from is
        compared with what stands there, and it judges again if another process was quicker: if
        it changed one of these rows, or took a witness of a kind where this batch may lose some.
        It does so outside the lock again, as long as that helps.
        """
        batch, losing = Batch(work, self.table), _may_lose(work)
        answers: list[Written] = []
        judged, left = None, TRIES
        while rest := batch.ids[len(answers) :]:
            self._give_way()
            if judged is None:
                with errors(self.path):
                    judged = self._version(), self._judged(batch, losing)
                left -= 1
            said = self._attempt(batch, rest[: self.size], judged, losing, judge_inside=not left)
            if said is None or not left:  # what was judged inside the lock holds for that part only
                judged = None
            if said is not None:
                answers, left = answers + said, TRIES
                if work.done:
                    work.done(said)
        return answers

    def revert(self, undo: Sequence[Undo]) -> list[Written]:
        """Take changes back in one transaction: insertions first, then edits, then deletions."""
        order = sorted(undo, key=lambda u: (u.before is not None, u.after is None))
        with errors(self.path), transaction(self.connection, "IMMEDIATE"):
            live = self.table.rows_of([entry.id for entry in undo])
            said = {u.id: reverted(self.table, u, live.get(u.id)) for u in order}
            failpoint("sqlite-reverted")
        return [said[entry.id] for entry in undo]

    def _attempt(
        self,
        batch: Batch,
        part: Sequence[str],
        judged: tuple[int, Mapping[str, str]],
        losing: bool,
        judge_inside: bool,
    ) -> list[Written] | None:
        """Carry a part out; None, having changed nothing, when it must be judged again first."""
        work, (version, refused) = batch.work, judged
        fewer = self._witnesses.fewer if self._witnesses else lambda: True
        with errors(self.path):
            with transaction(self.connection, "IMMEDIATE"):
                started = time.monotonic()
                failpoint("sqlite-begun")
                if self._version() != version and (batch.read(part) or (losing and fewer())):
                    if not judge_inside:
                        return None
                    refused = self._judged(batch, losing)
                answers = batch.carry_out(part, refused)
                failpoint("sqlite-changed")
                if undo := batch.undo(answers):
                    work.keep(undo)
                failpoint("sqlite-kept")
            failpoint("sqlite-committed")
            self._freed = time.monotonic()
            self._held = self._freed - started
            fit = int(len(part) * LOCK / self._held)
            self.size = min(MOST, max(LEAST, min(fit, 2 * len(part))))
            if self._witnesses:
                self._witnesses.follow(batch.written())
            batch.settle()
        return answers

    def _give_way(self) -> None:
        """Leave the lock alone for a while: who waits for it looks only every now and then.

        SQLite sleeps up to 100 ms between two looks, so batches without a pause could keep an
        agent waiting until it gives up. What is done meanwhile is part of the pause.
        """
        with errors(self.path):
            others = self._version() != self._begun
        pause = min(MOST_PAUSE, 2 * self._held if others else self._held / 4)
        time.sleep(max(0.0, self._freed + pause - time.monotonic()))

    def _judged(self, batch: Batch, losing: bool) -> Mapping[str, str]:
        """What the guard refuses; floors are judged by witnesses, by all rows only if that matters.

        A batch that can lose nothing is given no counts, and with those the guard lets nothing go.
        """
        batch.read()
        records, rows = batch.records(), [*batch.live.values()]
        if not losing:
            self._witnesses = None
            return batch.work.check(records, totals(()))
        some = Witnesses(self.table, rows, len(batch.ids) + SPARE)
        refused = batch.work.check(records, some.counts())
        if refused and some.cut:
            every = Witnesses(self.table, rows, None)
            if (known := batch.work.check(records, every.counts())) != refused:
                some, refused = every, known
        self._witnesses = some
        return refused

    def _version(self) -> int:
        """Changes when another connection commits."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])


def _may_lose(work: Work) -> bool:
    """Whether the batch could take live records away from a scope and kind.

    A link may lead to a retired record, which is a loss.
    """
    moves = pl.col("scope").is_not_null() | pl.col("kind").is_not_null()
    risky = (pl.col("action") == "delete") | pl.col("superseded_by").is_not_null() | moves
    old = work.changes.filter(risky).select("id")
    return old.join(work.before, on="id", how="semi").height > 0
