"""The gate: whether recall is worse than its baseline, and how sure that is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from memops.errors import GateInconclusive
from memops.evaluation.grading import SLICES, Grades
from memops.evaluation.statistics import Floats, detectable, holm, interval, sign_flip
from memops.measures import measure
from memops.policy import Policy
from memops.policy.grading import Gate
from memops.reasons import Reason, reason

SLACK = 1e-9
"""Differences up to which values count as the same."""
MOVED = pl.Schema(
    {"query_id": pl.String(), "category": pl.String()}
    | dict.fromkeys(("before", "after"), pl.Float64())
)


def moved(own: pl.DataFrame, name: str, lost: bool) -> pl.DataFrame:
    """Return the queries that lost, or those that gained, the most first."""
    gain = (1 if lost else -1) * measure(name).sign * pl.col("difference")
    return own.filter(gain < -SLACK).sort(gain, "query_id").select(MOVED.names())


def without_one(own: pl.DataFrame) -> dict[str, Any]:
    """Return what leaving out one query would make of the mean difference."""
    if own.height < 2:
        return {}
    difference = pl.col("difference")
    without = (difference.sum() - difference) / (own.height - 1)
    table = own.select("query_id", without=without, far=difference.abs().round(9))
    most = table.sort("far", "query_id", descending=[True, False]).row(0, named=True)
    low, high = table["without"].min(), table["without"].max()
    return {"low": low, "high": high, "query_id": most["query_id"]}


def by_rank(pairs: pl.DataFrame) -> dict[str, int]:
    """Return the counts of first right answers that moved, from the first reciprocal rank among the measures."""
    names = [n for n in pairs["measure"].unique(maintain_order=True) if n.split("@")[0] == "RR"]
    if not names:
        return {}
    own = pairs.filter(pl.col("measure") == names[0])
    was, now = pl.col("before"), pl.col("after")
    moves = {
        "up": (now > was + SLACK) & (was > 0), "down": (now < was - SLACK) & (now > 0),
        "in": (was <= 0) & (now > 0), "out": (was > 0) & (now <= 0),
    }  # fmt: skip
    return {name: own.filter(which).height for name, which in moves.items()}


@dataclass(frozen=True)
class Compared:
    """A measure before and after, over all queries or a slice; `p` is one-sided, of a loss, by Holm."""

    measure: str
    slice: str
    queries: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    won: int
    lost: int

    @property
    def gain(self) -> tuple[float, float, float]:
        """Return the difference and its interval, in which more is better."""
        sign = measure(self.measure).sign
        low, high = sorted((sign * self.low, sign * self.high))
        return sign * self.difference, low, high

    @property
    def sure(self) -> bool:
        """Return whether the whole interval is a loss."""
        return self.gain[2] < -SLACK

    @property
    def ends(self) -> dict[str, str]:
        """Return both values as a sentence says them."""
        return {"before": f"{self.before:.3f}", "after": f"{self.after:.3f}"}

    @property
    def between(self) -> dict[str, str]:
        """Return the interval as a sentence says it."""
        return {"low": f"{self.low:+.3f}", "high": f"{self.high:+.3f}"}


_KINDS = {str: pl.String(), int: pl.Int64(), float: pl.Float64()}
TABLE = pl.Schema({name: _KINDS[kind] for name, kind in Compared.__annotations__.items()})
EXITS = {"pass": 0, "warn": 0, "fail": 30, "inconclusive": 31}


@dataclass(frozen=True)
class Verdict:
    """What the gate says, why, and the figures that it says it from."""

    verdict: str
    because: list[Reason]
    measures: pl.DataFrame = field(default_factory=TABLE.to_frame)
    queries: list[str] = field(default_factory=list)
    lost: pl.DataFrame = field(default_factory=MOVED.to_frame)
    gained: pl.DataFrame = field(default_factory=MOVED.to_frame)
    decided_by: str = ""
    detectable: float = 0.0
    """Smallest mean loss that this suite would show with a power of 80 %."""
    dropped: Mapping[str, Any] = field(default_factory=dict)
    """The mean difference without any one query, lowest and highest, and the query that moves it most."""
    moves: Mapping[str, int] = field(default_factory=dict)
    """First right answers by rank: moved up, down, came in, dropped out."""

    @property
    def reasons(self) -> list[str]:
        """Return why as sentences."""
        return [str(one["reason"]) for one in self.because]

    @property
    def gained_by(self) -> float:
        """Return the mean gain in the measure that decides, negative for a loss."""
        own = self.measures.filter(measure=self.decided_by, slice="all")["difference"]
        return measure(self.decided_by).sign * float(own.sum()) if own.len() else 0.0

    @property
    def code(self) -> int:
        """Return the exit code."""
        return EXITS[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON values."""
        return {
            "verdict": self.verdict, "reasons": self.reasons, "decided_by": self.decided_by,
            "detectable": round(self.detectable, 6), "measures": self.measures.to_dicts(),
            "lost": self.lost.to_dicts(), "gained": self.gained.to_dicts(),
            "dropped": dict(self.dropped), "moves": dict(self.moves),
        }  # fmt: skip


def refuse_empty(grades: Grades, hint: str) -> None:
    """Raise GateInconclusive for grades that say nothing, with which none could be compared."""
    if why := incomparable(grades, grades):
        said = f"suite {grades.suite}: {why[-1]['reason']}; nothing was recorded"
        raise GateInconclusive(said, hint)


def judge(before: Grades | Mapping[str, Any], after: Grades, policy: Policy) -> Verdict:
    """Return the verdict on `after` against a baseline.

    Fail: the interval of the deciding measure's mean difference lies below 0 and the mean loss reaches
    the minimum; or a slice lost its minimum and that is no chance; or a floor is broken. Warn: a loss
    that is large but not sure, or sure but small, or in another measure. Inconclusive: nothing
    comparable, nothing to search, or too few queries.
    """
    base = before if isinstance(before, Grades) else Grades.from_json(before)
    if reasons := incomparable(base, after):
        return Verdict("inconclusive", reasons)
    settings = policy.gate
    pairs = _pairs(base, after)
    names = pairs["measure"].unique(maintain_order=True).to_list()
    decisive = settings.measure if settings.measure in names else names[0]
    overall = _adjusted([_row(pairs, name, "all", settings) for name in names])
    own = pairs.filter(pl.col("measure") == decisive)
    slices = _adjusted(_slice_rows(own, decisive, settings))
    table = pl.DataFrame([*overall, *slices], schema=TABLE)
    main = next(row for row in overall if row.measure == decisive)
    failed = _failures(main, slices, settings) + _broken(own, decisive, after.floors)
    warned = _warnings(main, overall, settings)
    low = main.gain[1]
    unsure = low < -settings.unsure - SLACK
    says = "fail" if failed else "inconclusive" if unsure else "warn" if warned else "pass"
    doubt = []
    if unsure and not failed:
        doubt = [_said("unsure", decisive, queries=main.queries, loss=f"{-low:.1%}")]
    return Verdict(
        says, [*failed, *doubt, *warned] or [_unchanged(main)], table, own["query_id"].to_list(),
        moved(own, decisive, lost=True),
        moved(own, decisive, lost=False), decisive, detectable(own["difference"].to_numpy()),
        without_one(own), by_rank(pairs),
    )  # fmt: skip


def incomparable(before: Grades, after: Grades) -> list[Reason]:
    """Return why two grades say nothing about each other; empty if they do."""
    reasons = [
        reason(f"gate.other_{key}", {"difference": _difference(was, now)})
        for key in ("suite", "settings", "retrieval", "encoder")
        if (was := before.fingerprints.get(key)) != (now := after.fingerprints.get(key))
    ]  # fmt: skip
    if before.live == 0:
        reasons.append(reason("gate.empty_baseline"))
    if after.live == 0:
        reasons.append(reason("gate.empty"))
    if not reasons and after.per_query.is_empty():
        reasons.append(reason("gate.no_query"))
    return reasons


def _pairs(before: Grades, after: Grades) -> pl.DataFrame:
    """The judged retriever's values before and after; a query without one counts as 0."""
    sides = [g.per_query.filter(pl.col("retriever") == g.retriever) for g in (before, after)]
    key = ["query_id", "measure"]
    # Kind and age are those of the evidence as it was: what is lost has neither.
    was = sides[0].select(*key, "kind", "age", before="value")
    return (
        sides[1].drop("kind", "age").rename({"value": "after"})
        .join(was, on=key, how="left", maintain_order="left")
        .with_columns(pl.col("before").fill_null(0.0))
        .with_columns(difference=pl.col("after") - pl.col("before"))
    )  # fmt: skip


def _row(pairs: pl.DataFrame, name: str, part: str, settings: Gate) -> Compared:
    own = pairs.filter(pl.col("measure") == name)
    difference: Floats = own["difference"].to_numpy()
    good = measure(name).sign * difference
    low, high = interval(difference, settings.confidence, settings.resamples, settings.seed)
    before, after = (float(own.select(pl.mean(n)).item()) for n in ("before", "after"))
    p = sign_flip(good, settings.resamples, settings.seed)
    won, lost = int(np.sum(good > SLACK)), int(np.sum(good < -SLACK))
    mean = float(difference.mean())
    return Compared(name, part, own.height, before, after, mean, low, high, p, won, lost)


def _slice_rows(own: pl.DataFrame, name: str, settings: Gate) -> list[Compared]:
    rows = []
    for label in SLICES.values():
        parts = own.with_columns(slice=label).drop_nulls("slice")
        for (part,), held in sorted(parts.partition_by("slice", as_dict=True).items()):
            # A slice that is all of the suite is judged as the whole.
            if settings.slice_queries <= held.height < own.height:
                rows.append(_row(held, name, str(part), settings))
    return rows


def _adjusted(rows: list[Compared]) -> list[Compared]:
    ps = holm([row.p for row in rows])
    return [replace(row, p=p) for row, p in zip(rows, ps, strict=True)]


def _failures(main: Compared, slices: list[Compared], settings: Gate) -> list[Reason]:
    said = []
    if -main.gain[0] >= settings.minimum - SLACK and main.sure:
        level = f"{settings.confidence:.0%}"
        said.append(_said("fell", main.measure, **main.ends, **main.between, level=level))
    for row in slices:
        if -row.gain[0] >= settings.slice_minimum - SLACK and row.p <= settings.alpha:
            about = {"slice": row.slice, "lost": row.lost, "queries": row.queries}
            said.append(_said("slice_fell", row.measure, **row.ends, **about, p=f"{row.p:.3f}"))
    return said


def _broken(own: pl.DataFrame, name: str, floors: Mapping[str, float]) -> list[Reason]:
    """The floors that do not hold, of slices of however few queries."""
    sign = measure(name).sign
    labelled = pl.concat(own.select("after", slice=label) for label in SLICES.values())
    means = dict(labelled.drop_nulls().group_by("slice").agg(pl.mean("after")).rows())
    return [
        _said("floor", name, slice=part, value=f"{means[part]:.3f}", floor=f"{floor:.3f}")
        for part, floor in floors.items()
        if part in means and sign * means[part] < sign * floor - SLACK
    ]


def _warnings(main: Compared, overall: list[Compared], settings: Gate) -> list[Reason]:
    name, loss, said = main.measure, -main.gain[0], []
    large = loss >= settings.minimum - SLACK
    if large and not main.sure:
        said.append(_said("chance", name, loss=f"{loss:.3f}", **main.between))
    elif main.sure and not large and loss > SLACK:
        said.append(_said("small", name, loss=f"{loss:.3f}", least=settings.minimum))
    said += [
        _said("other_went", row.measure, **row.ends, p=f"{row.p:.3f}")
        for row in overall
        if row is not main and -row.gain[0] >= settings.minimum and row.p <= settings.alpha
    ]
    return said


def _unchanged(main: Compared) -> Reason:
    if not main.won and not main.lost:
        return _said("unchanged", main.measure, value=f"{main.after:.3f}")
    return _said("went", main.measure, **main.ends, **main.between)


def _said(code: str, measure: str, **args: Any) -> Reason:
    return reason(f"gate.{code}", {"measure": measure, **args})


def _difference(before: Any, after: Any) -> str:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        names = sorted(n for n in {*before, *after} if before.get(n) != after.get(n))
        return "; ".join(f"{n} was {before.get(n)!r}, is {after.get(n)!r}" for n in names)
    return f"was {str(before)[:16]}, is {str(after)[:16]}"
