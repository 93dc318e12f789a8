"""View of a report: which of its lines a page has room for, in the order that it shows them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from memops.reports.sections import SECTIONS
from memops.reports.words import Part, Speaker, as_it_was, clip, clipped, differences, number

ROOM = {
    "changes": 212_000, "conflicts": 45_000, "clusters": 40_000, "refused": 30_000,
    "skipped": 20_000, "moved": 20_000, "policy": 40_000, "other": 12_000,
}  # fmt: skip
"""Bytes of HTML that each part of a page may take; together they keep it under 500 kB."""

MANY = 700
"""More rows than any part has room for; the rest is counted and not looked at."""
_LISTS = ("refused", "skipped", "limits", "conflicts", "clusters", "policy")
_ARTICLE = 420  # bytes of HTML around the texts of one change
_TONES = {
    **dict.fromkeys(("applied", "verified", "pass"), "good"),
    **dict.fromkeys(("skipped", "inconclusive", "medium", "rolled-back"), "wait"),
    **dict.fromkeys(("refused", "fail", "high", "needs-attention"), "bad"),
}


def outlined(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report with its rows counted and no more of them than could be shown."""
    page: dict[str, Any] = {**data}
    changes = data["changes"]
    page = tallied(changes) | page
    first = sorted((c for c in changes if "rank" in c), key=lambda c: c["rank"])
    page["riskiest"] = [_outlined(change) for change in first]
    turns = in_turns([change["rule"] for change in changes])
    page["changes"] = [_outlined(changes[at]) for at in turns[:MANY]]
    page["floors"] = sorted(
        data["floors"], key=lambda f: (f["live"] - f["floor"], f["scope"], f["kind"])
    )
    page["clusters"] = [_cluster(cluster) for cluster in data["clusters"][:MANY]]
    rows = {name: page.get(name, []) for name in _lists()}
    page = {f"{name}_total": len(listed) for name, listed in rows.items()} | page
    return page | {name: listed[:MANY] for name, listed in rows.items()}


def selected(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page of a cleaned outline will show; every table is a list of rows."""
    shown = _fair(data["changes"])
    page: dict[str, Any] = {**data} | {
        "rules": _rules(data["by_rule"], shown),
        "changes_shown": len(shown),
        "riskiest": [_clipped_change(change) for change in data["riskiest"]],
        "counts": _counts(data["counts"]),
        "environment": [{"name": k, "value": v} for k, v in sorted(data["environment"].items())],
        "grades": _grades(data["grades"]) if data["grades"] else None,
        "conflicts": [_conflict(conflict) for conflict in data["conflicts"]],
        "run": _run(data["run"]) if data["run"] else None,
        "clusters": [{**cluster, "undo": _undo(cluster)} for cluster in data["clusters"]],
    }
    page["trend"] = [{**line, "name": clip(line["name"], 60)} for line in data["trend"][:8]]
    for name in (*_lists(), "environment", "distributions", "timings", "tier_flow"):
        page[name] = _short(page[name], ROOM.get(name, ROOM["other"]))
    for name in ("title", "now", "store", "run", "snapshot"):
        page[name] = _clip_all(page[name], 300)
    del page["changes"], page["by_rule"]
    return page


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    return {**run, "undo_command": typed(run["undo_command"])}


def _lists() -> tuple[str, ...]:
    return (*_LISTS, *(section.id for section in SECTIONS if section.rows))


def tone(word: str | None) -> str:
    """Return the style of a state, verdict or risk: good, wait, bad or plain."""
    return _TONES.get(word or "", "plain")


def verdict(page: Mapping[str, Any], say: Speaker) -> str:
    """Return the sentence that a reader sees first."""
    rows, applied = page["counts"]["rows"][0], page["states"]["applied"]
    key = "verdict_run" if page["run"] else "verdict_plan"
    rejected = page.get("rejected", 0)
    parts = [say(key, changes=page["total_changes"] + rejected, applied=applied, rows=rows)]
    if rejected:
        parts.append(say("verdict_rejected", n=rejected))
    if wrong := (page["run"] or {}).get("wrong_total"):
        parts.insert(0, say("verdict_wrong", n=wrong))
    skipped, refused = page["skipped_total"], page["refused_total"]
    if skipped or refused:
        parts.append(say("verdict_held", skipped=skipped, refused=refused))
    grades = page["grades"]
    if grades and grades["measures"]:
        first = grades["measures"][0]
        was, now = (f"{first[side]['value']:.3f}" for side in ("before", "after"))
        parts.append(say("verdict_recall", measure=first["measure"], before=was, after=now))
    else:
        parts.append(say("verdict_ungraded"))
    return say("sentence_gap").join(parts)


def in_turns(rules: Sequence[str]) -> list[int]:
    """Return positions in a fair order: the first change of every rule, then the second ..."""
    nth: Counter[str] = Counter()
    turns: list[tuple[int, int]] = []
    for rule in rules:
        turns.append((nth[rule], len(turns)))
        nth[rule] += 1
    return [at for _, at in sorted(turns)]


def _outlined(change: Mapping[str, Any]) -> dict[str, Any]:
    evidence = change["evidence"]
    return {**change, "evidence": evidence[:4], "more_evidence": max(0, len(evidence) - 4)}


def _fair(changes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return as many of the changes, which stand in a fair order, as there is room for."""
    left, chosen = ROOM["changes"], []
    for change in changes:
        short = _clipped_change(change)
        left -= _cost(short) + _ARTICLE
        if left < 0:
            break
        chosen.append(short)
    return sorted(chosen, key=lambda change: change["seq"])


def _clipped_change(change: Mapping[str, Any]) -> dict[str, Any]:
    """The change as it is shown: both sides in marked parts, what is beside them kept short."""
    new, evidence = change["after_text"], change["evidence"]
    old = as_it_was(change["before_text"], new)
    instead = _instead(change)
    if instead:
        new = instead["text"]
        evidence = [e for e in evidence if e["id"] != instead["id"]]
    sides = _sides(old, new)
    locator = ", ".join(f"{k} {v}" for k, v in change["locator"].items())
    return {
        "seq": change["seq"], "before": clipped(sides[0]), "after": clipped(sides[1]),
        "same": old is not None and old == new and not instead,
        "instead": clip(instead["id"], 200) if instead else "",
        "evidence": _clip_all(evidence, 240), "more_evidence": change["more_evidence"],
        "locator": clip(locator, 160), "undo": clip(_undo(change), 160),
        "fields": [_field(field) for field in change.get("fields", [])[:12]],
        "risk": change["risk"], "risk_tone": tone(change["risk"]), "tone": tone(change["state"]),
        **{name: _clip_all(change.get(name), 200) for name in ("place", "args", "waits")},
        **{name: clip(change[name], 200) for name in ("op", "rule", "code", "id", "state")},
    }  # fmt: skip


def _instead(change: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if change["after_text"] is not None or change["op"] not in ("merge", "supersede"):
        return None
    named: Mapping[str, Any] | None = change.get("instead")
    return named or next(iter(change["evidence"]), None)


def _sides(old: str | None, new: str | None) -> tuple[list[Part], list[Part]]:
    if old is not None and new is not None and old != new:
        return differences(old, new)
    return ([(False, old)] if old else []), ([(False, new)] if new else [])


def _field(field: Mapping[str, Any]) -> dict[str, Any]:
    sides = ("before", "after")
    ends = {s: None if field[s] is None else clip(str(field[s]), 120) for s in sides}
    return {"name": clip(field["name"], 60), **ends}


def _cost(value: Any) -> int:
    """About how many bytes of HTML the strings of a value take, once clipped."""
    if isinstance(value, str):
        return min(len(escape(value[:700]).encode("utf-8", "replace")), 4200) + 12
    if isinstance(value, Mapping):
        return sum(_cost(inner) for inner in value.values())
    return sum(_cost(inner) for inner in value) if isinstance(value, list | tuple) else 8


def _rules(
    by_rule: Mapping[str, Mapping[str, int]], shown: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """One row a rule, most changes first: its counts by op and the changes that are shown."""
    held: dict[str, list[dict[str, Any]]] = {}
    for change in shown:
        held.setdefault(change["rule"], []).append(change)
    rows: list[dict[str, Any]] = [
        {
            "rule": name, "total": sum(ops.values()), "changes": held.get(name, []),
            "ops": [{"op": clip(op, 40), "n": ops[op]} for op in sorted(ops)[:12]],
        }
        for name, ops in ((clip(rule, 200), ops) for rule, ops in by_rule.items())
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-row["total"], row["rule"]))[:60]


def tallied(changes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how many changes are in which state, risky and not yet done, or wait for a person."""
    told = [(c["state"], c["risk"] == "high", bool(c.get("waits"))) for c in changes]
    found = Counter(state for state, _, _ in told)
    return {
        "states": {name: found[name] for name in ("applied", "planned", "skipped", "refused")},
        "risky": sum(risky and state != "applied" for state, risky, _ in told),
        "waiting": sum(waits for _, _, waits in told),
    }


def _counts(counts: Mapping[str, Any]) -> dict[str, Any]:
    before, after = counts["before"], counts["after"]
    tables = {n: _side_by_side(before[n], after[n]) for n in ("by_kind", "by_scope", "by_tier")}
    return tables | {name: [before[name], after[name]] for name in ("rows", "live")}


def _side_by_side(before: Mapping[str, int], after: Mapping[str, int]) -> list[dict[str, Any]]:
    """Rows of one count, most first; beyond twenty the rest stands in one row."""
    names = sorted({*before, *after}, key=lambda n: (-max(before.get(n, 0), after.get(n, 0)), n))
    sides = [(name, before.get(name, 0), after.get(name, 0)) for name in names]
    if len(sides) > 20:
        rest = sides[19:]
        ends = sum(was for _, was, _ in rest), sum(now for _, _, now in rest)
        sides = [*sides[:19], (f"… ({number(len(rest))})", *ends)]
    return [{"name": clip(name, 80), "before": was, "after": now} for name, was, now in sides]


def _grades(grades: Mapping[str, Any]) -> dict[str, Any]:
    out = {**grades, "tone": tone(grades["verdict"])}
    for name in ("lost", "gained"):
        worst = sorted(grades[name], key=lambda q: (q["before"] or 10**6, q["query_id"]))
        out[name], out[f"{name}_total"] = _short(worst, ROOM["moved"]), len(worst)
    for name in ("measures", "by_category", "by_lang"):
        out[name] = _short(grades[name], ROOM["other"])
    return out


def _conflict(conflict: Mapping[str, Any]) -> dict[str, Any]:
    old, new = conflict["old"], conflict["new"]
    sides = _sides(old["text"], new["text"])
    args = conflict["args"]
    signals = sorted((name, value) for name, value in args.items() if isinstance(value, float))
    return {
        "old": {"id": old["id"], "parts": clipped(sides[0])},
        "new": {"id": new["id"], "parts": clipped(sides[1])},
        "code": conflict["code"], "args": _clip_all(args, 200),
        "signals": [{"name": name, "value": value} for name, value in signals],
        "decided": conflict.get("decided", ""), "undo": _undo(conflict),
        "cues": conflict.get("cues", []),
    }  # fmt: skip


def _cluster(cluster: Mapping[str, Any]) -> dict[str, Any]:
    members = cluster["members"]
    shown = {"keeper": cluster["keeper"], "members": members[:8], "size": len(members)}
    return shown | ({"undo": cluster["undo"]} if "undo" in cluster else {})


def _undo(of: Mapping[str, Any]) -> str:
    """The command that takes something back; "" without one."""
    if not (undo := of.get("undo")):
        return ""
    return f"{typed(undo['command'])} {','.join(map(str, undo['seqs']))}"


def typed(command: Mapping[str, str]) -> str:
    """Return a line to type."""
    return " ".join(filter(None, (command[n] for n in ("typed", "verb", "run", "option"))))


def _short(rows: Sequence[Any], room: int) -> list[Any]:
    """The first rows that fit, their texts clipped."""
    out = []
    for row in rows:
        short = _clip_all(row, 260)
        room -= _cost(short) + 90
        if room < 0:
            break
        out.append(short)
    return out


def _clip_all(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return clip(value, most)
    if isinstance(value, Mapping):
        return {key: _clip_all(inner, most) for key, inner in value.items()}
    return [_clip_all(v, most) for v in value[:24]] if isinstance(value, list) else value
