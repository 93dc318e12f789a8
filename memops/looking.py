"""Looking: read-only answers about a store or a plan."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

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
        raise MemopsError(f"plan {found.id} does not change {id!r}", f"its changes: {found.path}/ops.jsonl")
    taken = snapshot.find(found.header["snapshot"], settings.state)
    records = taken.records() if taken else None
    texts = dict(zip(records["id"], redacted(records["text"], settings.policy.secrets), strict=True)) if records is not None else {}
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


def list_pairs(what: str, store: str, settings: Settings, now: datetime | None) -> list[dict[str, Any]]:
    """Return the store's conflicts or duplicates with their signals; secrets masked."""
    from memops import conflicts

    taken = open_or_take(store, settings, now)
    records = taken.records()
    ctx = Context(now=now or datetime.fromisoformat(taken.manifest["taken_at"]), policy=settings.policy)
    frame = getattr(conflicts, what)(records, ctx)
    shown = frame.with_columns(redacted(frame[n], settings.policy.secrets).alias(n) for n in ("text_a", "text_b") if n in frame.columns)
    rows: list[dict[str, Any]] = shown.to_dicts()
    return rows


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
