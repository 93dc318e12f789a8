"""Decision: the one place where what differs in two texts becomes a verdict.

`strict` is what a night goes by: what is sure, and the vetoes. `probable` says how likely the rest
is, and what would be called a duplicate or a conflict at the policy's thresholds; it orders pairs
that a person looks at, and changes nothing by itself. Everything else calls these two.
"""

import polars as pl

from memops.judge.judgement import (
    apart,
    asserted,
    barred,
    flipped,
    modified,
    newer,
    same,
    told_apart,
)
from memops.judge.opposing import opposes
from memops.judge.scorer import Table, scores, share
from memops.judge.vetoes import veto_conflict, veto_same
from memops.policy import Policy

c = pl.col
DUPLICATE = c("firm_a") & c("firm_b") & c("same") & c("opposes").is_null()
"""Of judged pairs: both are asserted, say the same, and exclude each other in nothing."""
CONFLICT = c("firm_a") & c("firm_b") & c("opposes").is_not_null() & ~c("same")
"""Of judged pairs: both are asserted, and cannot both hold."""


def strict(read: pl.DataFrame) -> pl.DataFrame:
    """Return features with same, opposes (why), firm_a, firm_b, veto_same and veto_conflict (why)."""
    return read.with_columns(
        same=same(), opposes=opposes(), firm_a=asserted("a"), firm_b=asserted("b"),
        veto_same=veto_same(), veto_conflict=veto_conflict(),
    )  # fmt: skip


def hanging(read: pl.DataFrame) -> pl.DataFrame:
    """Return features with what would be the same, were the words of the two as rare, or as common, as can be."""
    least, most = (read.with_columns(weighted=pl.lit(n)).select(same()) for n in (0.0, 1.0))
    return read.with_columns(rarely=least.to_series(), often=most.to_series())


def probable(read: pl.DataFrame, limits: Policy, fitted: Table | None = None) -> pl.DataFrame:
    """Return duplicate, conflict, both scores, newer, and the thresholds (duplicate_at, conflict_at).

    `read` is of `strict`; `fitted` are coefficients in place of those that are shipped.
    """
    zh = c("han") > 0
    at = {
        f"{name}_at": pl.when(zh).then(limit.zh).otherwise(limit.en)
        for name, limit in (("duplicate", limits.duplicates), ("conflict", limits.conflicts))
    }
    said = scores(read, fitted).with_columns(
        read.select(
            "numbered_differ",
            short=share("long", fitted) < 1,
            newer=newer(),
            other=apart() | modified(),
            clashing=(told_apart() & ~flipped()) | c("opposes").is_not_null(),
            barred=barred(share("long", fitted) < 1).fill_null(False),
            **at,
        )
    )
    numbered = c("short") & c("other") & (c("numbered_differ") > 0)
    clash = said.with_columns(
        conflict=(c("conflict_score") >= c("conflict_at")) & c("clashing") & ~numbered
    )
    sooner = c("conflict") & (c("conflict_score") > c("duplicate_score"))
    kept = ~(c("short") & (sooner | c("other"))) & ~c("barred")
    told = clash.with_columns(duplicate=(c("duplicate_score") >= c("duplicate_at")) & kept)
    return told.select("duplicate", "conflict", "duplicate_score", "conflict_score", "newer", *at)
