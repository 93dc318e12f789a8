"""Showing: what a person sees of a plan at first look, its riskiest changes in their place."""

from typing import Any

from memops.commands import reviewing
from memops.reasons import told
from memops.reports.riskiest import MOST, by_risk, places, riskiest
from memops.safety.masking import masked_table
from memops.settings import Settings
from memops.state import planfile


def first_look(name: str, settings: Settings, most: int = MOST) -> dict[str, Any]:
    """Return a plan's counts by rule and risk, what waits and why, and its riskiest changes."""
    plan = planfile.load(name, settings.state)
    review = reviewing.opened(plan, settings.state)
    nth = {seq: at for at, seq in enumerate(riskiest(plan.changes, most))}
    shown = sorted(reviewing.described(review, nth), key=lambda change: nth[change["seq"]])
    masked = masked_table(review.records, reviewing.secrets_of(plan)) if shown else None
    where = places(masked, [change["id"] for change in shown]) if masked is not None else {}
    by_seq = {line["seq"]: line for line in plan.ops()}
    for change in shown:
        line = by_seq[change["seq"]]
        change |= {name: line.get(name) for name in ("locator", "unattended")}
        change |= {**where.get(change["id"], {})}
    return {
        "by_risk": by_risk(plan.changes),
        "waits": [
            {"changes": n, "reason": told(why)}
            for why, n in plan.changes["waits"].drop_nulls().value_counts(sort=True).iter_rows()
        ],
        "riskiest": shown,
    }
