"""Reviewing: a person keeps or refuses changes of a plan, by rule, by cluster or one by one.

    plans/<id>/ops.jsonl            what is left of the plan; `apply` carries out any subset
    plans/<id>/review.jsonl         each decision, so that a review goes on where it stopped
    stores/<id>/refused.jsonl       what was refused, with digests and no text, for later nights

Each decision is on disk before the next is asked for. Texts are masked.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import apply as applying
from memops import files, snapshot
from memops.apply import selection
from memops.autonomy import completing
from memops.errors import MemopsError, PlanRefused
from memops.journal import Journal
from memops.refusals import KEY, PERSON, REFUSED, hanging, refusals
from memops.schema import REPLACED
from memops.state import planfile
from memops.state.evidence import answers
from memops.state.pending import rejected
from memops.state.plan_lines import exported
from memops.stores import open_store


@dataclass(frozen=True)
class Item:
    """What is decided together: a cluster around one keeper, or a single change."""

    rule: str
    keeper: str | None
    seqs: tuple[int, ...]


@dataclass(frozen=True)
class Review:
    """A plan under review, with the records that it was made from.

    `lines` are the plan's as it was made; `standing` and `open` the numbers that are left, and undecided.
    """

    plan: planfile.PlanFile
    state: Path
    records: pl.DataFrame
    lines: dict[int, str]
    standing: set[int]
    open: set[int]

    @property
    def rows(self) -> pl.DataFrame:
        """The plan's changes with their numbers, `seq`."""
        return self.plan.changes.with_row_index("seq", 1)

    @property
    def undecided(self) -> list[int]:
        """Changes of the plan that wait for a decision, in order."""
        return sorted(self.open & self.standing)

    @property
    def kept(self) -> list[int]:
        """Changes that a person kept, and that are to be carried out, in order."""
        return sorted(self.to_come() - self.open)

    def to_come(self) -> set[int]:
        """Return the changes that stay in the plan and that neither a run nor a newer plan has."""
        done = selection.done(self.plan, self.state)
        return self.standing - done - selection.anew(self.plan, self.state)

    @property
    def journal(self) -> Journal:
        """The decisions, in order."""
        return Journal(self.plan.path / "review.jsonl")


def begun(name: str, state: Path) -> Review:
    """Return a plan's review; raises PlanRefused once the plan has been carried out."""
    plan = planfile.load(name, state)
    stands = selection.standing(plan, state)
    if stands and selection.done(plan, state).issuperset(plan.kept):
        run = stands[-1].id
        said = f"plan {plan.id} has been applied by run {run}; there is nothing left to review"
        raise PlanRefused(said, f"take it back first: memops rollback {run}")
    review = opened(plan, state)
    for entry in review.journal.entries():
        _noted(review, entry["decision"], entry["seqs"])
    review.open.intersection_update(selection.left(plan, state))
    review.standing.difference_update(rejected(plan.path))
    return review


def items(review: Review, seqs: Iterable[int]) -> list[Item]:
    """Return these changes as what is decided together, in the plan's order."""
    keepers = set(review.rows.filter(REPLACED).select("rule", "superseded_by").iter_rows())
    groups: dict[tuple[str, str | None, int], list[int]] = {}
    rows = review.rows.filter(pl.col("seq").is_in(list(seqs)))
    for seq, rule, id, link in rows.select("seq", "rule", "id", "superseded_by").iter_rows():
        keeper = link if (rule, link) in keepers else id if (rule, id) in keepers else None
        groups.setdefault((rule, keeper, 0 if keeper else seq), []).append(seq)
    return [Item(rule, keeper, tuple(found)) for (rule, keeper, _), found in groups.items()]


def reject(review: Review, seqs: Sequence[int], clock: datetime) -> list[int]:
    """Take changes, and what hangs on them, out of the plan; remember them. Returns what went."""
    refuse_unknown(review, seqs)
    _to_come(review, seqs)
    going = with_what_hangs(review, seqs)
    _rewrite(review, review.standing - set(going))
    remember(review, going, clock, refused=True)
    return decided(review, "reject", going, clock)


def accept(review: Review, seqs: Sequence[int], clock: datetime) -> dict[str, Any]:
    """Carry out these changes, and what completes them, on a person's word; remember it as such.

    Raises PlanRefused once a newer plan of the store has taken this one's place.
    """
    refuse_unknown(review, seqs)
    _to_come(review, seqs)
    selection.refuse_replaced(review.plan, review.state)
    changes = review.plan.changes
    whole = [int(nth) + 1 for nth in completing(changes)]
    of = changes[[seq - 1 for seq in seqs]].select("rule", id="superseded_by").unique()
    rows = review.rows.filter(pl.col("seq").is_in(whole))
    more = rows.join(of, on=["rule", "id"], how="semi")["seq"].to_list()
    chosen = sorted({*seqs, *(set(more) & review.standing)})
    keep(review, chosen, clock)
    plan = planfile.load(review.plan.id, review.state)
    return applying.apply(plan, review.state, clock, True, named=chosen)


def remembered(state: Path, identity: dict[str, str]) -> pl.DataFrame:
    """Return what of a store people refused and did not take back, and what it could not take."""
    standing = {
        tuple(entry[name] for name in KEY): entry for entry in answers(state, identity).entries()
    }
    rows = [(*key, e.get("why", PERSON)) for key, e in standing.items() if e["refused"]]
    return pl.DataFrame(rows, schema=REFUSED, orient="row")


def in_clear(review: Review, seqs: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Return by number the texts of redactions before and after, in clear: for a person's eyes, no file and no JSON."""
    redacted = pl.col("intent").eq("redact") & pl.col("text").is_not_null()
    rows = review.rows.filter(redacted, pl.col("seq").is_in(list(seqs)))
    found = rows.join(review.records.select("id", before="text"), on="id")
    return {seq: (was, now) for seq, was, now in found.select("seq", "before", "text").iter_rows()}


def counted(review: Review) -> dict[str, Any]:
    """Return how far a review is."""
    left, every = len(review.standing), review.plan.changes.height
    return {
        "plan": review.plan.id, "changes": every, "left": left, "rejected": every - left,
        "undecided": len(review.undecided), "to_carry_out": len(review.to_come()),
        "kept": len(review.kept), "replaced_by": selection.replaced_by(review.plan, review.state),
    }  # fmt: skip


def opened(plan: planfile.PlanFile, state: Path) -> Review:
    """Return a plan with its records, whatever was decided on it or came of it."""
    taken = snapshot.find(plan.header["snapshot"], state)
    if taken is None:
        raise PlanRefused(f"the snapshot of plan {plan.id} is gone")
    records = taken.records()
    return Review(plan, state, records, _lines(plan, records), set(plan.kept), set(plan.kept))


def with_what_hangs(review: Review, seqs: Iterable[int]) -> list[int]:
    """These changes and those that make no sense without them, in the plan's order."""
    nths = pl.Series([seq - 1 for seq in sorted(seqs)], dtype=pl.UInt32)
    return [int(nth) + 1 for nth in hanging(review.plan.changes, review.records, nths)]


def keep(review: Review, seqs: Sequence[int], clock: datetime, decision: str = "keep") -> list[int]:
    """Leave changes in the plan, one that was refused, too; `open`, nobody has decided on them."""
    refuse_unknown(review, seqs)
    back = sorted(set(seqs) - review.standing)
    if back:
        _rewrite(review, review.standing | set(back))
    accepted = decision == "keep"
    remember(review, sorted(seqs) if accepted else back, clock, refused=False, accepted=accepted)
    return decided(review, decision, sorted(seqs), clock)


def decided(review: Review, decision: str, seqs: list[int], clock: datetime) -> list[int]:
    """Write a decision on changes down; returns their numbers."""
    review.journal.add({"at": clock.isoformat(), "decision": decision, "seqs": seqs})
    _noted(review, decision, seqs)
    return seqs


def _noted(review: Review, decision: str, seqs: Iterable[int]) -> None:
    (review.open.update if decision == "open" else review.open.difference_update)(seqs)


def refuse_unknown(review: Review, seqs: Sequence[int]) -> None:
    """Raise MemopsError for a number that no change of the plan has."""
    most = review.plan.changes.height
    if wrong := [seq for seq in seqs if not 0 < seq <= most]:
        said = f"plan {review.plan.id} has no change {wrong[0]}"
        raise MemopsError(said, f"they are 1 to {most}")


def _rewrite(review: Review, seqs: set[int]) -> None:
    """Leave these lines in ops.jsonl, each as it was written."""
    text = "".join(f"{line}\n" for seq, line in review.lines.items() if seq in seqs)
    files.write(review.plan.path / "ops.jsonl", text.encode())
    review.standing.clear()
    review.standing.update(seqs)


def every_line(plan: planfile.PlanFile, records: pl.DataFrame) -> list[dict[str, Any]]:
    """Return all lines of a plan, also those that were taken out."""
    return [json.loads(line) for line in _lines(plan, records).values()]


def _lines(plan: planfile.PlanFile, records: pl.DataFrame) -> dict[int, str]:
    """The lines that stand, and those that were taken out as the planner writes them."""
    standing = (plan.path / "ops.jsonl").read_text(encoding="utf-8").split("\n")
    found = {json.loads(line)["seq"]: line for line in standing if line.strip()}
    if len(found) < plan.changes.height:
        for line in exported(plan.changes, records, open_store(plan.header["address"])):
            found.setdefault(line["seq"], json.dumps(line, ensure_ascii=False))
    return dict(sorted(found.items()))


def remember(
    review: Review, seqs: Sequence[int], clock: datetime, refused: bool, accepted: bool = False
) -> None:
    """Note a person's answer; it is evidence for its shape of change in this store."""
    about: dict[str, Any] = {"at": clock.isoformat(), "plan": review.plan.id}
    about |= {"refused": refused, "accepted": accepted}
    mine = review.plan.changes[[seq - 1 for seq in seqs]]
    keys = refusals(mine, review.records).with_columns(mine["intent"], mine["code"])
    if keys.height:
        rows = ({**about, **key} for key in keys.iter_rows(named=True))
        answers(review.state, review.plan.header["store"]).add(*rows)


def _to_come(review: Review, seqs: Sequence[int]) -> None:
    """Raise PlanRefused for a change that a run has carried out."""
    for run in selection.standing(review.plan, review.state):
        if done := sorted(set(seqs) & set(run.header["kept"])):
            said = f"run {run.id} has carried out change {done[0]} of plan {review.plan.id}"
            raise PlanRefused(said, f"take it back: memops rollback {run.id} --only {done[0]}")
