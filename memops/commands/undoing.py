"""Undoing: what a person takes back of a run is rejected, too, and so not proposed again."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import apply as applying
from memops.apply import selection
from memops.commands import reviewing
from memops.errors import MemopsError
from memops.state import planfile
from memops.state.runs import Run


def take_back(
    run: Run, seqs: Sequence[int], state: Path, clock: datetime, lock_timeout: float = 10.0
) -> dict[str, Any]:
    """Take back what a run did to the records of these changes and what hangs on them; remember them as refused."""
    review = reviewing.opened(planfile.load(run.header["plan"], state), state)
    reviewing.refuse_unknown(review, seqs)
    changes = review.plan.changes["id"]
    named = changes[[seq - 1 for seq in seqs]]
    mine = review.rows.filter(pl.col("id").is_in(named.implode()))["seq"]
    did = _carried_out(run, review)
    going = [seq for seq in reviewing.with_what_hangs(review, mine) if seq in did]
    ids = {str(id) for id in changes[[seq - 1 for seq in going]]}
    done = applying.take_back(run, ids, state, lock_timeout)
    reviewing.remember(review, going, clock, refused=True)
    return done | {"seqs": going}


def roll_back(run: Run, state: Path, clock: datetime, lock_timeout: float = 10.0) -> dict[str, Any]:
    """Take a whole run back, which rejects its changes; returns its summary and the `seqs` that went."""
    done = applying.rollback(run, state, lock_timeout)
    return done | {"seqs": refuse_taken_back(run, state, clock)}


def refuse_taken_back(run: Run, state: Path, clock: datetime) -> list[int]:
    """Reject what a person took back: not to be proposed again until its evidence changes; returns the numbers.

    Taking back a run that was cut off, or did not read back, mends it and is no answer, nor to what a
    person asked for.
    """
    if run.state != "rolled-back" or not run.was_verified or run.header["authority"] == "person":
        return []
    try:
        review = reviewing.opened(planfile.load(run.header["plan"], state), state)
    except MemopsError:  # the plan or its snapshot is past its time, and with it what it proposed
        return []
    seqs = (_carried_out(run, review) & review.standing) - selection.done(review.plan, state)
    answers = (e for e in review.journal.entries() if e["decision"] == "reject")
    if not seqs or any(seqs <= {*e["seqs"]} and e["at"] > run.header["started"] for e in answers):
        return []  # it was taken back before, and what came back since was asked for
    going = reviewing.with_what_hangs(review, seqs)
    # The lines stay: they tell what the run did.
    reviewing.remember(review, going, clock, refused=True)
    return reviewing.decided(review, "reject", going, clock)


def _carried_out(run: Run, review: reviewing.Review) -> set[int]:
    """The changes that a run carried out: all that it had but those of records it passed over."""
    over = run.passed_over()
    return {seq for seq in run.header["kept"] if review.plan.changes["id"][seq - 1] not in over}
