"""Decision: the one place where what differs in two texts becomes a verdict.

`decided` is what the rules are sure of, and the vetoes that stand above every decider; `likely`
says how probable each of the two verdicts is, which orders pairs for a person and decides nothing.
Whoever asks about two texts gets the verdict from here, a bench as well as a night.
"""

import polars as pl

from memops.judge.judgement import asserted, newer, same
from memops.judge.opposing import opposes
from memops.judge.scorer import Table, scores
from memops.judge.vetoes import veto_conflict, veto_same
from memops.policy import Policy

c = pl.col
DUPLICATE = c("firm_a") & c("firm_b") & c("same") & c("opposes").is_null()
"""Of judged pairs: both are asserted, say the same, and exclude each other in nothing."""


def conflict(policy: Policy) -> pl.Expr:
    """Return whether judged pairs cannot both hold: both are asserted, and alike enough or `judged`."""
    near = (c("score") >= policy.conflicts.least) | (c("opposes") == "judged")
    return c("firm_a") & c("firm_b") & c("opposes").is_not_null() & ~c("same") & near


def decided(read: pl.DataFrame) -> pl.DataFrame:
    """Return features with same, opposes (why), firm_a, firm_b, veto_same and veto_conflict (why)."""
    return read.with_columns(
        same=same(), opposes=opposes(), firm_a=asserted("a"), firm_b=asserted("b"),
        veto_same=veto_same(), veto_conflict=veto_conflict(),
    )  # fmt: skip


def hanging(read: pl.DataFrame) -> pl.DataFrame:
    """Return features with what would be the same, were the words of the two as rare, or as common, as can be."""
    least, most = (read.with_columns(weighted=pl.lit(n)).select(same()) for n in (0.0, 1.0))
    return read.with_columns(rarely=least.to_series(), often=most.to_series())


def likely(read: pl.DataFrame, fitted: Table | None = None) -> pl.DataFrame:
    """Return duplicate_score and conflict_score, and newer: the side that says that it is the later.

    `read` is of `decided`; `fitted` are coefficients in place of those that are shipped.
    """
    return scores(read, fitted).with_columns(read.select(newer=newer()))
