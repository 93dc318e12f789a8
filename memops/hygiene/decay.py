"""Decay: how a record's relevance fades, as column expressions with their formula and source.

Every expression is finite, within its range and monotone in age for any time stamp: ages are
computed in floating point, a time in the future counts as age 0, and an unknown time as no age at
all (null), which never means old.
"""

import math
from collections.abc import Callable
from datetime import UTC, datetime

import polars as pl

from memops.policy.hygiene import Decay

CLOCKS = {
    "created": ("created_at",),
    "changed": ("created_at", "updated_at"),
    "used": ("created_at", "updated_at", "accessed_at"),
}
"""Which times age is measured from: the latest known of these columns."""

DAY = 86_400e6
"""Microseconds."""

DATED = r"(^|/)(\d{4}-\d{2}-\d{2})[^/]*\.md"
"""Finds the path of a daily note, with its day as second group."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def age_days(now: datetime, clock: str = "used") -> pl.Expr:
    """Return days since the latest known time of a clock; null when none is known."""
    times = [pl.col(name).dt.timestamp("us").cast(pl.Float64) for name in CLOCKS[clock]]
    return ((since_epoch(now) - pl.max_horizontal(times)) / DAY).clip(lower_bound=0.0)


def since_epoch(now: datetime) -> float:
    """Return an instant as microseconds since 1970, in floating point, where ages are computed."""
    return (now - _EPOCH).total_seconds() * 1e6


def half_life(decay: Decay) -> pl.Expr:
    """Return rsclaw's effective half-life in days: base x min(exp(factor x importance), 10)."""
    grown = (decay.importance_factor * _importance()).exp().clip(upper_bound=10.0)
    return (decay.half_life_days * grown).clip(lower_bound=1e-9)


def weibull(age: pl.Expr, decay: Decay) -> pl.Expr:
    """Return rsclaw's recency, exp(-ln 2 / half-life x age^beta), beta by tier (memory.rs:108).

    With beta other than 1 the half-life is one in name only.
    """
    beta = pl.col("tier").replace_strict(decay.betas, default=1.0, return_dtype=pl.Float64)
    return (-math.log(2) / half_life(decay) * age.pow(beta)).exp()


def weekly(age: pl.Expr, decay: Decay) -> pl.Expr:
    """Return clawseed's recency, 2^(-age / 7 days) of whole seconds; core stays (decay.rs:15)."""
    seconds = (age * 86_400).floor()
    return pl.when(pl.col("tier") == "core").then(1.0).otherwise(_halving(seconds / 86_400, 7.0))


def monthly(age: pl.Expr, decay: Decay) -> pl.Expr:
    """Return OpenClaw's recency, 2^(-age / 30 days) for dated files; all else is evergreen."""
    dated = pl.col("origin").str.contains(DATED).fill_null(False)
    return pl.when(dated).then(_halving(age, 30.0)).otherwise(1.0)


def unfading(age: pl.Expr, decay: Decay) -> pl.Expr:
    """Return 1: nothing fades."""
    return pl.lit(1.0)


MODELS: dict[str, Callable[[pl.Expr, Decay], pl.Expr]] = {
    "rsclaw": weibull,
    "clawseed": weekly,
    "openclaw": monthly,
    "none": unfading,
}


def recency(now: datetime, decay: Decay) -> pl.Expr:
    """Return the time part of relevance, by the policy's model and clock; 1 for unknown times."""
    return MODELS[decay.model](age_days(now, decay.clock).fill_null(0.0), decay)


def frequency() -> pl.Expr:
    """Return the use part of relevance, 1 - exp(-accesses / 5) (rsclaw memory.rs:130)."""
    return 1 - (-pl.col("access_count").cast(pl.Float64).clip(lower_bound=0.0) / 5).exp()


def relevance(now: datetime, decay: Decay, floored: bool = False) -> pl.Expr:
    """Return how much a record still matters, 0 to 1; a pinned one always 1.

    recency, frequency and importance by their weights (0.4, 0.3, 0.3 in rsclaw). Ranking uses
    the value raised to the tier's floor; tiers move on the unfloored one, because a working
    record's floor of 0.3 would keep it above any threshold for ever.
    """
    blend = (
        decay.recency * recency(now, decay)
        + decay.frequency * frequency()
        + decay.importance * _importance()
    )
    if floored:
        floor = pl.col("tier").replace_strict(decay.floors, default=0.0, return_dtype=pl.Float64)
        blend = pl.max_horizontal(blend, floor).clip(lower_bound=0.01)
    return pl.when(pl.col("pinned")).then(1.0).otherwise(blend.clip(0.0, 1.0))


def shown(score: pl.Expr) -> pl.Expr:
    """Return a score as reasons give it, cut to three places: never over a threshold it is under."""
    return ((score * 1000).floor() / 1000).round(3)


def _halving(age: pl.Expr, days: float) -> pl.Expr:
    return (-math.log(2) / days * age).exp()


def _importance() -> pl.Expr:
    return pl.col("importance").fill_nan(0.0).fill_null(0.0).clip(0.0, 1.0)
