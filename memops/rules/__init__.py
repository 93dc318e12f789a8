"""The rules, in the order in which a night runs them.

A rule is a pure function `(records, context) -> plan` whose name is its verb and what it hits;
its first docstring line is what `memops config rules` prints. To add one: a module here and beside
it the sentences of its codes (`<rule>.toml`), a fixture `tests/rules/<rule>.toml`, and a name in
RULES. `docs/rules.md` says what every rule spares, and where in the order it stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

import polars as pl

from memops.autonomy import settled
from memops.context import Context
from memops.guard import protect
from memops.judge.candidates.neighbours_dense import RECALL
from memops.judge.cascade import ASKED, TALLY
from memops.judge.comparing import texts_read
from memops.judge.conflicts import CARRIED, FOUND
from memops.plan import EDITS, nothing, outcome
from memops.plan_agreement import agreed
from memops.progress import tell, tracked
from memops.refusals import REFUSED, withheld
from memops.rules.consolidate_daily import consolidate_daily
from memops.rules.delete_retired import delete_retired
from memops.rules.delete_superseded import delete_superseded
from memops.rules.demote_chatter import demote_chatter
from memops.rules.demote_faded import demote_faded
from memops.rules.doubt_unconfirmed import doubt_unconfirmed
from memops.rules.expire_dated import expire_dated
from memops.rules.extract_notes import extract_notes
from memops.rules.merge_contained import merge_contained
from memops.rules.merge_exact import merge_exact
from memops.rules.merge_likely import merge_likely
from memops.rules.merge_near import merge_near
from memops.rules.move_overflow import move_overflow
from memops.rules.normalise_superseded import normalise_superseded
from memops.rules.promote_used import promote_used
from memops.rules.quarantine_injected import quarantine_injected
from memops.rules.redact_secrets import redact_secrets
from memops.rules.repair_links import repair_links
from memops.rules.rested import Rested
from memops.rules.retire_chatter import retire_chatter
from memops.rules.retire_old import retire_old
from memops.rules.retire_tasks import retire_tasks
from memops.rules.revalidate_entities import revalidate_entities
from memops.rules.revive_restored import revive_restored
from memops.rules.supersede_conflicting import supersede_conflicting
from memops.rules.supersede_likely import supersede_likely
from memops.rules.unify_scopes import unify_scopes
from memops.rules.unwrap_turns import unwrap_turns
from memops.schema import RECORDS, REPLACED, only

Rule = Callable[[pl.DataFrame, Context], pl.DataFrame]

HYGIENE: tuple[Rule, ...] = (
    promote_used,
    demote_faded,
    doubt_unconfirmed,
    expire_dated,
    retire_tasks,
    consolidate_daily,
    move_overflow,
    retire_old,
    delete_retired,
    delete_superseded,
)
"""The rules that move records as time passes."""

RULES: tuple[Rule, ...] = (
    revive_restored,
    normalise_superseded,
    redact_secrets,
    unwrap_turns,
    quarantine_injected,
    demote_chatter,
    supersede_conflicting,
    merge_exact,
    merge_contained,
    merge_near,
    repair_links,
    *HYGIENE,
    supersede_likely,
    merge_likely,
)
"""What a night does."""

MIGRATION: tuple[Rule, ...] = (
    revive_restored,
    normalise_superseded,
    unify_scopes,
    redact_secrets,
    unwrap_turns,
    quarantine_injected,
    revalidate_entities,
    extract_notes,
    retire_chatter,
    supersede_conflicting,
    merge_exact,
    merge_contained,
    merge_near,
    repair_links,
    supersede_likely,
    merge_likely,
)
"""What the one-off clean-up of a polluted store does."""


EACH: tuple[Rule, ...] = (redact_secrets, unwrap_turns, quarantine_injected, demote_chatter)
"""Those that judge each record by itself, whatever the time: what is at rest they look at once."""

LIKELY: tuple[Rule, ...] = (supersede_likely, merge_likely)
"""Those that propose what is only likely: last, so that nothing which is sure rests on it."""

ROUNDS = 4
"""More would mean that two rules undo each other."""
_NOBODY = pl.Series("id", [], pl.String)


def propose(
    records: pl.DataFrame, ctx: Context, rules: Sequence[Rule], refused: pl.DataFrame | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Run the rules in order, each on what the one before it would leave, until none asks more.

    What one rule takes away changes what another sees (duplicates hide, word frequencies shift),
    so the round is repeated on its own outcome; planning the outcome again then proposes nothing.
    Pairs are looked for once, and anew when nothing more comes of those that are left. What is only
    LIKELY is proposed at the end, of what all the others leave.
    Returns the plan and the changes that were withdrawn, with the reason: what the guard forbids,
    and what a person `refused` before.
    """
    records = outcome(records, nothing())  # in order
    plan, withdrawn, first = [nothing()], nothing(), records
    known = REFUSED.to_frame() if refused is None else refused
    split = partial(withheld, records=records, refused=known)
    rested = Rested(records, ctx)
    last, rules = [r for r in rules if r in LIKELY], [r for r in rules if r not in LIKELY]
    course = _Course(rules, rested.changed())
    for _ in range(ROUNDS):
        steps, withdrawn, records = _round(records, ctx, rules, split, course)
        if steps.is_empty() and course.carried:
            ctx.cache.pop(FOUND)
            steps, withdrawn, records = _round(records, ctx, rules, split, course, anew=True)
        if steps.is_empty():
            break
        plan.append(steps)
        ctx = replace(ctx, restored=frozenset())  # what this plan hides was not stored since
    if {*EACH} <= {*rules}:
        rested.keep(records, *course.left())
    course = _Course(last, None)
    for _ in range(ROUNDS if last else 0):
        steps, more, records = _round(records, ctx, last, split, course)
        if steps.is_empty():
            break
        plan.append(steps)
        withdrawn = pl.concat([withdrawn, more])
    _let_go(ctx)
    whole, more = agreed(pl.concat(plan), first, ctx.policy, ctx.unsigned)
    return settled(whole, first), pl.concat([withdrawn, more])


def _let_go(ctx: Context) -> None:
    """Keep for the next plan what rules found, and let go of it: all but what models said."""
    read = texts_read(ctx)
    for key in {*ctx.cache} - {ASKED, RECALL, TALLY}:
        del ctx.cache[key]
    if ctx.remembered is not None:
        ctx.remembered.keep(read)


class _Course:
    """What each step changed, in order, and for each rule what had changed by then, and it withheld.

    Rules that judge EACH record begin with those that `changed` since an earlier plan. `carried` are
    the rules that judged by pairs which an earlier step found (`judge.conflicts`).
    """

    def __init__(self, rules: Sequence[Rule], changed: pl.Series | None) -> None:
        self.changed: list[pl.Series] = []
        self.each = [nth for nth, rule in enumerate(rules) if rule in EACH]
        known = {} if changed is None else dict.fromkeys(self.each, (0, changed))
        self.asked: dict[int, tuple[int, pl.Series]] = known
        self.carried: set[int] = set()

    def since(self, rule: int) -> pl.Series | None:
        """The ids that a rule may judge otherwise than when it was asked last; None for all."""
        if rule not in self.asked:
            return None
        steps, withheld = self.asked[rule]
        return pl.concat([withheld, *self.changed[steps:]]).unique().sort()

    def went(self, rule: int, step: pl.DataFrame, withheld: pl.Series, links: pl.Series) -> None:
        """Note what came of a rule; `links` is what the changed records led to."""
        self.asked[rule] = len(self.changed), withheld
        led = pl.concat([links, step["superseded_by"]]).drop_nulls()
        self.changed.append(pl.concat([step["id"], led.rename("id")]))

    def left(self) -> tuple[pl.Series, pl.Series]:
        """The ids that the plan changed, and those that a rule of EACH would be asked about again."""
        again = [since for nth in self.each if (since := self.since(nth)) is not None]
        return pl.concat([_NOBODY, *self.changed]).unique(), pl.concat([_NOBODY, *again])


def _round(
    records: pl.DataFrame,
    ctx: Context,
    rules: Sequence[Rule],
    split: Callable[[pl.DataFrame], tuple[pl.DataFrame, pl.DataFrame]],
    course: _Course,
    anew: bool = False,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The changes of one round, what was withdrawn of them, and the records as they leave it."""
    steps, withdrawn = [nothing()], [nothing()]
    for nth, rule in enumerate(tracked("rules", rules)):
        tell(f"rule {rule.__name__}", 0, 1)
        since, doubtful = course.since(nth), anew and nth in course.carried
        if since is not None and since.is_empty() and not doubtful:
            continue  # it had these very records, and asked nothing
        ctx.cache.pop(CARRIED, None)
        asked = rule(records, replace(ctx, changed=since))
        tell(f"rule {rule.__name__}", 1, 1)
        (course.carried.add if CARRIED in ctx.cache else course.carried.discard)(nth)
        if asked.is_empty():
            course.asked[nth] = len(course.changed), _NOBODY
            continue
        asked, held = split(asked.with_columns(rule=pl.lit(rule.__name__)))
        step, refused = protect(asked, records, ctx.policy, unsigned=ctx.unsigned)
        step = _kept_until(step, ctx)
        links = only(records, step["id"])["superseded_by"]
        course.went(nth, step, pl.concat([refused["id"], held["id"]]), links)
        records = outcome(records, step)
        steps.append(step)
        withdrawn += [refused, held]
    return pl.concat(steps), pl.concat(withdrawn), records


def _kept_until(step: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Give what steps back behind another record the time until which it is kept."""
    days = ctx.policy.retention.superseded_days
    if not days or step.is_empty():
        return step
    hidden = EDITS & REPLACED & pl.col("expires_at").is_null()
    until = pl.lit(ctx.now + timedelta(days=days), RECORDS["expires_at"])
    return step.with_columns(expires_at=pl.when(hidden).then(until).otherwise("expires_at"))
