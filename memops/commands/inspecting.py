"""Inspecting: what a store holds and what is known of one record; read-only, secrets masked."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from memops import overlay, snapshot
from memops.commands.plan_view import HIDDEN
from memops.commands.selecting import masked_texts, meant
from memops.context import Context
from memops.errors import MemopsError
from memops.hygiene.decay import CLOCKS, age_days, frequency, half_life, recency, relevance
from memops.hygiene.impact import high_impact
from memops.language.text import folded
from memops.policy import Policy
from memops.reasons import sentence, sentences
from memops.rules import HYGIENE, propose
from memops.rules.retire_old import days_kept
from memops.safety.looked import redacted
from memops.safety.masking import masked_table
from memops.schema import LIVE, RETIRED, TOMBSTONE, after
from memops.settings import Settings
from memops.state import archive, planfile
from memops.state.runs import runs
from memops.state.sources import clock
from memops.stores import open_store, standing

_HORIZON = 36_500  # days after which a record counts as one that never fades

_SHOWN = (
    "id", "key", "kind", "scope", "tier", "importance", "pinned", "access_count", "created_at",
)  # fmt: skip


_GONE: dict[str, Any] = {"what": "gone", "on": None, "why": "it was deleted"}


def records_of(name: str, settings: Settings) -> tuple[str, dict[str, str], pl.DataFrame]:
    """Return address, identity and records of a live store, or of a snapshot of that name."""
    taken = None if name in settings.stores or ":" in name else snapshot.find(name, settings.state)
    if taken:
        return taken.address, taken.manifest["store"], taken.records()
    store = standing(open_store(settings.store(name).address))
    identity = store.identity()
    known = overlay.read(snapshot.overlay_path(settings.state, identity))
    return store.address, identity, overlay.joined(store.read(), known)


def _deleted(records: pl.DataFrame, settings: Settings, identity: dict[str, str]) -> pl.DataFrame:
    return archive.read(settings.state, identity).join(records.select("id"), on="id", how="anti")


@dataclass(frozen=True)
class Wanted:
    """Which records are listed: the first `limit` that fit all of this, live ones or, `archived`, all others."""

    kinds: Sequence[str] = ()
    scopes: Sequence[str] = ()
    tiers: Sequence[str] = ()
    since: datetime | timedelta | None = None
    text: str | None = None
    limit: int = 50
    archived: bool = False


def listed(
    name: str, settings: Settings, now: datetime | None = None, wanted: Wanted = Wanted()
) -> dict[str, Any]:
    """Return the records of a store that are wanted, youngest (by the clock of decay) first: total, and the first.

    Words are looked for in the masked text, so that a search cannot tell what it hides.
    """
    at = now or clock()
    address, identity, records = records_of(name, settings)
    if wanted.archived:
        records = pl.concat([records.filter(~LIVE), _deleted(records, settings, identity)])
    fits, since = [pl.lit(True) if wanted.archived else LIVE], wanted.since
    asked = {"kind": wanted.kinds, "scope": wanted.scopes, "tier": wanted.tiers}
    fits += [pl.col(name).is_in(list(values)) for name, values in asked.items() if values]
    if since is not None:
        fits.append(pl.col("created_at") >= (since if isinstance(since, datetime) else at - since))
    live = records.filter(*fits)
    live = live.with_columns(text=redacted(live["text"], settings.policy.secrets))
    if wanted.text:
        words = pl.select(folded(pl.lit(wanted.text))).item()
        live = live.filter(folded(pl.col("text")).str.contains(words, literal=True))
    aged = live.with_columns(age_days=age_days(at, settings.policy.decay.clock))
    youngest = aged.sort("age_days", "id", nulls_last=True)
    shown = youngest.head(wanted.limit) if wanted.limit else youngest
    rows = shown.select(*_SHOWN, pl.col("age_days").round(1), "text").to_dicts()
    return {"store": address, "total": live.height, "shown": len(rows), "records": rows}


def known_of(name: str, id: str, settings: Settings, now: datetime | None = None) -> dict[str, Any]:
    """Return all that is known of one record: itself, lineage, history, score, standing, fading."""
    at, policy = now or clock(), settings.policy
    address, identity, records = records_of(name, settings)
    every = pl.concat([records, _deleted(records, settings, identity)])
    (id,) = meant(every, [id], name)
    row, gone = every.filter(pl.col("id") == id), id not in records["id"]
    masked = masked_table(row, policy.secrets).drop("extra").to_dicts()[0]
    past = history_of(settings.state, identity, id)
    plan, refused = propose(records, Context(now=at, policy=policy), HYGIENE)
    own, kept = (table.filter(pl.col("id") == id) for table in (plan, refused))
    tonight, held = (t.select("rule", sentences(t)).to_dicts() for t in (own, kept))
    back = f"memops records recover {name} {id}" if gone or masked["superseded_by"] else None
    return {
        "store": address, "record": masked, "lineage": _lineage(records, id, policy),
        "history": past, "score": scored(row, at, policy), "why": _why(masked, past, gone),
        "back": back, "fades": fading(row, at, policy), "tonight": tonight, "held_tonight": held,
        "goes": _GONE if gone else going(row, at, policy),
    }  # fmt: skip


def history_of(state: Path, identity: dict[str, str], id: str) -> list[dict[str, Any]]:
    """Return what memops did to a record, oldest first, also under ids that it had before."""
    names, events = {id}, []
    for run in runs(state, identity):
        answers = run.answers()
        names |= {w["id"] for w in answers if w["new_id"] in names}
        states = {w["id"]: w["state"] for w in answers}
        when = {"at": run.header["started"], "run": run.id}
        with suppress(MemopsError):
            touching = _touching(planfile.load(run.header["plan"], state), names)
            told = ((change, _became(run.state, states.get(own))) for own, change in touching)
            events += [{**when, **change, "became": became} for change, became in told]
    return events[::-1]


def scored(row: pl.DataFrame, now: datetime, policy: Policy) -> dict[str, Any]:
    """Return a record's relevance with its parts: each part times its weight, summed."""
    decay = policy.decay
    parts = row.select(
        age_days=age_days(now, decay.clock), half_life_days=half_life(decay),
        recency=recency(now, decay), frequency=frequency(),
        importance=pl.col("importance").fill_nan(0.0).fill_null(0.0).clip(0.0, 1.0),
        relevance=relevance(now, decay), ranked=relevance(now, decay, floored=True),
    ).to_dicts()[0]  # fmt: skip
    weights = {name: getattr(decay, name) for name in ("recency", "frequency", "importance")}
    return {"model": decay.model, "clock": decay.clock, **parts, "weights": weights}


def fading(row: pl.DataFrame, now: datetime, policy: Policy) -> dict[str, Any]:
    """Return when a record's relevance falls below the threshold of demotion, if nobody uses it."""
    below = policy.tiers.demote_relevance

    def faded(days: float) -> bool:
        return bool(row.select(relevance(after(now, days), policy.decay) < below).item())

    said: dict[str, Any] = {"below": below, "on": None, "in_days": None}
    if row["pinned"][0]:
        return said | {"why": "pinned records never fade"}
    if faded(0):
        return said | {"on": now, "in_days": 0.0, "why": "it has faded already"}
    if not faded(_HORIZON):
        return said | {"why": "its importance and uses alone keep it above that"}
    low, high = 0.0, float(_HORIZON)
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (low, middle) if faded(middle) else (middle, high)
    core = row["tier"][0] == "core"
    why = "though a core record is not demoted" if core else "unless it is used or changed before"
    return said | {"on": after(now, high), "in_days": round(high, 1), "why": why}


def going(row: pl.DataFrame, now: datetime, policy: Policy) -> dict[str, Any]:
    """Return what becomes of a record and when, if nobody uses it (what, on, why)."""
    record, keep = row.to_dicts()[0], policy.retention
    last = max((t for t in map(record.get, CLOCKS[policy.decay.clock]) if t), default=None)
    touched = [t for t in (record["updated_at"], record["accessed_at"]) if t]
    window = row.select(days_kept(keep.windows)).item()
    stays: dict[str, Any] = {"what": None, "on": None}
    if record["pinned"] or record["tier"] == "core":
        hidden = record["superseded_by"] is not None
        never = "is not deleted" if hidden else "is neither retired nor deleted"
        return stays | {"why": f"what is pinned or core {never}"}
    if record["superseded_by"] == TOMBSTONE and record["valid_to"]:
        gone = after(max([record["valid_to"], *touched]), keep.grace_days)
        return {"what": "deleted", "on": gone, "why": "its grace time is over then"}
    if record["superseded_by"] in RETIRED:
        return stays | {"why": "it is hidden until a person has looked"}
    if record["superseded_by"]:
        days = keep.superseded_days
        on = record["expires_at"] or (last and after(last, days))
        if not days or not on:
            return stays | {"why": "no time is set for what a newer record replaced"}
        on = max([on, *(after(t, keep.grace_days) for t in touched)])
        why = "what a newer record replaced is kept until then"
        return {"what": "deleted", "on": on, "why": why}
    ends = [(record["expires_at"], "it was stored until then")] if record["expires_at"] else []
    grave = record["kind"] != "session" and high_impact(row["text"])[0]
    if window is not None and last and not grave:
        why = f"a {record['kind']} is kept for {window:g} days here, or longer by a floor"
        ends.append((after(last, window), why))
    if ends:
        on, why = min(ends)
        return {"what": "retired", "on": max(now, on), "why": why}
    if window is not None and grave:
        return stays | {"why": "facts about money, health and access are not retired for their age"}
    return stays | {"why": "no time is set for its kind"}


def _touching(plan: planfile.PlanFile, names: set[str]) -> list[tuple[str, dict[str, Any]]]:
    """The plan's changes to a record, and to those that step back behind it."""
    ops = {line["seq"]: line["op"] for line in plan.ops()}
    mine = pl.col("id").is_in(list(names))
    absorbed = pl.col("superseded_by").is_in(list(names)).fill_null(False)
    kept = pl.col("seq").is_in(plan.kept)
    rows = plan.changes.with_row_index("seq", 1).filter((mine | absorbed) & kept)
    found = []
    for change in rows.iter_rows(named=True):
        own = change["id"] in names
        why = sentence(change["code"], change["args"])
        about = {"op": ops.get(change["seq"]), "rule": change["rule"], "reason": why}
        about |= {"of": None if own else change["id"], "evidence": change["evidence"] or []}
        found.append((change["id"], about | {"tier": change["tier"] if own else None}))
    return found


def _became(run: str, change: str | None) -> str:
    if run in ("rolled-back", "rolling-back"):
        return "taken back"
    return change or ("applied" if run == "verified" else run)


def _lineage(records: pl.DataFrame, id: str, policy: Policy) -> dict[str, Any]:
    """The chain of records that replaced it, and those that it replaced, with their texts."""
    links = dict(records.select("id", "superseded_by").drop_nulls().iter_rows())
    chain: list[str] = []
    at = links.get(id)
    while at is not None and at not in (*chain, *RETIRED, id):
        chain.append(at)
        at = links.get(at)
    absorbed = records.filter(pl.col("superseded_by") == id).sort("id")
    there = records.filter(pl.col("id").is_in([*chain, *absorbed["id"]]))
    texts = masked_texts(there, policy.secrets)
    return {
        "replaced_by": [{"id": i, "text": texts.get(i)} for i in chain],
        "absorbed": [{"id": i, "text": texts[i]} for i in absorbed["id"]],
    }


def _why(record: dict[str, Any], past: list[dict[str, Any]], gone: bool) -> list[str]:
    done = [e for e in past if e["became"] in ("applied", "already") and e["of"] is None]
    said = []
    link = record["superseded_by"]
    if gone:
        said.append("deleted: it is in the archive only")
    elif link is not None:
        hidden = HIDDEN.get(link, f"replaced by {link}")
        said.append(f"hidden from recall: {hidden}")
    if record["pinned"]:
        said.append("pinned: no rule demotes, retires or deletes it")
    moves = [e for e in done if e["tier"] == record["tier"]]
    unmoved = ": the store has it so, and no run of memops moved it"
    said.append(record["tier"] + (f" since {_told(moves[-1])}" if moves else unmoved))
    if (link is not None or gone) and done:
        said.append(f"last changed on {_told(done[-1])}")
    return said


def _told(event: dict[str, Any]) -> str:
    return f"{event['at'][:10]}: {event['rule']}, {event['reason']} (run {event['run']})"
