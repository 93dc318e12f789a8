"""Policy: every threshold, floor, weight, half-life and limit, with its default and its reason."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_type_hints

from memops.policy.checking import checked, loaded, named_in
from memops.policy.defaults import setting
from memops.policy.grading import Gate, Retrieval
from memops.policy.hygiene import Budgets, Decay, Floors, Lifecycles, Retention, Tasks, Tiers
from memops.policy.models import Caps, Dense, Judge
from memops.policy.ranges import (
    AtLeastOne,
    Count,
    Days,
    Hours,
    Kind,
    Minutes,
    Ruled,
    Section,
    Share,
)
from memops.policy.safety import Hostile, Secrets


@dataclass(frozen=True)
class Limits(Section):
    """How much may change without a person."""

    share: Share = setting(0.10, "largest share of a scope and kind that a night may touch")
    records: Count = setting(500, "most records that a night may touch")
    small: Count = setting(
        10, "changes to a scope and kind that are never too many, whatever share"
    )
    window_hours: Hours = setting(20.0, "plans applied within this time count together")
    fresh_minutes: Minutes = setting(15.0, "files written this recently wait, unless approved")
    plan_hours: Hours = setting(24.0, "age at which a plan expires")
    shrink: Share = setting(0.20, "a snapshot this much smaller than the last one is not believed")
    same: Share = setting(
        0.20, "one that has less than this of the last one's records is of another store"
    )


@dataclass(frozen=True)
class Unattended(Section):
    """What a rule has to show before its changes happen without a person."""

    changes: AtLeastOne = setting(75, "least judged changes of a shape in a family of stores")
    lower: Share = setting(
        0.95, "least lower bound of the share of right and harmless ones among them"
    )
    curated: Share = setting(0.98, "the same of what hides or edits curated text")
    confidence: Share = setting(0.95, "confidence of that bound's two-sided interval")
    rules: dict[Ruled, Literal["always", "never", "earned"]] = setting(
        {},
        "what holds for a rule whatever it has earned: always, never, or earned; by RULE, KIND/RULE "
        "(`clawseed/merge_near`), KIND/* or *",
    )


@dataclass(frozen=True)
class Keep(Section):
    """Which snapshots and undo copies stay."""

    last: Count = setting(3, "newest snapshots of a store that stay, however old")
    within_days: Days = setting(2.0, "age in days up to which every snapshot stays")
    daily: Count = setting(7, "days of which a snapshot each stays")
    weekly: Count = setting(5, "weeks of which a snapshot each stays")
    monthly: Count = setting(12, "months of which a snapshot each stays")
    undo_days: Days = setting(30.0, "days that a run can be taken back")


@dataclass(frozen=True)
class Extract(Section):
    """What is made of raw notes."""

    longest: AtLeastOne = setting(
        2000, "characters of a note that are read at a time; a longer one is read in parts"
    )
    clause: Count = setting(400, "longer clauses are no statements (pasted data)")
    told: Share = setting(0.84, "least probability that a note tells a fact, for it to be read")
    silent: Share = setting(
        0.2, "the most of it, for a note to be retired with nothing made of it; with a number, half"
    )
    sentence: Share = setting(0.1, "the same of a sentence of such a note")
    apart: Share = setting(0.08, "how often the next clause of a sentence tells another kind")
    turn: Share = setting(0.27, "the same of the next sentence of a line, or after a semicolon")
    also: Share = setting(0.12, "least probability of a second kind that a fact is tagged with")
    passage: AtLeastOne = setting(200, "characters of a line that are told as one fact")
    junk: Share = setting(
        0.92, "least probability that a note without a fact is junk, to be retired"
    )
    noise: Share = setting(0.7, "the same of a note that has the words of a banner or of a program")
    surely: Share = setting(
        0.95, "the same of a note with a number; and for a retirement to be of low risk"
    )
    importance: dict[Kind, Share] = setting(
        {
            "entity": 0.90, "preference": 0.72, "procedure": 0.72, "fact": 0.65, "project_state": 0.65,
            "relationship": 0.65, "lesson": 0.85, "failure": 0.60,
        },
        "importance of an extracted record, by kind (rsclaw's bands)",
    )  # fmt: skip
    remembered: Share = setting(0.80, "least importance of what somebody asked to remember")
    core: list[Kind] = setting(
        ["entity", "lesson"], "kinds that become core, where the value was checked"
    )
    pinned: list[Kind] = setting(["entity"], "kinds that are pinned, where the value was checked")
    demoted: Share = setting(0.10, "importance of a note that is neither knowledge nor chatter")


@dataclass(frozen=True)
class Model(Caps):
    """How a model is asked about what rules are not sure of; nothing is sent unless asked for."""

    right: Share = setting(
        0.85, "how often its word on a note is right, until `judge test --notes` has measured it"
    )
    sure: Share = setting(
        0.95, "least probability, by rules and answers together, that a note tells a fact"
    )
    confidence: Share = setting(0.55, "least confidence of a fact that a model found")
    facts: Count = setting(6, "most facts that are taken from one note")
    longest: Count = setting(2000, "characters of a note that a model may be sent")
    batch: AtLeastOne = setting(40, "records that the curator shows a model at a time")


@dataclass(frozen=True)
class Candidates(Section):
    """Which statements are compared with which."""

    nearest: Count = setting(40, "neighbours that each statement is compared with")
    cosine: Share = setting(0.1, "least cosine of terms at which two statements are compared")
    common: Share = setting(
        0.05, "share of a store's statements above which a term finds no neighbours"
    )
    least: Share = setting(0.15, "similarity below which two statements are not read")
    shared: Share = setting(
        0.25, "least share of the shorter statement's terms that the other holds"
    )
    apart: Count = setting(10, "most terms of the shorter statement that the other may lack")
    postings: Count = setting(
        400, "most statements that a term may find; two commoner terms together find others"
    )
    jaccard: Share = setting(0.7, "similarity of tokens from which statements are compared anyway")
    exact: Count = setting(
        200_000,
        "statements of a scope up to which that search is exact; beyond, it goes by MinHash",
    )


@dataclass(frozen=True)
class Conflicts(Section):
    """What counts as a conflict."""

    jaccard: Share = setting(0.4, "weight of Jaccard in the seed's score (clawseed conflict.rs)")
    cosine: Share = setting(0.4, "weight of cosine in the seed's score (clawseed conflict.rs)")
    bm25: Share = setting(0.2, "weight of BM25 in the seed's score (clawseed conflict.rs)")
    confirmed: Count = setting(
        2, "independent confirmations more that decide between facts of one time, or of none known"
    )
    least: Share = setting(0.2, "similarity below which nothing is superseded unattended")


@dataclass(frozen=True)
class Policy(Section):
    """All of it."""

    limits: Limits = field(default_factory=Limits)
    unattended: Unattended = field(default_factory=Unattended)
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


_SECTIONS = {name: kind for name, kind in get_type_hints(Policy).items() if name[0] != "_"}


def read(path: Path) -> Policy:
    """Return the policy of a TOML file's `[policy]` table; raises MemopsError for a wrong one."""
    table, text = loaded(path)
    given = table.get("policy", {})
    return Policy(**_checked(given, str(path), text))


def sections(table: Any) -> Any:
    """Return the type of a policy's table."""
    return named_in(table, _SECTIONS)


def from_table(
    table: Mapping[str, Any], where: str = "policy", base: Policy | None = None
) -> Policy:
    """Return a policy, the default one if none is given, with overrides by section and name."""
    every = {name: dict(section) for name, section in asdict(base).items()} if base else {}
    for name, given in table.items():
        every[name] = {**every.get(name, {}), **given} if isinstance(given, Mapping) else given
    differs = {name: given for name, given in every.items() if given != _usual().get(name)}
    return Policy(**_checked(differs, where))


def plain(table: Any) -> dict[str, Section] | None:
    """Return the sections of a policy's table, if all say nothing but numbers and switches in their ranges."""
    known = isinstance(table, Mapping) and table.keys() <= _SECTIONS.keys()
    made = {name: _SECTIONS[name].plain(given) for name, given in table.items()} if known else {}
    whole = {name: section for name, section in made.items() if section is not None}
    return whole if known and whole.keys() == made.keys() else None


def _checked(table: Any, where: str, text: str = "") -> dict[str, Any]:
    if (made := plain(table)) is not None:
        return made
    told: dict[str, Any] = checked(sections(table), table, where, ("policy",), text)
    return told


@cache
def _usual() -> dict[str, Any]:
    """The default policy as a file says it."""
    said: dict[str, Any] = json.loads(json.dumps(asdict(Policy())))
    return said


def described(policy: Policy) -> list[tuple[str, Any, str]]:
    """Return every setting as (dotted name, value, sentence)."""
    return [
        (f"{section.name}.{item.name}", getattr(getattr(policy, section.name), item.name), item.metadata["why"])
        for section in fields(policy)
        for item in fields(getattr(policy, section.name))
    ]  # fmt: skip
