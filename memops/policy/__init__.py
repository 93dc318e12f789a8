"""Policy: every threshold, floor, weight, half-life and limit, with its default and its reason.

`Policy()` is the default; `read` takes overrides from the `[policy]` table of a TOML file. An
unknown name is an error that suggests the near one. Sections are frozen dataclasses; each field
carries the sentence that `memops policy` prints.
"""

import difflib
import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from memops.errors import Corrupt, MemopsError
from memops.policy.defaults import setting
from memops.policy.grading import Gate, Retrieval
from memops.policy.hygiene import (
    Budgets,
    Decay,
    Floors,
    Lifecycles,
    Retention,
    Tasks,
    Tiers,
)
from memops.policy.models import Dense, Judge


@dataclass(frozen=True)
class Limits:
    """How much may change without a person."""

    share: float = setting(0.10, "largest share of a scope and kind that a night may touch")
    records: int = setting(500, "most records that a night may touch")
    small: int = setting(10, "changes to a scope and kind that are never too many, whatever share")
    window_hours: float = setting(20.0, "plans applied within this time count together")
    fresh_minutes: float = setting(15.0, "files written this recently wait, unless approved")
    plan_hours: float = setting(24.0, "age at which a plan expires")
    shrink: float = setting(0.20, "a snapshot this much smaller than the last one is not believed")


@dataclass(frozen=True)
class Keep:
    """Which snapshots and undo copies stay."""

    last: int = setting(3, "newest snapshots of a store that stay, however old")
    within_days: float = setting(2.0, "age in days up to which every snapshot stays")
    daily: int = setting(7, "days of which a snapshot each stays")
    weekly: int = setting(5, "weeks of which a snapshot each stays")
    monthly: int = setting(12, "months of which a snapshot each stays")
    undo_days: float = setting(30.0, "days that a run can be taken back")


@dataclass(frozen=True)
class Secrets:
    """What counts as a secret, and what shows of it."""

    off: list[str] = setting(["phone"], "kinds that are not looked for")
    patterns: dict[str, str] = setting({}, "more kinds: a name, and a regular expression (Rust's)")
    sensitivity: dict[str, str] = setting(
        dict.fromkeys(("password", "one-time-code", "private-key", "seed-phrase"), "never_store"),
        "what is done with a kind: allowed (it stays as it is), never_store (it goes whole), and masked, "
        "which all others are (its ends show as `keep` says)",
    )
    allow: list[str] = setting([], "expressions of whole values that are no secrets here")
    keep: int = setting(0, "characters that show at either end of a long secret")


@dataclass(frozen=True)
class Hostile:
    """When text addressed to a model is quarantined."""

    threshold: float = setting(2.0, "points of evidence that make a text hostile")
    longer: float = setting(0.4, "points more for each doubling of a long text's passages")
    repeats: int = setting(5, "times that one prompt stands in a store before it is a banner")


@dataclass(frozen=True)
class Extract:
    """What is made of raw notes."""

    longest: int = setting(20_000, "characters of a note that are read")
    clause: int = setting(400, "longer clauses are no statements (pasted data)")
    residue: int = setting(
        3, "unexplained characters (a Latin word counts two) that make a note more than chatter"
    )
    importance: dict[str, float] = setting(
        {
            "entity": 0.90, "preference": 0.72, "procedure": 0.72, "fact": 0.65, "project_state": 0.65,
            "relationship": 0.65, "lesson": 0.85, "failure": 0.60,
        },
        "importance of an extracted record, by kind (rsclaw's bands)",
    )  # fmt: skip
    remembered: float = setting(0.80, "least importance of what somebody asked to remember")
    core: list[str] = setting(["entity", "lesson"], "kinds that become core")
    pinned: list[str] = setting(["entity"], "kinds that are pinned")
    demoted: float = setting(0.10, "importance of a note that is neither knowledge nor chatter")


@dataclass(frozen=True)
class Model:
    """How a model is asked about what no rule could read; nothing is sent unless asked for."""

    confidence: float = setting(0.55, "least confidence of a fact that a model found")
    facts: int = setting(6, "most facts that are taken from one note")
    longest: int = setting(2000, "characters of a note that a model may be sent")
    in_flight: int = setting(4, "requests at the same time")
    tries: int = setting(3, "times that a request is sent before its note waits")
    pause: float = setting(
        1.0, "seconds before the second try; each next one waits four times as long"
    )
    seconds: float = setting(60.0, "longest time that one request may take")
    minutes: float = setting(30.0, "longest time that all requests of a run may take")
    reply_tokens: int = setting(800, "tokens that one reply may have")
    reply_bytes: int = setting(1 << 20, "bytes that one reply may have")
    tokens: int = setting(500_000, "tokens that a run may use")
    price: float = setting(0.0, "what a million tokens cost")
    cost: float = setting(0.0, "what a run may cost; 0 for no limit")
    batch: int = setting(40, "records that the curator shows a model at a time")


@dataclass(frozen=True)
class Candidates:
    """Which statements are compared with which."""

    nearest: int = setting(40, "neighbours that each statement is compared with")
    cosine: float = setting(0.1, "least cosine of terms at which two statements are compared")
    common: float = setting(
        0.05, "share of a store's statements above which a term finds no neighbours"
    )
    least: float = setting(0.15, "similarity below which two statements are not read")
    shared: float = setting(
        0.25, "least share of the shorter statement's terms that the other holds"
    )
    apart: int = setting(10, "most terms of the shorter statement that the other may lack")
    postings: int = setting(
        400, "most statements that a term may find; two commoner terms together find others"
    )
    jaccard: float = setting(0.7, "similarity of tokens from which statements are compared anyway")
    exact: int = setting(
        200_000,
        "statements of a scope up to which that search is exact; beyond, it goes by MinHash",
    )


@dataclass(frozen=True)
class Duplicates:
    """What counts as said twice."""

    en: float = setting(0.3, "probability from which an English pair is called a duplicate")
    zh: float = setting(
        0.62, "probability from which a Chinese or mixed pair is called a duplicate"
    )


@dataclass(frozen=True)
class Conflicts:
    """What counts as a conflict."""

    jaccard: float = setting(0.4, "weight of Jaccard in the seed's score (clawseed conflict.rs)")
    cosine: float = setting(0.4, "weight of cosine in the seed's score (clawseed conflict.rs)")
    bm25: float = setting(0.2, "weight of BM25 in the seed's score (clawseed conflict.rs)")
    confirmed: int = setting(
        2, "independent confirmations more that decide between facts of one time, or of none known"
    )
    least: float = setting(0.2, "similarity below which nothing is superseded unattended")
    en: float = setting(0.3, "probability from which an English pair is called a conflict")
    zh: float = setting(0.4, "probability from which a Chinese or mixed pair is called a conflict")


@dataclass(frozen=True)
class Policy:
    """All of it."""

    limits: Limits = field(default_factory=Limits)
    floors: Floors = field(default_factory=Floors)
    decay: Decay = field(default_factory=Decay)
    tiers: Tiers = field(default_factory=Tiers)
    retention: Retention = field(default_factory=Retention)
    keep: Keep = field(default_factory=Keep)
    tasks: Tasks = field(default_factory=Tasks)
    budgets: Budgets = field(default_factory=Budgets)
    lifecycles: Lifecycles = field(default_factory=Lifecycles)
    candidates: Candidates = field(default_factory=Candidates)
    dense: Dense = field(default_factory=Dense)
    duplicates: Duplicates = field(default_factory=Duplicates)
    conflicts: Conflicts = field(default_factory=Conflicts)
    judge: Judge = field(default_factory=Judge)
    secrets: Secrets = field(default_factory=Secrets)
    hostile: Hostile = field(default_factory=Hostile)
    extract: Extract = field(default_factory=Extract)
    model: Model = field(default_factory=Model)
    retrieval: Retrieval = field(default_factory=Retrieval)
    gate: Gate = field(default_factory=Gate)

    def digest(self) -> str:
        """Return the SHA-256 of the policy's canonical JSON."""
        text = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def read(path: Path) -> Policy:
    """Return the policy of a TOML file's `[policy]` table; raises MemopsError for unknown names."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path}: not valid TOML: {error}") from error
    return from_table(table.get("policy", {}), str(path))


def from_table(table: Mapping[str, Any], where: str = "policy") -> Policy:
    """Return the default policy with the given overrides."""
    made: Policy = overridden(Policy(), table, where, "policy")
    return made


def described(policy: Policy) -> list[tuple[str, Any, str]]:
    """Return every setting as (dotted name, value, sentence)."""
    return [
        (f"{section.name}.{item.name}", getattr(getattr(policy, section.name), item.name), item.metadata["why"])
        for section in fields(policy)
        for item in fields(getattr(policy, section.name))
    ]  # fmt: skip


def overridden(base: Any, table: Mapping[str, Any], where: str, at: str) -> Any:
    """Return a dataclass with the values of a table, checked against its own by name and type."""
    known = {item.name: item for item in fields(base)}
    changes: dict[str, Any] = {}
    for name, value in table.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise MemopsError(f"{where}: unknown setting {at}.{name}", hint)
        old = getattr(base, name)
        if hasattr(old, "__dataclass_fields__"):
            if not isinstance(value, Mapping):
                raise MemopsError(f"{where}: {at}.{name} must be a table")
            changes[name] = overridden(old, value, where, f"{at}.{name}")
        else:
            changes[name] = _fitted(old, value, f"{where}: {at}.{name}")
    return replace(base, **changes)


def _fitted(old: Any, value: Any, where: str) -> Any:
    if isinstance(old, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(old):
        raise MemopsError(f"{where} must be {type(old).__name__}, not {value!r}")
    if isinstance(value, float | int) and not isinstance(value, bool) and value < 0:
        raise MemopsError(f"{where} must not be negative")
    return {**old, **value} if isinstance(old, dict) else value
