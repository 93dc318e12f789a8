"""Grading as steps: grade a store, compare with a baseline, and preview a plan's effect."""

import contextlib
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files, snapshot
from memops.errors import GateInconclusive, MemopsError
from memops.evaluation import gate as gates
from memops.evaluation import grading
from memops.evaluation.gate import Verdict, judge
from memops.evaluation.gate_output import written
from memops.evaluation.golden import Suite, load, places, suite_folder
from memops.evaluation.grading import Grades
from memops.evaluation.statistics import compared
from memops.measures import measure as known
from memops.plan import outcome
from memops.policy import Policy
from memops.reasons import Reason, reason
from memops.settings import Settings
from memops.state import planfile
from memops.state.lineage import kept_lineage, lineage
from memops.state.sources import open_or_take


@dataclass(frozen=True)
class Asked:
    """A store or snapshot to be graded by a suite; unless it is to `keep`, the snapshot that is taken goes again."""

    store: str
    suite: str
    settings: Settings
    encoder: str | None = None
    now: datetime | None = None
    keep: bool = True

    def taken(self) -> snapshot.Snapshot:
        """Return the snapshot of that name, or take one of the store of that name."""
        return open_or_take(self.store, self.settings, self.now, to_grade=True)


def grade(asked: Asked) -> dict[str, Any]:
    """Grade a store or snapshot against a suite; returns means by retriever and slice."""
    graded, taken = _graded(asked, timed=True)
    said = graded.to_json()
    said["no_answer"] = dict(graded.unanswered)
    said["latency_ms"] = dict(graded.latency)
    said["compared"] = compared(graded, asked.settings.policy.gate)
    aggregates: dict[str, dict[str, float]] = {}
    for mean in (m for m in said["means"] if m["slice"] == "all"):
        aggregates.setdefault(mean["retriever"], {})[mean["measure"]] = mean["value"]
    return {**_about(asked, taken), "verdict": None, "grades": {"aggregates": aggregates, **said}}


def _about(asked: Asked, taken: snapshot.Snapshot) -> dict[str, Any]:
    kept = taken.id if taken.path.is_dir() else None
    return {"suite": asked.suite, "store": taken.address, "snapshot": kept}


def deciding(policy: Policy, measure: str | None) -> Policy:
    """Return a policy by which a measure decides, if one is named; raises MemopsError for no measure."""
    decides = known(measure).name if measure else policy.gate.measure
    return replace(policy, gate=replace(policy.gate, measure=decides))


def gate(asked: Asked, accept: bool = False, measure: str | None = None) -> dict[str, Any]:
    """Compare a store's grades with the suite's baseline, or record them as the baseline.

    Raises GateInconclusive without a baseline, MemopsError where the suite lacks the `measure` that is
    to decide.
    """
    graded, taken = _graded(asked, refit=accept)
    path = suite_folder(asked.suite) / "baseline.json"
    policy = deciding(asked.settings.policy, measure)
    if measure and measure not in (held := graded.means()):
        said = f"suite {asked.suite} does not measure {measure}; it measures {', '.join(held)}"
        where = f"`measures` in {path.with_name('suite.toml')}"
        raise MemopsError(said, f"add it to {where}, then record with --accept")
    replaced = None
    if accept:
        with contextlib.suppress(MemopsError, OSError):  # a damaged one tells nothing
            replaced = Grades.from_json(files.read_json(path)).means()
        kept = f"keep some of its proposals: memops recall suite review {path.parent}"
        gates.refuse_empty(graded, f"{kept}; then again")
        grading.freeze(graded, path.parent)
        files.write_json(path, graded.to_json())
    if not path.is_file():
        raise GateInconclusive(f"{path}: no baseline", "record one with --accept")
    verdict = judge(files.read_json(path), graded, policy)
    return {
        **_about(asked, taken), "accepted": str(path) if accept else None, "replaced": replaced,
        **verdict.to_json(), "grades": graded.means(), **written(verdict, places(path.parent)),
    }  # fmt: skip


def grade_plan(path: str, plan: str, suite: str, settings: Settings) -> dict[str, Any]:
    """Grade a snapshot and what a plan would leave of it, by one frozen encoder, and compare."""
    loaded = load(suite_folder(suite))
    before = snapshot.open_snapshot(Path(path)).records()
    made = planfile.load(plan, settings.state)
    changes = made.plan()
    by = (loaded, settings.policy, grading.frozen(loaded, before))
    past = kept_lineage(settings.state, made.header["store"])

    def graded(first: pl.DataFrame) -> Grades:
        return grading.grade(outcome(before, first), *by, pl.concat([past, lineage(first)]))

    was, now = grading.grade(before, *by, past), graded(changes)
    verdict, blame = judge(was, now, settings.policy), None
    if verdict.verdict == "fail" and (blame := blamed(was, graded, changes, settings.policy)):
        verdict = replace(verdict, because=[*verdict.because, blame.because])
    verdict = _since_baseline(suite_folder(suite) / "baseline.json", now, verdict, settings.policy)
    out = made.path / "grades.json"
    said = {"before": was.to_json(), "after": now.to_json(), "verdict": verdict.to_json()}
    files.write_json(out, said | {"shown": _shown(loaded, verdict, was, now)})
    recall = [r for r in verdict.measures.to_dicts() if r["slice"] == "all"]
    kept = ("measure", "before", "after", "difference", "low", "high")
    return {
        "suite": suite, "verdict": verdict.verdict, "why": verdict.reasons,
        "blame": blame and asdict(blame), "grades": str(out),
        "recall": [{k: r[k] for k in kept} for r in recall],
    }  # fmt: skip


def _since_baseline(path: Path, now: Grades, verdict: Verdict, policy: Policy) -> Verdict:
    """The verdict on a plan; fail where its loss comes on top of those of other nights since the baseline."""
    if verdict.verdict not in ("pass", "warn") or verdict.gained_by >= 0 or not path.is_file():
        return verdict
    with contextlib.suppress(MemopsError, OSError):  # a damaged one tells nothing
        since = judge(files.read_json(path), now, policy)
        if since.verdict == "fail":
            told = [reason("gate.since_baseline"), *since.because, *verdict.because]
            return replace(verdict, verdict="fail", because=told)
    return verdict


def _graded(
    asked: Asked, refit: bool = False, timed: bool = False
) -> tuple[Grades, snapshot.Snapshot]:
    """Grades by the encoder frozen with the suite's baseline, unless it is to be fitted anew."""
    settings, loaded = asked.settings, load(suite_folder(asked.suite))
    with tempfile.TemporaryDirectory(prefix="memops-") as folder:
        passing = not asked.keep and (asked.store in settings.stores or ":" in asked.store)
        into = replace(settings, state=Path(folder)) if passing else settings
        taken = replace(asked, settings=into).taken()
        records = taken.records()
    name = asked.encoder or (settings.encoder if settings.encoder != "lsa" else None)
    name = name or (loaded.encoder if refit or loaded.encoder != "lsa" else None)
    edges = kept_lineage(settings.state, taken.manifest["store"])
    used = grading.fitted(name, records, settings) if name else None
    clock = time.perf_counter if timed else None
    return grading.grade(records, loaded, settings.policy, used, edges, clock), taken


def _shown(suite: Suite, verdict: Verdict, was: Grades, now: Grades) -> dict[str, Any]:
    rows = verdict.measures.to_dicts()
    asked = {q["query_id"]: q for q in suite.queries.select("query_id", "text", "lang").to_dicts()}
    ranks = _first_ranks(was), _first_ranks(now)

    def slices(prefix: str) -> list[dict[str, Any]]:
        chosen = [r for r in rows if r["slice"].startswith(f"{prefix}:")]
        return [{"name": r["slice"].split(":", 1)[1], **_sides(r)} for r in chosen]

    def moved(frame: pl.DataFrame) -> list[dict[str, Any]]:
        return [
            {
                "query_id": query, "text": asked[query]["text"], "category": category or "",
                "lang": asked[query]["lang"] or "",
                "before": ranks[0].get(query), "after": ranks[1].get(query),
            }
            for query, category in frame.select("query_id", "category").iter_rows()
        ]  # fmt: skip

    overall = [r | {"value": r["difference"]} for r in rows if r["slice"] == "all"]
    delta = ("value", "low", "high")
    return {
        "suite": suite.name, "retriever": suite.retriever, "queries": suite.queries.height,
        "measures": [
            {"measure": r["measure"], **_sides(r), "delta": {name: r[name] for name in delta}}
            for r in overall
        ],
        "by_category": slices("category"), "by_lang": slices("lang"),
        "lost": moved(verdict.lost), "gained": moved(verdict.gained),
        "verdict": verdict.verdict, "why": verdict.because,
    }  # fmt: skip


def _sides(row: dict[str, Any]) -> dict[str, Any]:
    ends = {side: {"value": row[side], "low": None, "high": None} for side in ("before", "after")}
    return {"n": row["queries"], **ends}


def _first_ranks(graded: Grades) -> dict[str, int]:
    """For each query, the rank of the first right answer, from its reciprocal rank."""
    own = graded.per_query.filter(pl.col("value") > 0, retriever=graded.retriever)
    own = own.filter(pl.col("measure").str.starts_with("RR")).select("query_id", "value")
    return {q: round(1 / v) for q, v in own.iter_rows()}


@dataclass(frozen=True)
class Blame:
    """The rule from whose changes on the gate fails, and what they cost."""

    rule: str
    changes: int
    measure: str
    before: float
    after: float
    lost: list[str]
    """Queries that are worse with these changes than without them."""

    @property
    def because(self) -> Reason:
        """Return it as a reason."""
        named = ", ".join(self.lost[:5]) + (" ..." if len(self.lost) > 5 else "")
        ends = {"before": f"{self.before:.3f}", "after": f"{self.after:.3f}", "queries": named}
        about = {"rule": self.rule, "measure": self.measure, "changes": self.changes}
        return reason("gate.blame", about | ends)


def blamed(
    before: Grades, graded: Callable[[pl.DataFrame], Grades], plan: pl.DataFrame, policy: Policy
) -> Blame | None:
    """Return the rule of a failing plan with whose changes the gate begins to fail, by bisection."""
    part = plan.with_columns(part=pl.col("rule").rle_id())["part"]
    count = int(part.n_unique())
    known: dict[int, tuple[Grades, Verdict]] = {}

    def upto(parts: int) -> tuple[Grades, Verdict]:
        if parts not in known:
            now = graded(plan.filter(part < parts))
            known[parts] = now, judge(before, now, policy)
        return known[parts]

    if not count or upto(count)[1].verdict != "fail":
        return None
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if upto(middle)[1].verdict == "fail" else (middle, bad)
    was, now = upto(good)[0], upto(bad)[0]
    told = judge(was, now, policy)
    name = told.decided_by
    own = plan.filter(part == good)
    return Blame(
        own["rule"][0], own.height, name, was.means()[name], now.means()[name],
        told.lost["query_id"].to_list(),
    )  # fmt: skip
