"""Read-only answers: why a plan changes a record, samples of a plan, pairs, and what rules may do."""

import contextlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import snapshot
from memops.apply.selection import standing
from memops.commands import reviewing
from memops.commands.selecting import masked_texts, meant
from memops.context import Context
from memops.errors import MemopsError
from memops.models.local import local_models
from memops.plan import without_secrets
from memops.safety.known_secrets import remembered
from memops.safety.looked import redacted
from memops.schema import empty
from memops.settings import Settings
from memops.state import planfile
from memops.state.pending import rejected
from memops.state.sources import open_or_take
from memops.stores import family, open_store
from memops.verdicts import BOTH_HOLD, CONFLICT, PART, SAME

_TOLD = ("op", "intent", "rule", "reason", "code", "args", "risk", "locator", "set")


def explain_change(plan: str, id: str, settings: Settings) -> dict[str, Any]:
    """Return what a plan does to a record and why; secrets masked. Raises MemopsError."""
    found = planfile.load(plan, settings.state)
    taken = snapshot.find(found.header["snapshot"], settings.state)
    records = taken.records() if taken else empty()
    every = reviewing.every_line(found, records) if taken else found.ops()
    ids = {line["id"] for line in every}
    if id not in ids:
        numbered = [line["id"] for line in every if str(line["seq"]) == id]
        with contextlib.suppress(MemopsError):
            mine = records.filter(pl.col("id").is_in(list(ids)))
            id = numbered[0] if numbered else meant(mine, [id], "the plan")[0]
    lines = [line for line in every if line["id"] == id]
    if not lines:
        hint = f"list its changes: memops review {found.id}"
        raise MemopsError(f"plan {found.id} does not change {id!r}", hint)
    texts = masked_texts(without_secrets(records, found.changes), settings.policy.secrets)
    month = pl.coalesce("valid_from", "created_at").dt.strftime("%Y-%m")
    dated = dict(records.select("id", month).iter_rows())
    changes = []
    for line in lines:
        evidence = found.changes["evidence"][line["seq"] - 1]
        others = [] if evidence is None else evidence.to_list()
        about = {k: line[k] for k in _TOLD if k in line}
        about |= {"stands": _stands(line, found, settings.state), "text": texts.get(id)}
        about |= {"evidence": {i: texts.get(i) for i in others}}
        changes.append(about | {"pairs": _compared(line, id, others, texts, dated)})
    judged = found.judged()
    for args, pair in ((c.get("args"), pair) for c in changes for pair in c["pairs"]):
        pair |= _word_of(judged, id, pair["with"])
        pair["decided"] = _decided(pair, args or {})
    return {"plan": found.id, "id": id, "changes": changes}


def _stands(line: dict[str, Any], plan: planfile.PlanFile, state: Path) -> str:
    """What has become of a change, or who decides on it."""
    if run := next((r.id for r in standing(plan, state) if line["seq"] in r.header["kept"]), None):
        return f"carried out by run {run}"
    if line["seq"] not in {*plan.kept} - rejected(plan.path):
        back = f"memops review {plan.id} --keep {line['seq']}"
        return f"rejected by a person; to have it back: {back}"
    return "needs nobody" if line.get("unattended") else "waits for a person"


def samples(plan: str, settings: Settings) -> dict[str, list[dict[str, str]]]:
    """Return some changes of each rule of a plan (op, text, reason), spread over all it proposes."""
    found = planfile.load(plan, settings.state)
    taken = snapshot.find(found.header["snapshot"], settings.state)
    records = without_secrets(taken.records(), found.changes) if taken else empty()
    said = dict(records.select("id", "text").iter_rows())
    by_rule: dict[str, list[dict[str, Any]]] = {}
    for line in found.ops():
        by_rule.setdefault(line["rule"], []).append(line)
    # Ten of each rule's, evenly from the first on, or all where they are fewer.
    chosen = [
        lines[at * len(lines) // most]
        for lines in by_rule.values()
        for most in [min(len(lines), 10)]
        for at in range(most)
    ]
    told = [line.get("record", {}).get("text") or said.get(line["id"], "") for line in chosen]
    masked = redacted(pl.Series(told, dtype=pl.String), settings.policy.secrets)
    out: dict[str, list[dict[str, str]]] = {}
    for line, text in zip(chosen, masked, strict=True):
        row = {"op": line["op"], "text": text, "reason": line["reason"]}
        out.setdefault(line["rule"], []).append(row)
    return out


def _compared(
    line: dict[str, Any], id: str, others: list[str], texts: dict[str, str], dated: dict[str, Any]
) -> list[dict[str, Any]]:
    """What is read in the record and in each that it steps back behind, and the sentence."""
    from memops.judge.explain import explained

    if line["op"] not in ("supersede", "merge") or id not in texts:
        return []
    known = [other for other in others if other in texts and other != id]
    pairs = [(texts[id], texts[other]) for other in known]
    told = explained(pairs, [(dated.get(id), dated.get(other)) for other in known])
    return [{"with": other, **said} for other, said in zip(known, told, strict=True)]


def _word_of(judged: list[dict[str, Any]], one: str, two: str) -> dict[str, Any]:
    """What a local model said of two records, if it was asked."""
    for row in judged:
        if (one in row["a"] and two in row["b"]) or (two in row["a"] and one in row["b"]):
            return {"judge": {name: value for name, value in row.items() if name not in "ab"}}
    return {}


def _decided(pair: dict[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    """Who decided about a pair, what, how probable that is, and how similar the two are."""
    word = pair.get("judge", {})
    if word.get("effect") in ("decided", "withheld"):
        names = ("decider", "verdict", "probability", "effect")
        return {name: word[name] for name in names} | {"similarity": round(word["score"], 4)}
    same, opposes, likely = pair["same"], pair["opposes"], pair["likely"]
    verdict = SAME if same else CONFLICT if opposes else BOTH_HOLD
    score = pair["duplicate_score"] if same else pair["conflict_score"]
    told = {"decider": "rules", "verdict": verdict, "probability": score}
    if likely is not None:
        chance = pair["chances"]
        least = chance[SAME] + chance[PART] if likely == PART else chance[likely]
        told = {"decider": "fitted", "verdict": likely, "probability": round(least, 4)}
    near = word.get("score", args.get("similarity", pair["signals"]["weighted"]))
    return told | {"similarity": round(near, 4)}


def _looked_at(
    store: str, settings: Settings, now: datetime | None
) -> tuple[snapshot.Snapshot, pl.DataFrame, Context]:
    """A snapshot of a store with its records, and what rules may know of them."""
    taken = open_or_take(store, settings, now)
    at = now or datetime.fromisoformat(taken.manifest["taken_at"])
    records = taken.records()
    models = local_models(settings.policy, settings.state, records)
    return taken, records, Context(now=at, policy=settings.policy, models=models)


def list_pairs(
    what: str, store: str, settings: Settings, now: datetime | None, least: float, near: int
) -> list[dict[str, Any]]:
    """Return the store's conflicts or duplicates with their signals; secrets masked.

    `least` leaves out pairs less similar; `near` asks instead for so many pairs whose probability is
    nearest to a half.
    """
    from memops.judge.listed import borderline, chosen, scored

    _, records, ctx = _looked_at(store, settings, now)
    pairs = scored(records, ctx)
    name = what.removesuffix("s")
    rows = borderline(pairs, name, near) if near else chosen(pairs, name, least)
    named = records.filter(pl.col("id").is_in(pl.concat([rows["a_id"], rows["b_id"]]).implode()))
    texts = named.select("id", text=redacted(named["text"], settings.policy.secrets))
    for side in "ab":
        told = texts.select(pl.all().name.prefix(f"{side}_"))
        rows = rows.join(told, on=f"{side}_id", maintain_order="left", how="left")
    columns = ["a_id", "b_id", "a_text", "b_text", "jaccard", "cosine", "bm25", "score", "opposes"]
    columns += [f"{name}_score", *([name] if near else [])]
    columns += ["verdict", "effect"] if settings.policy.judge.model else []
    rounded = pl.col("jaccard", "cosine", "bm25", "score", f"{name}_score").round(3)
    found: list[dict[str, Any]] = rows.with_columns(rounded).select(columns).to_dicts()
    return found


def audit_store(
    store: str, settings: Settings, now: datetime | None, fail_on: Sequence[str]
) -> dict[str, Any]:
    """Return the audit of a store, and which of the classes in `fail_on` have findings."""
    from memops.commands.audit import audit

    taken, records, ctx = _looked_at(store, settings, now)
    said = audit(records, ctx, remembered(settings.state))
    unknown = sorted(set(fail_on) - said["classes"].keys())
    if unknown:
        raise MemopsError(f"unknown class {unknown[0]!r}", f"known: {', '.join(said['classes'])}")
    failed = [name for name in fail_on if said["classes"][name].get("count")]
    return {**said, "store": taken.address, "snapshot": taken.id, "failed": failed}


def ruled(settings: Settings, store: str | None = None) -> list[dict[str, Any]]:
    """Return every rule, when it runs, and where its shapes of change stand in each family of stores."""
    from memops.rules import MIGRATION, RULES
    from memops.state.evidence import standing

    identity = open_store(settings.store(store).address).identity() if store else None
    known = standing(settings.policy, settings.state, identity)
    if identity:
        known = known.filter(pl.col("family") == family(identity["kind"]))
    stands = known.with_columns(pl.col("lower").round(4))
    return [
        {
            "rule": rule.__name__, "nightly": rule in RULES, "migrate": rule in MIGRATION,
            "about": (rule.__doc__ or "").strip().split("\n")[0],
            "stands": stands.filter(rule=rule.__name__).drop("rule").to_dicts(),
        }
        for rule in dict.fromkeys((*MIGRATION, *RULES))
    ]  # fmt: skip
