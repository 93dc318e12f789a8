"""Hypothesis strategies for records and plans."""

from datetime import UTC, datetime, timedelta

import polars as pl
from hypothesis import strategies as st

from memops.plan import delete, edit, nothing, put
from memops.schema import (
    FORMS,
    INTENTS,
    KINDS,
    QUARANTINE,
    RECORDS,
    ROLES,
    TIERS,
    TOMBSTONE,
    from_rows,
)

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
IDS = [f"r{i}" for i in range(8)]
TEXTS = [
    "User likes tea",
    "用户喜欢喝茶",
    "the port is 42617",
    "用户的生日是 5 月 14 日",
    "",
    "mixed 中文 text",
]
CLEARABLE = ["superseded_by", "valid_to", "expires_at", "confidence", "source"]

times = st.none() | st.integers(-3000, 300).map(lambda d: NOW + timedelta(days=d))
fields = {
    "scope": st.sampled_from(["default", "agent:main"]),
    "subject": st.none() | st.sampled_from(["Team", "Team › Tools"]),
    "form": st.sampled_from(FORMS[:3]),
    "role": st.sampled_from(ROLES[:3]),
    "block": st.none() | st.sampled_from(["a", "b"]),
    "kind": st.sampled_from(KINDS[:3]),
    "text": st.sampled_from(TEXTS),
    "tier": st.sampled_from(TIERS),
    "importance": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    "confidence": st.none() | st.sampled_from([0.5, 0.9]),
    "pinned": st.booleans(),
    "access_count": st.integers(0, 30),
    "created_at": times,
    "updated_at": times,
    "valid_to": times,
    "superseded_by": st.none() | st.sampled_from([*IDS, QUARANTINE, TOMBSTONE, "elsewhere"]),
    "source": st.none() | st.sampled_from(["user", "extractor"]),
    "tags": st.lists(st.sampled_from(["a", "超级"]), max_size=2),
}
rows = st.fixed_dictionaries(fields)


@st.composite
def records(draw, ids=IDS, min_size=0):
    chosen = draw(st.lists(st.sampled_from(ids), unique=True, min_size=min_size))
    return from_rows([{"id": i, **draw(rows)} for i in chosen])


@st.composite
def plans(draw, ids=IDS, max_size=6):
    """Arbitrary changes, sensible or not: what a greedy model or a hand might write."""
    changes = [nothing()]
    for _ in range(draw(st.integers(0, max_size))):
        one = from_rows([{"id": draw(st.sampled_from(ids)), **draw(rows)}])
        action = draw(st.sampled_from(["put", "edit", "delete"]))
        if action == "put":
            step = put(one, "because")
        elif action == "delete":
            step = delete(one, "because")
        else:
            names = draw(st.lists(st.sampled_from(sorted(fields)), unique=True, max_size=4))
            clears = draw(st.lists(st.sampled_from(CLEARABLE), unique=True, max_size=2))
            given = {n: pl.lit(one[n].to_list()[0], RECORDS[n]) for n in names if n not in clears}
            step = edit(one, "update", "because", clears=clears, **given)
        rule = draw(st.sampled_from(["merge_anything", "supersede_all", "wipe", "redact_all"]))
        risk = draw(st.sampled_from(["low", "high"]))
        intent = draw(st.sampled_from(INTENTS))
        about = {"rule": rule, "risk": risk, "intent": intent}
        changes.append(step.with_columns(**{n: pl.lit(v) for n, v in about.items()}))
    return pl.concat(changes)
