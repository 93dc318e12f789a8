"""Looking: read-only answers about a store or a plan."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl

from memops import planfile, snapshot
from memops.context import Context
from memops.errors import MemopsError
from memops.secrets import redacted
from memops.settings import Settings
from memops.sources import open_or_take


def explain_change(plan: str, id: str, settings: Settings) -> dict[str, Any]:
    """Return what a plan does to a record and why; secrets masked. Raises MemopsError."""
    found = planfile.load(plan, settings.state)
    lines = [line for line in found.ops() if line["id"] == id]
    if not lines:
        raise MemopsError(
            f"plan {found.id} does not change {id!r}", f"its changes: {found.path}/ops.jsonl"
        )
    taken = snapshot.find(found.header["snapshot"], settings.state)
    records = taken.records() if taken else None
    texts = (
        dict(zip(records["id"], redacted(records["text"], settings.policy.secrets), strict=True))
        if records is not None
        else {}
    )
    rows = {row["seq"]: row for row in found.changes.with_row_index("seq", 1).iter_rows(named=True)}
    changes = [
        {
            **{k: line[k] for k in ("op", "rule", "reason", "risk", "locator", "set") if k in line},
            "text": texts.get(id),
            "evidence": {i: texts.get(i) for i in rows[line["seq"]]["evidence"] or []},
        }
        for line in lines
    ]
    return {"plan": found.id, "id": id, "changes": changes}


def list_pairs(
    what: str, store: str, settings: Settings, now: datetime | None
) -> list[dict[str, Any]]:
    """Return the store's conflicts or duplicates with their signals; secrets masked."""
    from memops.conflicts import judged
    from memops.similarity import statements

    taken = open_or_take(store, settings, now)
    records = taken.records()
    at = now or datetime.fromisoformat(taken.manifest["taken_at"])
    ctx = Context(now=at, policy=settings.policy)
    opposed = pl.col("opposes").is_not_null() & ~pl.col("same")
    wanted = opposed if what == "conflicts" else pl.col("same") & pl.col("opposes").is_null()
    pairs = judged(records, ctx).filter(wanted & pl.col("firm_a") & pl.col("firm_b"))
    said = statements(records, ctx)
    ids = said.members.group_by("statement").agg(pl.col("id").min())
    masked = said.table.with_columns(text=redacted(said.table["text"], settings.policy.secrets))
    told = masked.select("statement", "text").join(ids, on="statement")
    sides = [
        told.rename({"statement": n, "id": f"{n}_id", "text": f"{n}_text"}) for n in ("a", "b")
    ]
    rows = (
        pairs.join(sides[0], on="a")
        .join(sides[1], on="b")
        .sort("score", "a_id", "b_id", descending=[True, False, False])
    )
    columns = ["a_id", "b_id", "a_text", "b_text", "jaccard", "cosine", "bm25", "score", "opposes"]
    rounded = pl.col("jaccard", "cosine", "bm25", "score").round(3)
    found: list[dict[str, Any]] = rows.with_columns(rounded).select(columns).to_dicts()
    return found


def audit_store(
    store: str, settings: Settings, now: datetime | None, fail_on: Sequence[str]
) -> dict[str, Any]:
    """Return the audit of a store, and which of the classes in `fail_on` have findings."""
    from memops.audit import audit

    taken = open_or_take(store, settings, now)
    at = now or datetime.fromisoformat(taken.manifest["taken_at"])
    said = audit(taken.records(), Context(now=at, policy=settings.policy))
    unknown = sorted(set(fail_on) - said["classes"].keys())
    if unknown:
        raise MemopsError(f"unknown class {unknown[0]!r}", f"known: {', '.join(said['classes'])}")
    failed = [name for name in fail_on if said["classes"][name].get("count")]
    return {**said, "store": taken.address, "snapshot": taken.id, "failed": failed}
