"""Showing: what a person sees of a plan at first look, its riskiest changes in their place."""

import json
from collections.abc import Iterable
from typing import Any

from memops.apply import beyond
from memops.commands import reviewing
from memops.reasons import told
from memops.reports.riskiest import MOST, around, by_risk, places, riskiest
from memops.safety.masking import masked_table
from memops.settings import Settings
from memops.state import planfile
from memops.state.sources import clock


def first_look(name: str, settings: Settings, most: int = MOST) -> dict[str, Any]:
    """Return a plan's counts by rule and risk, what waits and why, and its riskiest changes.

    These limits keep a night from doing what it may do of it unattended, if that goes `beyond` any.
    """
    plan = planfile.load(name, settings.state)
    review = reviewing.opened(plan, settings.state)
    nth = {seq: at for at, seq in enumerate(riskiest(plan.changes, most))}
    shown = sorted(placed(review, nth), key=lambda change: nth[change["seq"]])
    return {
        "beyond": beyond(plan, settings.state, clock()),
        "by_risk": by_risk(plan.changes),
        "waits": [
            {"changes": n, "reason": told(why)}
            for why, n in plan.changes["waits"].drop_nulls().value_counts(sort=True).iter_rows()
        ],
        "riskiest": shown,
    }


def placed(review: reviewing.Review, seqs: Iterable[int]) -> list[dict[str, Any]]:
    """Return changes as a person reads them, each in the place where its record stands."""
    shown = reviewing.described(review, seqs)
    ids = [change["id"] for change in shown]
    where = places(
        masked_table(around(review.records, ids), reviewing.secrets_of(review.plan)), ids
    )
    for change in shown:
        change["locator"] = json.loads(review.lines[change["seq"]]).get("locator")
        change |= where.get(change["id"], {})
    return shown
