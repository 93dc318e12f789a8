"""The rules of hygiene as a plain Python loop over dictionaries: the yardstick of the benchmark.

Written as one would without tables: a record at a time, a rule after the other, until none asks
more. It decides what the rules and the guard decide, with the same reasons and evidence, on stores
that are no files; a text is read once, and tasks are found by the words that they name.
"""

import math
import re
from collections import Counter, defaultdict
from datetime import timedelta

from memops.hygiene.closing import _cut
from memops.hygiene.decay import since_epoch
from memops.hygiene.dues import due, folded
from memops.safety.trust import MACHINES
from memops.schema import MODEL, RETIRED, TIERS, TOMBSTONE
from tests.bench.loop_words import (
    done_by_its_words,
    grave,
    marked,
    opens_as_task,
    says_done,
    task,
    terms,
    ticked,
)

from .loop_confirmations import confirmed

DAY = 86_400e6


def planned(rows, now, policy):
    """Return what a night decides (rule, id, reason, evidence, tier, confidence), in no order."""
    for read in (opens_as_task, done_by_its_words, terms):
        read.cache_clear()
    store = {row["id"]: dict(row) for row in rows}
    night, decided = Night(now, policy), []
    while True:
        asked = 0
        for rule in RULES:
            changes = night.held(store, rule(night, store))
            asked += len(changes)
            for id_, reason, evidence, fields in changes:
                kept = fields.get("tier"), fields.get("confidence")
                decided.append((rule.__name__, id_, reason, evidence, *kept))
                if rule in (delete_retired, delete_superseded):
                    del store[id_]
                else:
                    store[id_].update(fields)
        if not asked:
            return decided


class Night:
    """The instant and the policy, and what every rule asks of a record."""

    def __init__(self, now, policy):
        self.now, self.policy, self.at = now, policy, since_epoch(now)

    def quiet(self, row, names):
        known = [since_epoch(row[n]) for n in names if row[n] is not None]
        return (self.at - max(known)) / DAY if known else None

    def age(self, row):
        days = self.quiet(row, ("created_at", "updated_at", "accessed_at"))
        return None if days is None else max(0.0, days)

    def relevance(self, row):
        if row["pinned"]:
            return 1.0
        decay = self.policy.decay
        weight = min(max(row["importance"], 0.0), 1.0)
        half = decay.half_life_days * min(math.exp(decay.importance_factor * weight), 10.0)
        recency = math.exp(-math.log(2) / half * (self.age(row) or 0.0) ** decay.betas[row["tier"]])
        frequency = 1 - math.exp(-row["access_count"] / 5)
        blend = decay.recency * recency + decay.frequency * frequency + decay.importance * weight
        return min(max(blend, 0.0), 1.0)

    def held(self, store, changes):
        """The changes that the guard allows: none of what is protected, none below a floor."""
        changes = [one for one in changes if self.allowed(store, *one)]
        floors, lost = self.policy.floors, defaultdict(list)
        for id_, _, _, fields in changes:
            row = store[id_]
            floor = floors.kinds.get(row["kind"], floors.default)
            if fields.get("superseded_by") == TOMBSTONE and floor and not task(row):
                lost[row["scope"], row["kind"], floor].append(row)
        live = Counter()
        for row in store.values() if lost else ():
            if row["superseded_by"] is None and not task(row):
                live[row["scope"], row["kind"]] += 1
        stays = set()
        for (*group, floor), going in lost.items():
            spare = max(0, live[tuple(group)] - floor)
            going.sort(key=lambda r: (r["created_at"] is None, r["created_at"], r["id"]))
            stays |= {row["id"] for row in going[spare:]}
        return [change for change in changes if change[0] not in stays]

    def allowed(self, store, id_, reason, evidence, fields):
        row = store[id_]
        by_a_model = any(MODEL in store[one]["tags"] for one in evidence if one in store)
        if by_a_model and MODEL not in row["tags"]:
            return False
        rank = TIERS.index(fields.get("tier") or row["tier"])
        goes = not fields or fields.get("superseded_by") == TOMBSTONE
        return firm(row) or not (goes or rank < TIERS.index(row["tier"]))


def promote_used(night, store):
    tiers, out = night.policy.tiers, []
    known = {id_: row for id_, row in store.items() if knowledge(row)}
    unused = [
        id_
        for id_, row in known.items()
        if row["tier"] != "core"
        and row["importance"] >= tiers.promote_importance
        and row["access_count"] < tiers.promote_accesses
    ]
    said = confirmed(store, unused, terms, tiers.promote_confirmed)
    for id_, row in known.items():
        if QUESTION.search(row["text"]):
            continue
        uses, weight, score = row["access_count"], row["importance"], night.relevance(row)
        if (
            row["tier"] != "core"
            and uses >= tiers.promote_accesses
            and weight >= tiers.promote_importance
        ):
            why = f"used {uses} times, importance {shown(weight)}"
            out.append((id_, why, [id_], {"tier": "core"}))
        elif id_ in said:
            why = f"said in at least {tiers.promote_confirmed} other sessions"
            why += f", importance {shown(weight)}"
            out.append((id_, why, said[id_], {"tier": "core"}))
        elif (
            row["tier"] == "peripheral"
            and uses >= tiers.restore_accesses
            and score >= tiers.restore_relevance
        ):
            why = f"used {uses} times, relevance {shown(score)}"
            out.append((id_, why, [id_], {"tier": "working"}))
    return out


def knowledge(row):
    if row["superseded_by"] is not None or row["kind"] in ("note", "session", "summary"):
        return False
    return row["source"] not in (*MACHINES, "channel")


def demote_faded(night, store):
    tiers, out = night.policy.tiers, []
    most = max((row["access_count"] for row in store.values()), default=0)
    counted = min(i for i, row in store.items() if row["access_count"] == most) if most else None
    for id_, row in store.items():
        if row["superseded_by"] is not None or row["tier"] != "working" or row["pinned"]:
            continue
        score, age, uses = night.relevance(row), night.age(row), row["access_count"]
        faded = score < tiers.demote_relevance
        unused = counted and (age or 0) > tiers.demote_days and uses < tiers.demote_accesses
        if not (faded or unused) or grave(row) or task(row):
            continue
        said = f"relevance {shown(score)}, under {tiers.demote_relevance}"
        said = said if faded else f"{math.floor(age)} days old, used {uses} times"
        out.append((id_, said, [id_] if faded else [id_, counted], {"tier": "peripheral"}))
    return out


def doubt_unconfirmed(night, store):
    policy, out, said = night.policy.lifecycles, [], defaultdict(list)
    for id_, row in store.items():
        quiet = night.quiet(row, ("created_at", "updated_at"))
        for of in {id_, row["superseded_by"]} - {None, *RETIRED} if quiet is not None else ():
            said[of].append((quiet, id_))
    for id_, row in store.items():
        if row["superseded_by"] or row["kind"] != "preference" or row["pinned"] or not said[id_]:
            continue
        days, by = min(said[id_])
        periods = math.floor(days / policy.unconfirmed_days)
        most = round(policy.unconfirmed_share ** min(max(periods, 0), 50), 3)
        if periods >= 1 and (1.0 if row["confidence"] is None else row["confidence"]) > most:
            reason = f"stated {math.floor(days)} days ago, and not confirmed since"
            out.append((id_, reason, [by], {"confidence": most}))
    return out


def expire_dated(night, store):
    return [
        (id_, f"expired on {row['expires_at']:%Y-%m-%d %H:%M:%SZ}", [id_], night_over(night))
        for id_, row in store.items()
        if loose(row) and row["expires_at"] and row["expires_at"] <= night.now
    ]


def retire_tasks(night, store):
    limits, out = night.policy.tasks, []
    since = night.now - timedelta(days=limits.closed_days)
    done = closed(store, since)
    for id_, row in store.items():
        if not (loose(row) and task(row)):
            continue
        said = row["valid_from"] or row["created_at"]
        if ticked(row) and said and said <= since:
            out.append((id_, "it is ticked off", [id_], night_over(night)))
        elif id_ in done:
            why = "a later record says that it is done"
            out.append((id_, why, [done[id_]], night_over(night)))
        elif found := due(row["text"], said.date() if said else None):
            late = (night.now.date() - found.day).days
            if late > (limits.late_days if found.firm else limits.vague_days):
                reason = f"it was due on {found.day}, {late} days ago"
                out.append((id_, reason, [id_], night_over(night)))
    return out


def closed(store, since):
    """The tasks that a later record closes: each closes the one that it is most like."""
    named, index, best = {}, defaultdict(set), {}
    for id_, row in store.items():
        here = row["superseded_by"] == TOMBSTONE or loose(row)
        said = row["valid_from"] or row["created_at"]
        if here and said and task(row) and not (ticked(row) and said <= since):
            named[id_] = terms(_cut(row["text"], due(row["text"], said.date()))), said
            for term in named[id_][0]:
                index[row["scope"], term].add(id_)
    for id_, row in store.items():
        said = row["valid_from"] or row["created_at"]
        if row["superseded_by"] in RETIRED or said is None or said > since:
            continue
        if row["kind"] in ("session", "summary") or task(row) or not says_done(row):
            continue
        told = terms(folded(row["text"]))
        near = {other for term in told for other in index.get((row["scope"], term), ())}
        near = {other for other in near if named[other][1] < said}
        likes = {other: likeness(named[other][0], told, row) for other in near}
        most = max(likes.values(), default=0)
        for other in (o for o, like in likes.items() if 0 < like >= most):
            best.setdefault(other, id_)
    return best


def likeness(theirs, told, row):
    """How like a task what was told is; nought where it does not close it."""
    things, own = ({t for t in one if not t.startswith("deed:")} for one in (theirs, told))
    shared, deeds = len(things & own), len(theirs & told) > len(things & own)
    same = deeds or (marked(row) and shared > 1)
    if not same or shared < max(1, len(things)):
        return 0
    return shared / (len(things) + len(own) - shared)


def consolidate_daily(night, store):
    """Lines of daily notes: a store that is no files has none."""
    assert not [i for i, row in store.items() if row["superseded_by"] is None and LINE.search(i)]
    return []


def move_overflow(night, store):
    """Lines of a MEMORY.md: a store that is no files has none."""
    assert not [i for i, row in store.items() if row["superseded_by"] is None and CURATED.match(i)]
    return []


def retire_old(night, store):
    windows, out = night.policy.retention.windows, []
    for id_, row in store.items():
        window, age = windows.get(row["kind"]), night.age(row)
        if window and age and age > window and loose(row):
            if row["kind"] != "session" and grave(row):
                continue
            reason = f"{math.floor(age)} days old; a {row['kind']} is kept for {int(window)}"
            out.append((id_, reason, [id_], night_over(night)))
    return out


def delete_retired(night, store):
    out = []
    for id_, row in store.items():
        if row["superseded_by"] != TOMBSTONE or row["valid_to"] is None:
            continue
        quiet = night.quiet(row, ("valid_to", "updated_at", "accessed_at"))
        if quiet > night.policy.retention.grace_days and firm(row):
            out.append((id_, f"retired on {row['valid_to']:%Y-%m-%d}", [id_], {}))
    return out


def delete_superseded(night, store):
    policy, gone = night.policy.retention, {}
    linked = {i: r for i, r in store.items() if r["superseded_by"] not in (None, *RETIRED)}
    for id_, row in linked.items():
        quiet, until = night.quiet(row, ("updated_at", "accessed_at")), row["expires_at"]
        over = until and until <= night.now and (quiet is None or quiet > policy.grace_days)
        unset = until is None and (night.age(row) or 0) > policy.superseded_days
        if (over or unset) and firm(row):
            gone[id_] = row
    while True:
        held = {row["superseded_by"] for id_, row in linked.items() if id_ not in gone}
        out = {i for i, r in gone.items() if i in held or r["superseded_by"] not in store}
        if not out:
            break
        gone = {i: r for i, r in gone.items() if i not in out}
    until = lambda r: (
        f"{r['expires_at']:%Y-%m-%d}" if r["expires_at"] else "long after its last use"
    )
    said = "replaced by {}, and kept until {}"
    return [
        (i, said.format(r["superseded_by"], until(r)), [r["superseded_by"]], {})
        for i, r in gone.items()
    ]


RULES = (
    promote_used, demote_faded, doubt_unconfirmed, expire_dated, retire_tasks, consolidate_daily,
    move_overflow, retire_old, delete_retired, delete_superseded,
)  # fmt: skip
LINE, CURATED = re.compile(r"\.md:[0-9a-f]{12}:\d+$"), re.compile(r"MEMORY\.md:")
QUESTION = re.compile(r"[?？]\s*$|[吗嘛][。！!~～\s]*$")


def night_over(night):
    return {"superseded_by": TOMBSTONE, "valid_to": night.now}


def firm(row):
    return not row["pinned"] and row["tier"] != "core"


def loose(row):
    return row["superseded_by"] is None and firm(row)


def shown(score):
    return round(math.floor(score * 1000) / 1000, 3)
