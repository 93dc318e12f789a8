"""Autonomy: which changes of a plan may happen without a person, and which wait for one.

A shape of change (rule, intent, reason code) earns it in a family of stores by changes that readers
judged, of which the lower bound of the share of harmless ones lies where `policy.unattended` asks. What
waits takes along what makes no sense without it, so that the other lines are a plan by themselves.
"""

from typing import Any

import polars as pl

from memops.plan import DELETES, EDITS, FIELDS, arguments
from memops.policy import Unattended
from memops.refusals import hanging

SHAPE = ("rule", "intent", "code")
"""What changes have in common that are judged together, beside the family of their store."""
EVIDENCE = pl.Schema(
    dict.fromkeys((*SHAPE, "family"), pl.String())
    | dict.fromkeys(("right", "harmless", "harmful"), pl.Int64())
)
"""Judged changes, counted: one row a shape and family; several rows of one add up."""
HANGS = "guard.hangs"
"""Why a change waits that makes no sense without another."""
_KEPT = ("curated", "profile")  # roles of what the owner wrote to be kept


def standing(evidence: pl.DataFrame, policy: Unattended) -> pl.DataFrame:
    """Return where each shape stands in each family: its counts, lower bound, what it may.

    The bound is that of the exact binomial interval (Clopper and Pearson 1934) of right and harmless ones.
    """
    counts = evidence.group_by(*SHAPE, "family").agg(pl.col("right", "harmless", "harmful").sum())
    good, bad = counts["right"] + counts["harmless"], counts["harmful"]
    bound, _ = interval(good.to_numpy(), bad.to_numpy(), policy.confidence)
    enough = pl.col("n") >= policy.changes
    held = counts.with_columns(n=pl.sum_horizontal("right", "harmless", "harmful"), lower=bound)
    least = {"may": policy.lower, "may_curated": policy.curated}
    may = {name: enough & (pl.col("lower") >= low) for name, low in least.items()}
    return held.with_columns(**may).sort("family", *SHAPE)


def interval(good: Any, bad: Any, confidence: float) -> tuple[Any, Any]:
    """Return the exact binomial intervals of shares of good ones; 0 to 1 where there are none."""
    if not len(good):
        return good / 1.0, bad / 1.0  # without scipy, which takes a tenth of a second to load
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2

    def least(hits: Any, misses: Any) -> Any:
        return betaincinv(hits.clip(1), misses + 1, tail) * (hits > 0)

    return least(good, bad), 1 - least(bad, good)


def decided(rule: str, kind: str, policy: Unattended) -> str:
    """Return what the policy says of a rule in a kind of store: always, never or earned."""
    names = (f"{kind}/{rule}", rule, f"{kind}/*", "*")
    return next((policy.rules[name] for name in names if name in policy.rules), "earned")


def marked(
    plan: pl.DataFrame,
    records: pl.DataFrame,
    known: pl.DataFrame,
    kind: str,
    family: str,
    policy: Unattended,
) -> pl.DataFrame:
    """Return a plan of which what has not earned it waits for a person; `known` is a `standing`."""
    if plan.is_empty():
        return plan
    says = {rule: decided(rule, kind, policy) for rule in plan["rule"].unique().drop_nulls()}
    word = pl.col("rule").replace_strict(says, default="earned", return_dtype=pl.String)
    mine = known.filter(family=family).select(*SHAPE, "n", "may", "may_curated", "lower")
    kept = records.filter(pl.col("role").is_in(_KEPT)).select("id", _kept=pl.lit(True))
    asks = DELETES | (EDITS & pl.any_horizontal(pl.col("superseded_by", "text").is_not_null()))
    rows = (
        plan.with_row_index("_nth")
        .join(mine, on=[*SHAPE], how="left", maintain_order="left")
        .join(kept, on="id", how="left", maintain_order="left")
        .with_columns(_asks=asks & pl.col("_kept").fill_null(False), _word=word)
    )
    earned = pl.when("_asks").then("may_curated").otherwise("may").fill_null(False)
    whole = pl.col("_nth").is_in(completing(plan).implode())
    may = (pl.col("_word") == "always") | ((pl.col("_word") == "earned") & (earned | whole))
    return rows.with_columns(
        unattended=pl.col("unattended").fill_null(True) & may,
        waits=pl.when(may).then("waits").otherwise(pl.coalesce("waits", _why(policy))),
    ).select(plan.columns)


def _why(policy: Unattended) -> pl.Expr:
    """Return why a change waits: the policy's word, too few judged changes, or too many harmful."""
    judged = pl.col("n").fill_null(0)
    needed = pl.when("_asks").then(policy.curated).otherwise(policy.lower)
    short = pl.format("autonomy.unearned {}", arguments(n=judged, needed=policy.changes))
    low = pl.format("autonomy.low {}", arguments(lower=pl.col("lower").round(3), needed=needed))
    return (
        pl.when(pl.col("_word") == "never").then(pl.lit("autonomy.never"))
        .when(judged < policy.changes).then(short)
        .otherwise(low)
    )  # fmt: skip


def completing(plan: pl.DataFrame) -> pl.Series:
    """Return the positions of edits that only give a record what its rule takes from another."""
    rows = plan.with_row_index("nth")
    behind = rows.filter(pl.col("superseded_by").is_not_null())
    gains = rows.filter(EDITS & pl.col("superseded_by").is_null() & pl.col("text").is_null())
    gains = gains.select("nth", "rule", superseded_by="id", id="evidence")
    gains = gains.explode("id", empty_as_null=True)
    shared = ["rule", "id", "superseded_by"]
    return gains.join(behind.select(shared), on=shared)["nth"].unique().sort()


def settled(plan: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Return a plan of which each change says whether it may happen unattended."""
    may = plan["unattended"].fill_null(True)
    if may.all():
        return plan.with_columns(unattended=may)
    held = (~may).arg_true()
    while True:
        more = hanging(plan, records, pl.concat([held, _later(plan, held)]))
        if more.len() == held.len():
            break
        held = more
    waits = pl.int_range(pl.len(), dtype=pl.UInt32).is_in(held.implode())
    return plan.with_columns(
        unattended=~waits, waits=pl.when(waits).then(pl.coalesce("waits", pl.lit(HANGS)))
    )


def _later(plan: pl.DataFrame, held: pl.Series) -> pl.Series:
    """Positions of changes that set what a waiting one sets before them (a merge: the tier), or delete its record."""
    rows = plan.with_row_index("nth")
    several = rows.filter(pl.len().over("id") > 1)
    rows = several.join(rows[held].select("id").unique(), on="id", how="semi")
    sets = {
        name: pl.col(name).is_not_null() | pl.col("clears").list.contains(name).fill_null(False)
        for name in FIELDS
    }
    sets["tier"] |= (pl.col("intent") == "merge").fill_null(False)
    table = rows.select("nth", "id", gone=DELETES, **sets)
    first = {name: pl.col("nth").filter(pl.col(name)).min().alias(f"first:{name}") for name in sets}
    waiting = table.filter(pl.col("nth").is_in(held.implode())).group_by("id")
    known = table.join(
        waiting.agg(pl.col("nth").min().alias("first"), *first.values()),
        on="id", maintain_order="left",
    )  # fmt: skip
    after = [pl.col(name) & (pl.col("nth") > pl.col(f"first:{name}")) for name in sets]
    deleted = pl.col("gone") & (pl.col("nth") > pl.col("first"))
    return known.filter(pl.any_horizontal(*after, deleted))["nth"]
