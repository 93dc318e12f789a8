"""Who said the same again, as a plain Python loop: part of the yardstick of the benchmark."""

import json
from collections import Counter, defaultdict
from functools import cache

from memops.judge.conflicts import features
from memops.safety.trust import PERSONS
from memops.schema import RETIRED


def confirmed(store, ids, terms, least):
    """The records that speak with so many other voices for each of these (id: their ids)."""
    ends = {id_: id_ for id_ in ids}
    for id_, row in store.items():
        if row["superseded_by"] and row["superseded_by"] not in RETIRED:
            last = end_of(store, id_)
            if last in ends:
                ends[id_] = last
    group = {id_: {id_} for id_ in ends}
    for one, other in alike(store, ends, terms):
        if group[one] is not group[other]:
            group[one] |= group[other]
            for id_ in group[other]:
                group[id_] = group[one]
    out = {}
    for id_ in ids:
        firsts = {}
        for one in sorted(group[id_]):
            firsts.setdefault(voice(store[one]), one)
        others = sorted(one for said, one in firsts.items() if said != voice(store[id_]))
        if len(others) >= least:
            by = {one for first in others[:least] for one in (first, ends[first])}
            out[id_] = [id_, *sorted(by - {id_})]
    return out


def alike(store, ids, terms):
    """Pairs of the records that say the same: of those that share half of the words of one."""
    index = defaultdict(list)
    for id_ in ids:
        for term in terms(store[id_]["text"]):
            index[store[id_]["scope"], term].append(id_)
    pairs = []
    for id_ in ids:
        row, own = store[id_], terms(store[id_]["text"])
        near = Counter(other for term in own for other in index[row["scope"], term] if other > id_)
        for other, shared in near.items():
            if shared >= 0.5 * min(len(own), len(terms(store[other]["text"]))):
                pairs.append((id_, other))
    if not pairs:
        return []
    read = features([{"a": store[a]["text"], "b": store[b]["text"]} for a, b in pairs])
    return [pair for pair, same in zip(pairs, read["same"], strict=True) if same]


def end_of(store, id_):
    for _ in range(64):
        further = store.get(id_, {}).get("superseded_by")
        if not further or further in RETIRED:
            break
        id_ = further
    return id_


def voice(row):
    if row["source"] is not None and row["source"] not in PERSONS:
        return None
    said, native = row["valid_from"] or row["created_at"], read(row["extra"])
    place = native.get("session_id") or native.get("session") or (said and f"{said:%Y-%m-%d}")
    return place or "unknown"


@cache
def read(extra):
    return json.loads(extra)
