"""Batches of a run: each has its guard before it, its undo with it, and its answers after it."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import polars as pl

from memops.apply.checks import Checker, groups, touched
from memops.errors import MemopsError
from memops.failpoints import failpoint
from memops.policy import Policy
from memops.progress import tell
from memops.state.runs import Run
from memops.stores import Store, Undo, Work, Written


class Batches:
    """The changes of a run's plan, written to its store batch by batch.

    Of a batch that was cut off, the undo that was kept tells what is this run's own doing.
    """

    def __init__(
        self, run: Run, store: Store, header: Mapping[str, Any], records: pl.DataFrame
    ) -> None:
        self.run, self.store, self.header, self.records = run, store, header, records
        entries = run.undo.entries()
        self.kept, self.images = frozenset(entry["id"] for entry in entries), len(entries)
        self.begun = self.kept - {w["id"] for w in run.answers() if w["state"] == "applied"}
        self.written: list[Written] = []

    def write(self, changes: pl.DataFrame, before: pl.DataFrame, policy: Policy) -> list[Written]:
        """Write changes; returns an answer for each. `before` is the overlay before the run."""
        checker = Checker(
            self.records, changes, before, policy, self.header["authority"],
            self.run.header["approved"], self.store.unsigned,
        )  # fmt: skip
        mine = groups(self.records.join(changes.select("id"), on="id", how="semi"))
        now = datetime.fromisoformat(self.header["now"])

        def done(answers: list[Written]) -> None:
            failpoint("batch-written")
            self.written.extend(answers)
            tell("applying", len(self.written), changes.height)

        for batch in self.store.batches(changes):
            told = len(self.written)
            check, sees = checker.of(batch)
            work = Work(batch, self.records, now, check, self._keep, self.kept, done, sees)
            failpoint("batch-write")
            try:
                answers = self.store.write(work)
            except (OSError, MemopsError):
                with contextlib.suppress(OSError):
                    self._note(self.written[told:], mine)
                raise
            if len(self.written) == told:
                done(answers)
            self._note(self.written[told:], mine)
        return self.written

    def _keep(self, undo: list[Undo]) -> None:
        self.run.undo.add(*(vars(u) for u in undo))
        self.images += len(undo)

    def _note(self, answers: list[Written], mine: dict[str, tuple[str, str]]) -> None:
        """Put answers in the journal, and how much undo there is by now.

        What the run did before it was cut off is its own.
        """
        own = [
            replace(w, state="applied") if w.state == "already" and w.id in self.begun else w
            for w in answers
        ]
        said = {"batch": [vars(w) for w in own], "touched": touched(mine, own)}
        self.run.journal.add({**said, "images": self.images})
