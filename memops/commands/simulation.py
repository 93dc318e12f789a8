"""Simulation: what the aging rules would do, week by week, to a store that nobody uses meanwhile."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from memops.context import Context
from memops.hygiene.floors import standing
from memops.plan import meaning, outcome
from memops.policy import Policy, described, read
from memops.rules import HYGIENE, propose
from memops.schema import LIVE, TIERS, TOMBSTONE
from memops.settings import Settings
from memops.state.sources import open_or_take

MOVES = ("promoted", "demoted", "expired", "retired", "deleted", "held")
"""What happens to records in a week; `held` counts what a floor or a pin kept from going."""

_EXPIRED = "time.expired"


@dataclass(frozen=True)
class Course:
    """One simulated course under one policy.

    `weeks` has a row a night (week, at, MOVES, live, and live by tier), `kinds` one a night, scope and
    kind (live, floor); `start` is what fills the floors before the first.
    """

    start: pl.DataFrame
    weeks: pl.DataFrame
    kinds: pl.DataFrame
    records: pl.DataFrame


def simulated(records: pl.DataFrame, policy: Policy, now: datetime, days: int) -> Course:
    """Return the course of `days` days, a night a week, the first one tonight (week 0)."""
    start = standing(records, policy.floors)
    groups = start.drop("live")
    rows, kinds = [], []
    for week in range(days // 7 + 1):
        at = now + timedelta(weeks=week)
        plan, withdrawn = propose(records, Context(now=at, policy=policy), HYGIENE)
        moves = _moves(plan, records) | {"held": withdrawn["id"].n_unique()}
        records = outcome(records, plan)
        rows.append({"week": week, "at": at, **moves, **_standing(records)})
        held = standing(records, policy.floors).drop("floor")
        live = groups.join(held, on=["scope", "kind"], how="left")
        kinds.append(live.with_columns(pl.col("live").fill_null(0), week=pl.lit(week)))
    every = pl.concat(kinds).select("week", "scope", "kind", "live", "floor")
    return Course(start, pl.DataFrame(rows), every, records)


def compared(
    name: str, settings: Settings, now: datetime | None, days: int, policy: Path | None
) -> dict[str, Any]:
    """Return the courses of a store (or snapshot) under the policy in force and under a file's."""
    taken = open_or_take(name, settings, now)
    at = now or datetime.fromisoformat(taken.manifest["taken_at"])
    policies = {"in force": settings.policy} | ({policy.name: read(policy)} if policy else {})
    records = taken.records()
    courses = []
    for title, tried in policies.items():
        course = simulated(records, tried, at, days)
        about = {"policy": title, "sha256": tried.digest(), **summed(course)}
        courses.append(about | {"weeks": course.weeks.to_dicts()})
    said = {"store": taken.address, "snapshot": taken.id, "from": at, "days": days}
    known = {name: value for name, value, _ in described(settings.policy)}
    differs = [
        {"setting": name, "in_force": known[name], "tried": value}
        for tried in policies.values()
        for name, value, _ in described(tried)
        if value != known[name]
    ]
    return said | {"courses": courses, "differs": differs}


def summed(course: Course) -> dict[str, Any]:
    """Return a course's totals: what moved in all, and how each kind stands to its floor."""
    last = course.kinds["week"].max()
    start = course.start.select("scope", "kind", start="live")
    least = course.kinds.group_by("scope", "kind").agg(least=pl.col("live").min())
    end = course.kinds.filter(pl.col("week").eq_missing(last)).rename({"live": "end"}).drop("week")
    key = ["scope", "kind"]
    kinds = start.join(least, on=key).join(end, on=key).sort(key)
    kinds = kinds.select(*key, "start", "least", "end", "floor")
    totals = {name: int(course.weeks[name].sum()) for name in MOVES if name != "held"}
    held = int(course.weeks["held"].max() or 0)  # type: ignore[arg-type]
    live = int(course.weeks["live"][-1])
    return totals | {"held": held, "live": live, "kinds": kinds.to_dicts()}


def _moves(plan: pl.DataFrame, records: pl.DataFrame) -> dict[str, int]:
    told = meaning(plan, records).select("id", "code", "op", "action", "superseded_by")
    is_of = {
        "promoted": pl.col("op") == "promote",
        "demoted": pl.col("op") == "demote",
        "expired": pl.col("code") == _EXPIRED,
        "retired": (pl.col("superseded_by") == TOMBSTONE) & (pl.col("code") != _EXPIRED),
        "deleted": pl.col("action") == "delete",
    }
    return {name: told.filter(which)["id"].n_unique() for name, which in is_of.items()}


def _standing(records: pl.DataFrame) -> dict[str, int]:
    live = records.filter(LIVE)
    tiers = dict(live.group_by("tier").len().iter_rows())
    return {"live": live.height, **{tier: int(tiers.get(tier, 0)) for tier in TIERS}}
