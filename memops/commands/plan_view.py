"""A plan as a person first sees it: counts, what waits, and the riskiest changes in their place."""

import json
from collections.abc import Iterable
from typing import Any

import polars as pl

from memops.apply import beyond
from memops.commands import reviewing
from memops.plan import FIELDS, without_secrets
from memops.policy import from_table
from memops.policy.safety import Secrets
from memops.reasons import told
from memops.reports.riskiest import MOST, around, by_risk, places, riskiest
from memops.safety.looked import redacted
from memops.safety.masking import masked_table
from memops.schema import QUARANTINE, TOMBSTONE
from memops.settings import Settings
from memops.state import planfile
from memops.state.sources import clock

HIDDEN = {TOMBSTONE: "retired", QUARANTINE: "quarantined"}
_SAID = ("seq", "op", "rule", "id", "risk", "unattended")


def first_look(name: str, settings: Settings, most: int = MOST) -> dict[str, Any]:
    """Return a plan's counts by rule and risk, what waits and why, and its riskiest changes."""
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
    shown = described(review, seqs)
    ids = [change["id"] for change in shown]
    beside = around(without_secrets(review.records, review.rows), ids)
    where = places(masked_table(beside, secrets_of(review.plan)), ids)
    for change in shown:
        change["locator"] = json.loads(review.lines[change["seq"]]).get("locator")
        change |= where.get(change["id"], {})
    return shown


def described(review: reviewing.Review, seqs: Iterable[int]) -> list[dict[str, Any]]:
    """Return changes as a person reads them: what becomes of what, why, on what evidence."""
    policy = secrets_of(review.plan)
    chosen = review.rows.filter(pl.col("seq").is_in(list(seqs)))
    masked = masked_table(chosen, policy)
    lines = {seq: json.loads(review.lines[seq]) for seq in chosen["seq"]}
    named = {*chosen["id"], *chosen["superseded_by"].drop_nulls()}
    named |= {i for ids in chosen["evidence"].drop_nulls() for i in ids}
    told = without_secrets(review.records, review.rows).filter(pl.col("id").is_in(list(named)))
    before = {row["id"]: row for row in masked_table(told, policy).to_dicts()}
    return [
        {
            **{k: lines[row["seq"]].get(k) for k in _SAID},
            **_reason(lines[row["seq"]], policy),
            "text": before.get(row["id"], row)["text"],
            "instead": other and {"id": other["id"], "text": other["text"]},
            "becomes": _becomes(row, before),
            "evidence": [
                {"id": i, "text": before.get(i, {}).get("text")} for i in row["evidence"] or []
            ],
        }
        for row in masked.to_dicts()
        for other in [before.get(row["superseded_by"])]
    ]


def secrets_of(plan: planfile.PlanFile) -> Secrets:
    """Return by what policy the secrets of a plan's texts are masked."""
    return from_table(plan.header["policy"], plan.id).secrets


def _reason(line: dict[str, Any], policy: Secrets) -> dict[str, Any]:
    said = {k: line[k] for k in ("intent", "code", "args") if k in line}
    return {"reason": redacted(pl.Series([line["reason"] or ""]), policy)[0]} | said


def _becomes(row: dict[str, Any], before: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What a change does, field by field, before and after."""
    if row["action"] == "delete":
        return [{"field": "record", "before": "kept", "after": "deleted"}]
    was = before.get(row["id"])
    if row["action"] == "put" and was is None:
        shown = ("kind", "scope", "tier", "text")
        return [{"field": name, "before": None, "after": row[name]} for name in shown]
    said = []
    for name in FIELDS:
        if name in (row["clears"] or []) or (row[name] is not None and name != "extra"):
            after = row[name]
            if name == "superseded_by" and after is not None:
                parts = [f"replaced by {after}", *filter(None, [before.get(after, {}).get("text")])]
                after = HIDDEN.get(after) or ": ".join(parts)
            said.append({"field": name, "before": was[name] if was else None, "after": after})
    return said
