"""The lines of a plan: each change as people, gates and other programs read it, and a review of them."""

import contextlib
import json
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from memops.errors import PlanRefused
from memops.files import digest
from memops.plan import FIELDS, meaning
from memops.reasons import reason, unpacked
from memops.safety.masking import masked_value
from memops.schema import only
from memops.stores import Store


def exported(
    changes: pl.DataFrame, records: pl.DataFrame, store: Store
) -> Iterable[dict[str, Any]]:
    """Yield each change as one line of ops.jsonl says it, without nulls."""
    named = changes.select(pl.concat_list("id", pl.col("evidence").fill_null([]))).to_series()
    said = only(records, named.explode().drop_nulls()).iter_rows(named=True)
    where = {row["id"]: store.locator(row) for row in said}
    where = dict(zip(where, masked_value([*where.values()]), strict=True))
    once, waiting = cache(reason), cache(unpacked)  # most reasons are a few, said many times
    for seq, row in enumerate(meaning(changes, records).iter_rows(named=True), 1):
        held = {n: row[n] for n in FIELDS if row[n] is not None}
        given = {n: v.isoformat() if isinstance(v, datetime) else v for n, v in held.items()}
        line = {
            "seq": seq,
            "op": row["op"],
            "action": row["action"],
            "intent": row["intent"],
            "rule": row["rule"],
            **once(row["code"], row["args"]),
            "id": row["id"],
            "locator": where.get(row["id"]),
            "set": given if row["action"] == "edit" else None,
            "clears": row["clears"],
            "record": {"id": row["id"], **given} if row["action"] == "put" else None,
            "derived_from": row["derived_from"],
            "evidence": [where.get(i) or {"id": i} for i in row["evidence"] or []] or None,
            "risk": row["risk"],
            "unattended": row["unattended"],
            "waits": waiting(row["waits"]) if row["waits"] else None,
        }
        yield {name: value for name, value in line.items() if value is not None}


def lines_of(changes: pl.DataFrame, records: pl.DataFrame, store: Store) -> Iterable[str]:
    """Yield each change as it stands in ops.jsonl."""
    for line in exported(changes, records, store):
        yield json.dumps(line, ensure_ascii=False)


def kept_lines(path: Path, digests: list[str]) -> list[int]:
    """Return the numbers of the lines that remain; raises PlanRefused for one that is not as it was."""
    kept: list[int] = []
    if not path.is_file():
        raise PlanRefused(f"{path} is missing")
    for nth, raw in enumerate(path.read_bytes().split(b"\n"), 1):
        if not raw.strip():
            continue
        own, seq = digest_of(raw.decode("utf-8", "replace")), (kept[-1] if kept else 0) + 1
        right = seq <= len(digests) and digests[seq - 1] == own  # as nearly every line does
        if not right:
            with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
                seq = json.loads(raw)["seq"]
                right = isinstance(seq, int) and 0 < seq <= len(digests)
        if not right or digests[seq - 1] != own:
            said = f"{path}, line {nth}: changed or added; a review may only remove lines"
            raise PlanRefused(said, "restore the line or plan again")
        if kept and seq <= kept[-1]:
            said = f"{path}, line {nth}: repeated or moved"
            raise PlanRefused(said, "restore the file or plan again")
        kept.append(seq)
    return kept


def digest_of(line: str) -> str:
    """Return what a line is known by in its plan."""
    return digest(line.strip())[:16]
