"""Policy of hygiene: how relevance fades, and when records rise, sink and go."""

from dataclasses import dataclass
from typing import Literal

from memops.policy.defaults import setting
from memops.policy.ranges import (
    Count,
    Days,
    Factor,
    Group,
    Hours,
    Section,
    Share,
    Tier,
    Window,
    Workspace,
)


@dataclass(frozen=True)
class Floors(Section):
    """Fewest live records of a kind in a scope that unattended curation leaves."""

    default: Count = setting(5, "for kinds not named below")
    kinds: dict[Group, Count] = setting(
        {"note": 0, "session": 0, "entity": 20, "preference": 10},
        "by kind, or `category:name`, or either in one scope (`work/fact`); junk kinds need none",
    )


@dataclass(frozen=True)
class Decay(Section):
    """How relevance fades."""

    model: Literal["rsclaw", "clawseed", "openclaw", "none"] = setting(
        "rsclaw", "curve: rsclaw, clawseed (7 days), openclaw (30 days) or none"
    )
    clock: Literal["used", "changed", "created"] = setting(
        "used", "age counts from the latest of: created, changed or used times"
    )
    half_life_days: Window = setting(30.0, "base half-life (rsclaw memory.rs)")
    importance_factor: Factor = setting(1.5, "half-life grows as exp(factor x importance)")
    betas: dict[Tier, Factor] = setting(
        {"core": 0.8, "working": 1.0, "peripheral": 1.3}, "shape of the curve by tier (rsclaw)"
    )
    floors: dict[Tier, Share] = setting(
        {"core": 0.9, "working": 0.3, "peripheral": 0.1}, "least relevance for ranking (rsclaw)"
    )
    recency: Share = setting(0.4, "weight of recency in relevance (rsclaw)")
    frequency: Share = setting(0.3, "weight of use, 1 - exp(-accesses / 5) (rsclaw)")
    importance: Share = setting(0.3, "weight of importance (rsclaw)")


@dataclass(frozen=True)
class Tiers(Section):
    """When records rise and sink."""

    promote_by: Literal["access", "importance", "both", "either"] = setting(
        "both", "what lifts to core: access, importance, both or either"
    )
    promote_accesses: Count = setting(5, "uses that lift a record, together with importance")
    promote_importance: Share = setting(0.8, "importance that lifts a record, together with uses")
    promote_confirmed: Count = setting(
        2, "independent confirmations that count as enough uses; 0 lets them count for nothing"
    )
    restore_accesses: Count = setting(3, "uses that bring a peripheral record back to working")
    restore_relevance: Share = setting(0.4, "relevance that goes with them (rsclaw)")
    demote_relevance: Share = setting(0.15, "unfloored relevance below which a record sinks")
    demote_days: Days = setting(60.0, "age at which a little used record sinks (rsclaw)")
    demote_accesses: Count = setting(3, "fewer uses than this count as little used (rsclaw)")


@dataclass(frozen=True)
class Retention(Section):
    """What goes for good, and after how long."""

    windows: dict[Group, Window] = setting(
        {"session": 180.0, "note": 365.0},
        "days after which records of a kind are retired (or of a `category:name`, or either in one "
        "scope: `work/note`); what is not named stays",
    )
    grace_days: Days = setting(30.0, "days that a retired record waits before it is deleted")
    superseded_days: Days = setting(
        365.0, "days that a superseded record is kept; 0 keeps it for ever"
    )
    archive_days: Days = setting(730.0, "days that a deleted record stays in the archive")


@dataclass(frozen=True)
class Tasks(Section):
    """When a task is no longer to be done."""

    late_days: Days = setting(1.0, "days after its due day on which a task counts as stale")
    vague_days: Days = setting(30.0, "the same after a time that its text only mentions")
    closed_days: Days = setting(1.0, "days that a task stays after a record said that it is done")


@dataclass(frozen=True)
class Budgets(Section):
    """How large memory files may grow."""

    words: dict[Workspace, Count] = setting(
        {}, "most words in MEMORY.md by kind of store; a Chinese character is one"
    )
    runes: dict[Workspace, Count] = setting({}, "most characters in MEMORY.md by kind of store")
    room: Share = setting(0.9, "share of that to which a file that is over it is brought down")
    daily_days: Days = setting(0.0, "age at which a daily note is consolidated; 0 is never")


@dataclass(frozen=True)
class Lifecycles(Section):
    """What is to be confirmed, and how often hygiene is done."""

    unconfirmed_days: Days = setting(
        180.0, "days after which a preference that nobody confirmed loses confidence; 0 is never"
    )
    unconfirmed_share: Share = setting(0.5, "share of confidence that is left after each of them")
    review_days: Days = setting(
        180.0, "age at which facts about money, health and access are listed for review"
    )
    swings: Count = setting(3, "changes of a preference's value from which it counts as swinging")
    repeats: Count = setting(2, "times that a swinging value is said before it replaces the other")
    cadence_hours: Hours = setting(12.0, "nightly leaves hygiene out within this time of the last")
