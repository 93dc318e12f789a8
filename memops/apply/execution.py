"""Execution: a run's changes, written batch by batch, and what is kept and checked after them."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import overlay
from memops.apply import checks, selection
from memops.apply.selection import summary
from memops.errors import MemopsError, NoSpace
from memops.failpoints import failpoint
from memops.plan import DELETES, squash
from memops.policy import Policy, from_table
from memops.progress import tell
from memops.refusals import STORE, refusals
from memops.safety.masking import masked_table
from memops.schema import only
from memops.snapshot import overlay_path
from memops.state import archive, planfile
from memops.state.evidence import answers
from memops.state.lineage import EDGES, keep_lineage, lineage
from memops.state.runs import Run
from memops.stores import LASTING, Store, Undo, Work, Written


@dataclass(frozen=True)
class Task:
    """A run with what it works on."""

    run: Run
    plan: planfile.PlanFile
    store: Store
    state: Path
    records: pl.DataFrame
    changes: pl.DataFrame


def prepared(
    run: Run, plan: planfile.PlanFile, store: Store, state: Path, records: pl.DataFrame
) -> Task:
    """Return a run with its changes, on the records as runs of the same plan before it left them."""
    based, moved = selection.base(run, plan, state, records)
    return Task(run, plan, store, state, based, selection.carried(run, plan, moved))


def carried_out(task: Task) -> dict[str, Any]:
    """Write a task's changes, keep what the store cannot, read back what was written; returns a summary."""
    run, header = task.run, task.plan.header
    changes = squash(task.changes)
    policy = from_table(header["policy"], task.plan.id)
    before = overlay.read(run.path / "overlay.parquet")
    with noting(run):
        run.journal.add({"state": "applying"})
        waiting, changes = checks.held_back(changes, task.store, run, policy)
        gone = only(changes, overlay.archived_ids(before))["id"].to_list()
        again = task.store.read(gone)["id"].to_list() if gone else []
        elsewhere = changes.filter(pl.col("id").is_in(sorted({*gone} - {*again})))
        inside = changes.join(elsewhere.select("id"), on="id", how="anti")
        written = waiting + [Written(i, "applied") for i in elsewhere["id"]]
        if written:
            run.journal.add({"batch": [vars(w) for w in written]})
        written += Batches(run, task.store, header, task.records).write(inside, before, policy)
        failpoint("overlay-write")
        _write_overlay(task, changes, written, policy)
        failpoint("overlay-written")
        _archive(task, changes, written, policy)
        run.journal.add({"state": "applied"})
        wrong = _wrong(task, changes, written, policy)
        # Suites name records by id, and must find what came of them.
        edges = [lineage(task.changes), pl.DataFrame([*run.moved().items()], EDGES, orient="row")]
        keep_lineage(task.state, header["store"], pl.concat(edges))
        run.journal.add({"state": "needs-attention" if wrong else "verified", "wrong": wrong})
        run.seal()
        _remember_refused(task, written)
    return summary(run, written)


def _remember_refused(task: Task, written: list[Written]) -> None:
    """Keep what the store cannot take as its files stand, redactions and quarantines apart: they are to be seen."""
    over = [w.id for w in written if w.state == "refused" and w.why in LASTING]
    mine = task.changes.filter(
        pl.col("id").is_in(over), ~pl.col("intent").is_in(["redact", "quarantine"])
    )
    if mine.is_empty() or task.plan.header["authority"] == "person":
        return
    about = {"at": task.run.header["started"], "plan": task.plan.id}
    about |= {"refused": True, "accepted": False, "why": STORE}
    keys = refusals(mine, task.records).with_columns(mine["intent"], mine["code"])
    told = ({**about, **key} for key in keys.iter_rows(named=True))
    answers(task.state, task.plan.header["store"]).add(*told)


def _archive(task: Task, changes: pl.DataFrame, written: list[Written], policy: Policy) -> None:
    """Keep what the run deleted unattended; a person who deletes wants it gone."""
    if task.plan.header["authority"] == "person":
        return
    done = [w.id for w in written if w.state in ("applied", "already")]
    gone = changes.filter(DELETES & pl.col("id").is_in(done)).select("id")
    records = task.records.join(gone, on="id", how="semi")
    identity, now = task.plan.header["store"], task.run.started
    archive.keep(task.state, identity, task.run.id, records, policy, now)


def _wrong(task: Task, changes: pl.DataFrame, written: list[Written], policy: Policy) -> list[str]:
    """Ids of records that are as planned, as the run says, and do not read back as they should."""
    kept = overlay.read(overlay_path(task.state, task.run.header["store"]))
    wanted, _ = checks.expected(task.records, changes, written)
    out = pl.col("id").is_in(overlay.archived_ids(kept).implode())
    masked = masked_table(wanted.filter(out), policy.secrets)  # as the overlay keeps it
    wanted = pl.concat([wanted.filter(~out), masked])
    ids = wanted["id"].to_list()
    there = overlay.joined(task.store.read(ids), only(kept, ids))
    if not (wrong := checks.misread(there, wanted)):
        return []
    odd = wanted.filter(pl.col("id").is_in(wrong))
    newer = checks.since_written(task.store, there, odd, task.run.started)
    return sorted({*wrong} - newer)


@contextlib.contextmanager
def noting(run: Run) -> Iterator[None]:
    """Mark a run as one that needs attention when a device fails it, if that can be written."""
    try:
        yield
    except (OSError, NoSpace) as error:
        with contextlib.suppress(OSError, MemopsError):
            run.journal.add({"state": "needs-attention", "why": str(error), "device": True})
        raise


def _write_overlay(
    task: Task, changes: pl.DataFrame, written: list[Written], policy: Policy
) -> None:
    path = overlay_path(task.state, task.run.header["store"])
    after, moved = checks.expected(task.records, changes, written)
    done = [w.id for w in written if w.state in ("applied", "already", "moved")]
    kept = overlay.without(overlay.read(path), pl.Series("id", done, dtype=pl.String))
    merged = overlay.merged(kept, after, task.store.project(after), moved)
    overlay.write(path, masked_table(merged, policy.secrets))


class Batches:
    """The changes of a run's plan, written to its store batch by batch."""

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
        checker = checks.Checker(
            self.records, changes, before, policy, self.header["authority"],
            self.run.header["approved"], self.store.unsigned,
        )  # fmt: skip
        touched = self.records.join(changes.select("id"), on="id", how="semi")
        mine = {i: (scope, kind) for i, scope, kind in touched.select("id", "scope", "kind").rows()}
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

    def _keep(self, undo: Iterable[Undo]) -> None:
        self.images += self.run.undo.extend(vars(u) for u in undo)

    def _note(self, answers: list[Written], mine: dict[str, tuple[str, str]]) -> None:
        """Put answers in the journal, and how much undo there is by now."""
        mended = (w.state == "already" and w.id in self.begun for w in answers)
        pairs = zip(answers, mended, strict=True)
        own = [replace(w, state="applied") if did else w for w, did in pairs]
        said = {"batch": [vars(w) for w in own], "touched": checks.touched(mine, own)}
        self.run.journal.add({**said, "images": self.images})
