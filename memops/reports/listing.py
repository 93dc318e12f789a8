"""Listing: what a plan changes, record by record, by rule, and by what stands for what."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from memops.errors import GuardRefused
from memops.judge.explain import explained
from memops.plan import meaning, tallied
from memops.reasons import plain
from memops.reports import view
from memops.reports.riskiest import places, riskiest
from memops.settings import Settings
from memops.state import planfile
from memops.state.runs import Run

_TOLD = 200  # conflicts whose words are read again for the page, which has no room for more
_HIDES = ("merge", "supersede", "tombstone", "quarantine")

Shown = dict[str, Any]
"""What a page shows of one change, record or group, as plain values."""
State = Callable[[int, str], str]
"""Tells what became of a change, by its number and its record."""
Undoing = Callable[[Sequence[int]], Shown]
"""Returns what takes changes back, or out of a plan that waits, by their numbers."""


@dataclass(frozen=True)
class Told:
    """The changes of a plan, with its lines, the records before and what takes one back; made when asked for."""

    before: pl.DataFrame
    changes: pl.DataFrame
    seqs: list[int]
    lines: list[str]
    undoing: Undoing

    @cached_property
    def texts(self) -> dict[str, str]:
        """What each record says, by its id."""
        return dict(self.before.select("id", "text").iter_rows())

    @cached_property
    def about(self) -> pl.DataFrame:
        """What is told of all: nth, op, rule, id, seq, risk, waits, what stands in its place."""
        told = ("op", "rule", "id", "risk", "waits", "superseded_by", "evidence")
        seq = pl.Series(self.seqs, dtype=pl.Int64)
        return meaning(self.changes, self.before).select(*told, seq=seq).with_row_index("nth")

    def said(self, id: str) -> Shown:
        """Return a record as a page names it."""
        return {"id": id, "text": self.texts.get(id, "")}

    def line(self, nth: int) -> dict[str, Any]:
        """Return a line of the plan, read."""
        return dict(json.loads(self.lines[nth]))


def listed(made: planfile.PlanFile | None, told: Told, states: State) -> dict[str, Any]:
    """Return what a plan changes, record by record, by rule, and by what stands for what."""
    about = told.about.with_columns(
        state=pl.Series(map(states, told.about["seq"], told.about["id"]), dtype=pl.String)
    ).with_columns(waits=pl.when(pl.col("state") != "applied").then("waits"))
    risky = [seq - 1 for seq in riskiest(told.changes)]
    first = view.in_turns(about["rule"].to_list())[: view.MANY]
    changes = dict(_changes(told, about[sorted({*first, *risky})]))
    where = places(told.before, [changes[nth]["id"] for nth in risky])
    for rank, nth in enumerate(risky, 1):
        nowhere: Shown = {"under": [], "above": None, "below": None}
        changes[nth] |= {"rank": rank, "place": where.get(changes[nth]["id"], nowhere)}
    refused = [
        {**told.said(r["id"]), "code": r["code"], "rule": r["rule"], "args": r.get("args", {})}
        for r in (made.refused() if made else [])
    ]
    return {
        "total_changes": about.height,
        "rejected": made.changes.height - about.height if made else 0,
        "changes": [*changes.values()],
        **view.tallied(about.select("state", "risk", "waits").iter_rows(named=True)),
        "by_rule": tallied(about, "rule", "op"),
        "refused": refused,
        **_conflicts(told),
        **_clusters(told),
    }


def _changes(told: Told, chosen: pl.DataFrame) -> Iterator[tuple[int, Shown]]:
    """Each line of a plan and what became of it: planned, applied, skipped, refused or rolled-back.

    `before_text` is None for an insert, `after_text` for a record that is hidden or gone; `instead` is
    then what stands in its place, or else the first evidence.
    """
    touched = told.before.filter(pl.col("id").is_in(chosen["id"].implode()))
    known = {r["id"]: r for r in touched.iter_rows(named=True)}
    for row in chosen.iter_rows(named=True):
        line, state = told.line(row["nth"]), row["state"]
        was, given = known.get(line["id"], {}), line.get("set", {})
        fields = [
            {"name": n, "before": None if was.get(n) is None else str(was[n]), "after": str(v)}
            for n, v in given.items()
            if n not in ("text", "extra")
        ]
        newer, kept = row["superseded_by"], told.texts.get(line["id"])
        after = given.get("text") or line.get("record", {}).get("text") or kept
        change: Shown = {
            "seq": line["seq"], "op": line["op"], "rule": line["rule"], "id": line["id"],
            "code": line["code"], "args": line.get("args", {}), "risk": line.get("risk"),
            "locator": line.get("locator", {}), "state": state, "fields": fields,
            "before_text": kept, "after_text": None if line["op"] in _HIDES else after,
            "evidence": [told.said(i) for i in row["evidence"] or []],
        }  # fmt: skip
        if state in ("planned", "applied"):
            change["undo"] = told.undoing([line["seq"]])
        if (why := line.get("waits")) and state != "applied":
            change["waits"] = {"code": why["code"], "args": why.get("args", {})}
        if newer in told.texts:
            change["instead"] = told.said(newer)
        yield row["nth"], change


def _conflicts(told: Told) -> dict[str, Any]:
    """Each record that steps back and what stands in its place; `judged` tells the first ones."""
    rows = told.about.filter(pl.col("op") == "supersede", pl.col("evidence").list.len() > 0)
    found: list[Shown] = []
    for row in rows.head(view.MANY).iter_rows(named=True):
        line = told.line(row["nth"])
        sides = {"old": told.said(row["id"]), "new": told.said(row["superseded_by"])}
        why = {"code": line["code"], "args": line.get("args", {})}
        found.append({**sides, **why, "undo": told.undoing([row["seq"]])})
    words = explained([(c["old"]["text"], c["new"]["text"]) for c in found[:_TOLD]])
    for conflict, said in zip(found, words, strict=False):
        if said["opposes"]:
            cues = sorted({cue for side in "ab" for cue in said[side].get("cues", ())})
            conflict |= {"decided": said["because"], "cues": cues}
    return {"conflicts": found, "conflicts_total": rows.height}


def _clusters(told: Told) -> dict[str, Any]:
    merged = told.about.filter(pl.col("op") == "merge")
    groups = merged.group_by(keeper="superseded_by").agg("id", "seq").sort("keeper")
    found = [
        {"keeper": told.said(keeper), "members": [*map(told.said, ids)], "undo": told.undoing(seqs)}
        for keeper, ids, seqs in groups.head(view.MANY).iter_rows()
    ]
    return {"clusters": found, "clusters_total": groups.height}


def limits(beyond: list[dict[str, Any]], night: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a plan exceeds, and what else kept it from being applied."""
    stopped = night.get("stopped")
    same = beyond and night.get("code") == GuardRefused.code
    return [*beyond, night.get("because") or plain(stopped)] if stopped and not same else beyond


def approving(
    made: planfile.PlanFile | None, night: dict[str, Any], settings: Settings
) -> dict[str, str]:
    """Return the command that applies a plan beyond its limits, if that alone keeps it back."""
    if made is None or night.get("run") or not made.header["exceeds"]:
        return {}
    held = night.get("stopped") and night.get("code") != GuardRefused.code
    return {} if held else {"approve_command": f"{settings.typed()} apply {made.id} --approve"}


def undoing(made: planfile.PlanFile | None, runs: Sequence[Run], settings: Settings) -> Undoing:
    """Return what tells how to take changes back that these runs carried out, and those that wait."""
    by = {seq: run.id for run in runs for seq in run.header["kept"]}

    def undo(seqs: Sequence[int]) -> Shown:
        run = by.get(seqs[0])
        back = (
            ("rollback", run, "--only") if run else ("review", made.id if made else "", "--reject")
        )
        return {"command": command(settings, *back), "seqs": seqs}

    return undo


def command(settings: Settings, verb: str, of: str, option: str = "") -> Shown:
    """Return a line to type in parts, of which but the run or plan is new each night (`view.typed`)."""
    return {"typed": settings.typed(), "verb": verb, "run": of, "option": option}
