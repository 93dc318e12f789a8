"""The guard: what no plan may do unattended, whatever produced it.

It judges a change by what the record was and what it would be, never by what the change is called, at
planning and again on live records at apply; a change whose intent is not what it does is withdrawn.
"""

import polars as pl

from memops.hygiene.floors import filling, floored
from memops.hygiene.tasks import is_task
from memops.language.text import wording
from memops.plan import STEPS, arguments, gravity, outcome, successors
from memops.policy import Policy
from memops.safety.looked import redacted
from memops.safety.masks import only_masked
from memops.safety.trust import rank
from memops.schema import LIVE, MODEL, QUARANTINE, RETIRED, TOMBSTONE, only, tier_rank

_SAME = ("merge", "move", "promote")  # intents by which another says the same in its place
_JUDGED = ("scope", "kind", "text", "tier", "pinned", "superseded_by")
_KEEPER = {"tier": "_new"} | {n: f"keeper_{n}" for n in ("pinned", "scope", "text", "source")}
_NOBODY = pl.DataFrame(schema={"id": pl.String(), "asks": pl.String()})


def protect(
    step: pl.DataFrame,
    records: pl.DataFrame,
    policy: Policy,
    counts: pl.DataFrame | None = None,
    unsigned: bool = False,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split a step into what may be proposed and what may not, with the guard's reason.

    Never: what is not what it is called; deleting, retiring, demoting or unpinning a pinned or core
    record; replacing one by a record that is not there, of a lower tier (merges) or in another scope;
    rewriting a protected text other than by redaction; taking live records of a kind and scope below
    its floor (oldest go first, tasks apart); changing a record on the word of one that a model wrote,
    but for notes and its own. `unattended` is false, and `waits` says why, where a record would give
    way to one that is trusted less, or a protected one to anything but the owner's or the agent's own
    word at low risk, unless both say the same. A record of unknown source is trusted least where it is
    to stand, as the owner's where it is to give way, and in a store that is `unsigned`. `counts`
    (COUNTS) stands in for a table of which only part was read.
    """
    if step.is_empty():
        return step, step
    found, asked = [_by_a_model(step, records)], _NOBODY
    weighty = step.filter(pl.col("id").is_in(step.filter(_weighs())["id"].implode()))
    if weighty.height:
        change = _rewritten(_before_and_after(weighty, records), policy)
        called = arguments(intent=pl.col("intent").fill_null("nothing"))
        args = pl.when(pl.col("why") == "guard.intent").then(called)
        change = change.with_columns(why=_refusal()).with_columns(args=args)
        floored = _below_floor(change, records, policy, counts)
        found = [change.select("id", "why", "args"), floored, *found]
        asked = change.select("id", asks=_asks(unsigned)).drop_nulls()
    why = pl.concat(found).drop_nulls("why").unique("id", keep="first")
    allowed = step.join(why, on="id", how="anti", maintain_order="left")
    allowed = _waiting(allowed, asked)
    stopped = step.join(why, on="id", how="inner", maintain_order="left")
    return allowed, stopped.with_columns(code="why", args="args_right").drop("why", "args_right")


def looked_at(step: pl.DataFrame) -> frozenset[str]:
    """Return the ids of the records that `protect` looks at; it need be given no others."""
    heavy, based = step.filter(_weighs()), step.filter(pl.col("evidence").list.len() > 0)
    named = based["evidence"].explode().drop_nulls()
    return frozenset({*heavy["id"], *heavy["superseded_by"].drop_nulls(), *based["id"], *named})


def _weighs() -> pl.Expr:
    """True of a change that could alter what a record is judged by."""
    sets = pl.any_horizontal(pl.col(*_JUDGED).is_not_null())
    return (pl.col("action") != "edit") | sets | (pl.col("clears").list.len() > 0).fill_null(False)


def _by_a_model(step: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """Changes (id, why) to records of others that rest on a record that a model wrote."""
    rests = step.filter(pl.col("action") != "put").select("id", on="evidence").explode("on")
    ids = pl.concat([rests["id"], rests["on"].drop_nulls()]).unique()
    tagged = pl.col("tags").list.contains(MODEL).fill_null(False)
    tables = (records, step.filter(pl.col("action") == "put"))
    held = pl.concat(only(t.select("id", "tags"), ids).filter(tagged)["id"] for t in tables)
    why = pl.lit("guard.model").alias("why"), arguments().alias("args")
    if held.is_empty():
        return rests.clear().select("id", *why)
    taken = step.select("derived_from", on="id").explode("derived_from").drop_nulls()
    wrong = rests.filter(
        pl.col("on").is_in(held.implode()), ~pl.col("id").is_in(held.implode())
    ).join(taken.rename({"derived_from": "id"}), on=["id", "on"], how="anti")
    return wrong.select("id", *why).unique("id")


def _before_and_after(step: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """One row a touched record: its columns, `new_*` after the step, and what happens to it."""
    mine = only(records, step["id"])
    touched_after = outcome(mine, step)
    about = step.group_by("id").agg(
        pl.col("intent").sort_by(gravity(), maintain_order=True).last(), pl.col("risk").last()
    )
    new = touched_after.select("id", *(pl.col(name).alias(f"new_{name}") for name in _JUDGED))
    after = _led_to(touched_after, records, step)
    ends = successors(after).rename({"end": "_end"})
    was_live, is_live = pl.col("superseded_by").is_null(), pl.col("new_superseded_by").is_null()
    link = pl.col("new_superseded_by")
    rows = mine.select("id", *_JUDGED, "source", "created_at", "extra")
    touched = rows.join(about, on="id", how="inner").join(new, on="id", how="left")
    change = (
        touched.join(ends, on="id", how="left").join(_keepers(after, records), on="_end", how="left")
        .with_columns(_gone=pl.col("new_scope").is_null())
        .with_columns(
            _protected=pl.col("pinned") | (pl.col("tier") == "core"),
            _retired=was_live
            & ((link == TOMBSTONE) | (pl.col("_end").is_not_null() & ~pl.col("_stands"))).fill_null(False),
            _replaced=was_live & ~is_live & ~link.is_in([*RETIRED]) & pl.col("_stands").fill_null(True),
            _quarantined=was_live & (link == QUARANTINE).fill_null(False),
            _sunk=tier_rank("new_tier") < tier_rank(),
            _moved=pl.col("new_kind") != pl.col("kind"),
        )
        .with_columns(
            _lost=was_live & (pl.col("_gone") | pl.col("_retired") | (pl.col("_moved") & is_live)),
        )
    )  # fmt: skip
    said = change.filter(pl.col("_replaced") & pl.col("intent").is_in(_SAME))
    one, two = (said.select(wording(pl.col(n))).to_series() for n in ("text", "keeper_text"))
    return change.with_columns(_same=pl.col("id").is_in(said.filter(one == two)["id"].implode()))


def _keepers(after: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """What stands at the end of links, or was put away there: `_end`, `_stands`, `keeper_*`."""
    was = only(records.select("id", "tier"), after["id"]).rename({"id": "_end", "tier": "_tier"})
    return (
        after.filter(LIVE | pl.col("superseded_by").is_in([*RETIRED]))
        .select(_end="id", _stands=LIVE, **{new: name for name, new in _KEEPER.items()})
        .join(was, on="_end", how="left")
        .with_columns(keeper_tier=pl.when(tier_rank("_tier") > tier_rank("_new")).then("_tier").otherwise("_new"))
        .drop("_tier", "_new")
    )  # fmt: skip


def _led_to(touched: pl.DataFrame, records: pl.DataFrame, step: pl.DataFrame) -> pl.DataFrame:
    """The touched records after the step, and those that their links lead to, as they then stand."""
    seen = ["id", "superseded_by", *_KEEPER]
    mine = step["id"].implode()
    found = last = touched.select(seen)
    for _ in range(STEPS):
        ends = last["superseded_by"].drop_nulls().unique()
        ends = ends.filter(~ends.is_in([*RETIRED]))
        if ends.is_empty():
            break
        last = only(records.select(seen), ends).filter(
            ~pl.col("id").is_in(mine), ~pl.col("id").is_in(found["id"].implode())
        )
        found = pl.concat([found, last])
    return found


def _refusal() -> pl.Expr:
    protected, pinned, replaced = pl.col("_protected"), pl.col("pinned"), pl.col("_replaced")
    intent = pl.col("intent")
    lower = tier_rank("keeper_tier") < pl.min_horizontal(tier_rank(), tier_rank("new_tier"))
    cases = (
        (protected & pl.col("_gone"), "deleted"),
        (protected & pl.col("_retired"), "retired"),
        (protected & pl.col("_sunk"), "demoted"),
        (pinned & ~pl.col("new_pinned"), "unpinned"),
        (replaced & pl.col("keeper_tier").is_null(), "keeper_absent"),
        (replaced & (pl.col("keeper_scope") != pl.col("scope")), "keeper_scope"),
        (replaced & (intent == "merge") & lower, "keeper_tier"),
        (pl.col("_rewritten") & protected, "rewritten"),
        (pl.col("_rewritten"), "not_redacted"),
        (_otherwise(), "intent"),
    )
    return _first(*((condition, pl.lit(f"guard.{why}")) for condition, why in cases))


def _asks(unsigned: bool) -> pl.Expr:
    """Why a replacement waits for a person, as a packed reason."""
    replaced, same = pl.col("_replaced"), pl.col("_same").fill_null(False)
    newer, older = rank("keeper_source", 3 if unsigned else -1), rank("source", 3)
    args = arguments(newer=pl.col("keeper_source"))
    other, protected = replaced & ~same, pl.col("_protected")
    return _first(
        (other & pl.col("keeper_source").is_null() & (newer < older), pl.lit("guard.unsigned")),
        (other & (newer < older), pl.format("guard.source {}", args)),
        (other & protected & (newer < 3), pl.format("guard.own_word {}", args)),
        (other & protected & (pl.col("risk") != "low").fill_null(True), pl.lit("guard.unsure")),
        (replaced & pl.col("pinned") & ~pl.col("keeper_pinned"), pl.lit("guard.pinned_replaced")),
    )


def _waiting(step: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """Mark the changes that hide a record which waits for a person."""
    if asked.is_empty():
        return step
    hides = pl.col("asks").is_not_null() & pl.col("superseded_by").is_not_null()
    return (
        step.join(asked, on="id", how="left", maintain_order="left")
        .with_columns(
            unattended=pl.when(hides).then(False).otherwise("unattended"),
            waits=pl.coalesce("waits", pl.when(hides).then("asks")),
        )
        .drop("asks")
    )


def _first(*cases: tuple[pl.Expr, pl.Expr]) -> pl.Expr:
    """The word of the first case that holds, null where none does."""
    return pl.coalesce(pl.when(condition).then(word) for condition, word in cases)


def _otherwise() -> pl.Expr:
    """True of a change that hides, deletes or sinks its record, and is called something else."""
    intent, link = pl.col("intent"), pl.col("new_superseded_by")
    live, stays = pl.col("superseded_by").is_null(), link.is_null()
    over = pl.col("_gone") | (live & (link == TOMBSTONE).fill_null(False))
    behind = live & ~stays & ~link.is_in([*RETIRED])
    sunk = live & pl.col("_sunk") & ~over & stays
    does = ((over, ["tombstone"]), (pl.col("_quarantined"), ["quarantine"]),
            (behind, ["supersede", *_SAME]), (sunk, ["demote"]))  # fmt: skip
    wrong = (effect.fill_null(False) & ~intent.is_in(names) for effect, names in does)
    return pl.any_horizontal(*wrong) | intent.is_null()


def _rewritten(change: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Mark texts, protected or called redacted, that would become anything but their redaction."""
    bound = pl.col("_protected") | (pl.col("intent") == "redact").fill_null(False)
    rows = change.filter(bound & (pl.col("new_text") != pl.col("text")))
    masked = redacted(rows["text"], policy.secrets)
    told = zip(rows["id"], rows["text"], masked, rows["new_text"], strict=True)
    wrong = [
        i for i, *was, new in told if new != was[1] and not any(only_masked(o, new) for o in was)
    ]
    return change.with_columns(_rewritten=pl.col("id").is_in(wrong))


def _below_floor(
    change: pl.DataFrame, records: pl.DataFrame, policy: Policy, counts: pl.DataFrame | None
) -> pl.DataFrame:
    """A reason for each lost record that the floor of its scope and kind keeps (id, why, args)."""
    held, floor = floored(policy.floors)
    change = change.with_columns(held=held, floor=floor)
    every = change.filter(pl.col("_lost") & pl.col("why").is_null() & (pl.col("floor") > 0))
    lost, group = every.filter(~is_task()), ["scope", "held"]
    if lost.is_empty():
        return lost.select("id", "why", "args")
    away = change.filter(pl.col("_replaced") | pl.col("_quarantined"))
    if counts is None:
        away = away.filter(~is_task())
        near = records.select("scope", "kind", "text", "extra", "superseded_by").filter(LIVE)
        going = pl.concat([lost.select("floor", *group), away.select("floor", *group)])
        live = filling(near.with_columns(held=held), going)
    else:
        held, _ = floored(policy.floors, pl.col("category"))
        live = counts.with_columns(held=held).group_by(group).agg(pl.sum("live"))
        away = pl.concat([away, every.filter(is_task())])
    away = away.group_by(group).len("away")
    live_, gone = (pl.col(n).fill_null(0).cast(pl.Int64) for n in ("live", "away"))
    spare = live_ - gone - pl.col("floor")
    return (
        lost.join(live, on=group, how="left").join(away, on=group, how="left")
        .sort("created_at", "id", nulls_last=True)
        .with_columns(nth=pl.int_range(1, pl.len() + 1).over(group), spare=spare.clip(0))
        .filter(pl.col("nth") > pl.col("spare"))
        .select("id", why=pl.lit("guard.floor"), args=arguments(floor=pl.col("floor"), held=pl.col("held")))
    )  # fmt: skip
