"""What of a plan apply would carry out, by the guard's own rule on the whole of it.

Rules are judged one after the other, apply judges one change a record and without what waits: what it would
refuse is not proposed, or waits, too, else it would be asked and refused night after night.
"""

import polars as pl

from memops.autonomy import HANGS, settled
from memops.guard import protect
from memops.plan import PUTS, linked, outcome, squash, successors
from memops.policy import Policy
from memops.refusals import hanging


def agreed(
    plan: pl.DataFrame, records: pl.DataFrame, policy: Policy, unsigned: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split a plan into what may be proposed together, and what the guard withdraws of the whole."""
    withdrawn = [plan.clear()]
    while (refused := _refused(plan, records, policy, unsigned)).height:
        mine = plan.select(pl.col("id").is_in(refused["id"].implode()).arg_true()).to_series()
        gone = hanging(plan, records, mine)
        withdrawn.append(refused)
        plan = plan.filter(~pl.int_range(pl.len(), dtype=pl.UInt32).is_in(gone.implode()))
    return plan, pl.concat(withdrawn)


def alone(
    plan: pl.DataFrame, records: pl.DataFrame, policy: Policy, unsigned: bool
) -> pl.DataFrame:
    """Return a plan of which waits, too, what may not be done without what waits."""
    while not plan["unattended"].all():
        refused = _refused(plan.filter("unattended"), records, policy, unsigned)
        if refused.is_empty():
            break
        mine = pl.col("id").is_in(refused["id"].implode())
        waits = pl.when(mine).then(pl.coalesce("waits", pl.lit(HANGS))).otherwise("waits")
        plan = plan.with_columns(unattended=pl.col("unattended") & ~mine, waits=waits)
        plan = settled(plan, records)
    return plan


def _refused(
    plan: pl.DataFrame, records: pl.DataFrame, policy: Policy, unsigned: bool
) -> pl.DataFrame:
    changes = squash(plan)
    after = outcome(records, changes)
    new = outcome(records.clear(), changes.filter(PUTS))
    known = pl.concat([new, records]).unique("id", keep="first", maintain_order=True)
    refused = protect(linked(changes, successors(after)), known, policy, unsigned=unsigned)[1]
    return changes.join(refused.select("id", "code", "args"), on="id").with_columns(
        code="code_right", args="args_right"
    ).select(plan.columns)  # fmt: skip
