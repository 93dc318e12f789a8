"""Audit: what is wrong in a store, by the night's own rules, counted and shown masked; nothing is changed."""

from collections.abc import Callable
from typing import Any

import polars as pl

from memops.context import Context
from memops.hygiene.decay import DAY, age_days, since_epoch
from memops.hygiene.impact import impact
from memops.judge.places import placed
from memops.judge.supersession import conflicting
from memops.judge.swings import swinging
from memops.progress import tracked
from memops.reasons import sentences
from memops.rules.demote_chatter import demote_chatter
from memops.rules.doubt_unconfirmed import confirmed
from memops.rules.expire_dated import expire_dated
from memops.rules.merge_contained import merge_contained
from memops.rules.merge_exact import merge_exact
from memops.rules.merge_near import merge_near
from memops.rules.normalise_superseded import normalise_superseded
from memops.rules.quarantine_injected import quarantine_injected
from memops.rules.redact_secrets import redact_secrets
from memops.rules.supersede_conflicting import supersede_conflicting
from memops.rules.unify_scopes import unify_scopes
from memops.safety.display import shown
from memops.safety.known_secrets import NONE, KnownSecrets
from memops.safety.looked import redacted
from memops.safety.secrets_elsewhere import masked_again, told_by
from memops.schema import AROUND, LIVE, LOOSE, QUARANTINE, REPLACED, SUBJECT

Finding = dict[str, Any]
Rule = Callable[[pl.DataFrame, Context], pl.DataFrame]

LISTED = ("contradictions", "unconfirmed", "review", "swinging")
"""Classes that a person is asked about: all of their records are named, of others some."""

_EXAMPLES = 5
_WIDTH = 120


def audit(records: pl.DataFrame, ctx: Context, known: KnownSecrets = NONE) -> dict[str, Any]:
    """Return for each class its count and examples, or why it is not measurable; `known` are secrets told before.

    `{"records": n, "live": n, "classes": {name: {"count", "examples": [{"id", "why", "text"}]}}}`; a
    class without `count` has `not_measurable`, a sentence.
    """
    finders: dict[str, Callable[[], pl.DataFrame | str]] = {
        "secrets": lambda: pl.concat(
            [_proposed(records, ctx, redact_secrets), _in_headings(records, ctx, known)]
        ),
        "injections": lambda: _proposed(records, ctx, quarantine_injected),
        "quarantined": lambda: records.filter(superseded_by=QUARANTINE).select(
            "id", why=pl.lit("hidden until a person has looked")
        ),
        "duplicates": lambda: _proposed(records, ctx, merge_exact, merge_contained, merge_near),
        "contradictions": lambda: _contradictions(records, ctx),
        "stale": lambda: _stale(records, ctx),
        "scope_splits": lambda: _proposed(records, ctx, unify_scopes),
        "orphans": lambda: _orphans(records),
        "future": lambda: _future(records, ctx),
        "chatter": lambda: _proposed(records, ctx, demote_chatter),
        "unused": lambda: _unused(records),
        "unconfirmed": lambda: _unconfirmed(records, ctx),
        "review": lambda: _review(records, ctx),
        "swinging": lambda: _swinging(records, ctx),
    }
    texts = records.select("id", "text")
    classes = {
        name: _finding(find(), texts, ctx, records.height if name in LISTED else _EXAMPLES, known)
        for name, find in tracked("auditing", [*finders.items()])
    }
    return {"records": records.height, "live": records.filter(LIVE).height, "classes": classes}


def _finding(
    found: pl.DataFrame | str, texts: pl.DataFrame, ctx: Context, most: int, known: KnownSecrets
) -> Finding:
    if isinstance(found, str):
        return {"not_measurable": found}
    some = found.sort("id").head(most).join(texts, on="id", how="left", maintain_order="left")
    masked = redacted(some["text"].fill_null(""), ctx.policy.secrets)
    masked = known.masked(masked, ctx.policy.secrets)
    examples = [
        {"id": shown(id), "why": shown(why), "text": shown(text[:_WIDTH])}
        for id, why, text in zip(some["id"], some["why"], masked, strict=True)
    ]
    return {"count": found["id"].n_unique(), "examples": examples}


def _proposed(records: pl.DataFrame, ctx: Context, *rules: Rule) -> pl.DataFrame:
    """The records that the rules would change, with the first reason."""
    made = [rule(records, ctx) for rule in rules]
    plans = [plan.select("id", sentences(plan).alias("why")) for plan in made]
    return pl.concat(plans).unique("id", keep="first", maintain_order=True)


def _in_headings(records: pl.DataFrame, ctx: Context, known: KnownSecrets) -> pl.DataFrame:
    """The first record under each heading, label or comment with a secret, which no rule edits."""
    policy, texts = ctx.policy.secrets, pl.List(pl.String)
    around = (pl.col("extra").str.json_path_match(f"$.{name}") for name in AROUND)
    over = [*(held.str.json_decode(texts) for held in around), pl.col("subject").str.split(SUBJECT)]
    rows = records.filter(placed())
    rows = rows.select("id", "origin", over=pl.concat_list(o.fill_null([]) for o in over))
    rows = rows.explode("over").with_columns(file=pl.col("origin").str.replace("#.*", ""))
    rows = rows.unique(["file", "over"], keep="first", maintain_order=True)
    told = told_by(records, policy) | known.values(rows["over"], policy)
    clean, _ = masked_again(redacted(rows["over"], policy), told, policy)
    held = rows.filter(clean != rows["over"])
    why = pl.format("in a heading, label or comment over {}: edit it", "origin")
    return held.select("id", why=why)


def _contradictions(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """One row a pair, under the smaller id; an example names the other."""
    pairs = conflicting(records, ctx).filter(pl.col("old") < pl.col("new")).group_by("old")
    return pairs.agg(pl.col("new").sort().first(), pl.col("opposes").first()).select(
        id="old", why=pl.format("conflicts with {}: {}", "new", "opposes")
    )  # fmt: skip


def _stale(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Live records that a newer fact, a mark in the text or a date has overtaken."""
    over = records.filter(LIVE & (pl.col("valid_to") <= ctx.now))
    ended = over.select("id", why=pl.lit("no longer valid, by its own date"))
    rules = _proposed(records, ctx, supersede_conflicting, normalise_superseded, expire_dated)
    return pl.concat([rules, ended]).unique("id", keep="first", maintain_order=True)


def _orphans(records: pl.DataFrame) -> pl.DataFrame:
    there = records.select(superseded_by="id")
    lost = records.filter(REPLACED).join(there, on="superseded_by", how="anti")
    return lost.select("id", why=pl.lit("the record that replaced it is not there"))


def _future(records: pl.DataFrame, ctx: Context) -> pl.DataFrame | str:
    times = [pl.col(name) for name in ("created_at", "updated_at", "accessed_at")]
    none = pl.all_horizontal(t.is_null().all() for t in times)
    if records.height and records.select(none).item():
        return "no record says when it was written"
    ahead = pl.any_horizontal(t > ctx.now for t in times).fill_null(False)
    return records.filter(ahead).select("id", why=pl.lit("written in the future, by its own date"))


def _unused(records: pl.DataFrame) -> pl.DataFrame | str:
    """Live working records that were never used, where the store counts use at all."""
    live = records.filter(LIVE)
    used = (pl.col("access_count") > 0).any() | pl.col("accessed_at").is_not_null().any()
    if not live.select(used).item():
        return "the store does not count use"
    return live.filter(LOOSE, pl.col("access_count") == 0).select("id", why=pl.lit("never used"))


def _unconfirmed(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Live preferences that somebody should be asked about again."""
    loose = records.filter(LIVE & (pl.col("kind") == "preference") & ~pl.col("pinned"))
    stated = confirmed(records).join(loose.select("id"), on="id", how="semi")
    days = ((since_epoch(ctx.now) - pl.col("at")) / DAY).floor().cast(pl.Int64)
    over = stated.filter(days > ctx.policy.lifecycles.unconfirmed_days)
    return over.select("id", why=pl.format("stated {} days ago, and not confirmed since", days))


def _review(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Live facts about money, health and access that are old enough to be looked at again."""
    age, lasting = age_days(ctx.now, "changed"), ~pl.col("kind").is_in(["session", "summary"])
    old = records.filter(LIVE & lasting, age > ctx.policy.lifecycles.review_days)
    facts = old.with_columns(topic=impact()).drop_nulls("topic")
    days = age.floor().cast(pl.Int64)
    return facts.select("id", why=pl.format("{}, last stated {} days ago", "topic", days))


def _swinging(records: pl.DataFrame, ctx: Context) -> pl.DataFrame:
    """Preferences that go to and fro: what was said last waits to be said again."""
    edges = conflicting(records, ctx).select("old", "new")
    waits = swinging(edges, records, ctx).unique("new", keep="first", maintain_order=True)
    why = pl.format("its value has changed {} times, the other is {}", "swings", "old")
    return waits.select(id="new", why=why)
