"""Pictures of a report: where every bar, dot and band of its inline SVG stands, 360 units wide."""

from collections.abc import Mapping, Sequence
from typing import Any

from memops.reports.sections import Rows
from memops.reports.words import Speaker, clip, fixed, number

Picture = dict[str, Any] | None
"""What a template draws; None where there is nothing to draw."""
WIDTH = 360
_ROW = 40
_COURSE = 52
_TIERS = ("core", "working", "peripheral")
_INTO = (*_TIERS, "hidden")
_FROM = (*_TIERS, "new", "hidden")


def drawn(page: Mapping[str, Any], say: Speaker) -> dict[str, Any]:
    """Return every picture of a page by name; one that would be empty is None."""
    measures = page["grades"]["measures"] if page["grades"] else []
    kinds = page["counts"]["by_kind"]
    ruled = [
        {"name": say.named(r["rule"]), "n": r["total"], "value": number(r["total"])}
        for r in page["rules"][:20]
    ]
    timed = [
        {"name": say.word(r["step"], "steps"), "n": r["seconds"], "value": f"{r['seconds']:.1f} s"}
        for r in page["timings"]
    ]
    return {
        "rules": bars("rules", say("by_rule"), say("by_rule_desc"), ruled),
        "timings": bars("timings", say("timings"), say("timings_desc"), timed),
        "kinds": pairs("kinds", say("kinds"), say("pairs_desc"), kinds, say.word),
        "trend": courses("trend", say("trend"), say("trend_desc"), page["trend"], say.word),
        "flow": flow(say("flow"), say("flow_desc"), page["tier_flow"], say),
        "recall": intervals(say("recall"), say("recall_desc"), measures),
        "distributions": [
            pairs(f"spread{i}", say.word(d["name"]), say("pairs_desc"), d["bins"], say.word)
            for i, d in enumerate(page["distributions"])
        ],
    }


def bars(key: str, title: str, desc: str, rows: Sequence[Mapping[str, Any]]) -> Picture:
    """Return one bar a row (`name`, `n`, and the `value` that is written at its end)."""
    top = max((row["n"] for row in rows), default=0)
    placed = [
        {"label": clip(row["name"], 34), "value": row["value"], "width": _part(row["n"], top)}
        for row in rows
        if top
    ]
    return _picture(key, title, desc, placed, 28)


def pairs(key: str, title: str, desc: str, rows: Sequence[Mapping[str, Any]], word: Any) -> Picture:
    """Return two bars a row, before and after, on one scale."""
    top = max((max(row["before"], row["after"]) for row in rows), default=0)
    placed = [
        {
            "label": clip(word(row["label" if "label" in row else "name"]), 30),
            "value": f"{number(row['before'])} → {number(row['after'])}",
            **{side: _part(row[side], top) for side in ("before", "after")},
        }
        for row in rows
        if top
    ]
    return _picture(key, title, desc, placed, _ROW)


def intervals(title: str, desc: str, rows: Sequence[Mapping[str, Any]]) -> Picture:
    """Return a dot and its interval before and after, a row each measure, on a scale of 0 to 1."""
    placed = [
        {
            "label": clip(row["measure"], 24),
            "value": f"{fixed(row['before']['value'])} → {fixed(row['after']['value'])}",
            **{side: _interval(row[side]) for side in ("before", "after")},
        }
        for row in rows
    ]
    ticks = [{"x": _at(share / 4), "label": f"{share / 4:g}"} for share in range(5)]
    return _picture("recall", title, desc, placed, _ROW, 18, axis=_ROW * len(rows), ticks=ticks)


def courses(
    key: str, title: str, desc: str, lines: Sequence[Mapping[str, Any]], word: Any
) -> Picture:
    """Return one line a row over its days (`name`, `points` of day and value); gaps stay gaps."""
    placed = [
        {
            "label": clip(word(line["name"]), 34),
            "value": figure(line["points"][-1]["value"]),
            **_course([point["value"] for point in line["points"]], _COURSE * i),
        }
        for i, line in enumerate(line for line in lines if len(line["points"]) > 1)
    ]
    return _picture(key, title, desc, placed, _COURSE)


def _picture(
    key: str, title: str, desc: str, rows: Rows, step: int, below: int = 4, **more: Any
) -> Picture:
    """A picture of rows that stand so far below each other; None without any."""
    placed = [{**row, "y": step * i} for i, row in enumerate(rows)]
    about = {"key": key, "title": title, "desc": desc, "height": step * len(rows) + below}
    return {**about, "rows": placed, **more} if placed else None


def figure(value: float | None) -> str:
    """Return a value as a count or with three digits, a dash for none."""
    if value is None:
        return "–"
    return number(round(value)) if float(value).is_integer() and value > 1 else fixed(value, 3)


def flow(title: str, desc: str, moves: Sequence[Mapping[str, Any]], say: Speaker) -> Picture:
    """Return bands from the tiers before to the tiers after, as high as their counts."""
    known = [m for m in moves if m["count"] > 0 and m["source"] in _FROM and m["target"] in _INTO]
    table = {(m["source"], m["target"]): m["count"] for m in known}
    total = sum(table.values())
    if not total:
        return None
    scale = 150 / total
    left = _nodes(_FROM, [source for source, _ in table], list(table.values()), scale, say)
    right = _nodes(_INTO, [target for _, target in table], list(table.values()), scale, say)
    starts, ends = ({node["name"]: node["y"] for node in side} for side in (left, right))
    bands = []
    for source, target in ((s, t) for s in _FROM for t in _INTO if (s, t) in table):
        high = table[source, target] * scale
        bands.append({"d": _band(starts[source], ends[target], high), "moved": source != target})
        starts[source] += high
        ends[target] += high
    low = max(side[-1]["y"] + max(side[-1]["high"], 14) for side in (left, right))
    shape = {"key": "flow", "title": title, "desc": desc, "height": round(low + 8)}
    return {**shape, "left": left, "right": right, "bands": bands}


def _course(values: Sequence[float | None], top: float) -> dict[str, Any]:
    """The path through the known values, broken at gaps, and where each stands alone or last."""
    known = [value for value in values if value is not None]
    low, span = min(known), (max(known) - min(known)) or 1.0
    places: list[tuple[float, float] | None] = []
    for at, value in enumerate(values):
        x = 4 + (WIDTH - 8) * at / max(1, len(values) - 1)
        y = None if value is None else top + 42 - 22 * (value - low) / span
        places.append(None if y is None else (round(x, 1), round(y, 1)))
    steps, dots = list[str](), list[dict[str, float]]()
    for before, place, after in zip([None, *places], places, [*places[1:], None], strict=False):
        if place:
            steps.append(f"{'L' if before else 'M'}{place[0]} {place[1]}")
            dots += [] if before and after else [{"x": place[0], "y": place[1]}]
    return {"d": "".join(steps), "dots": dots}


def _nodes(
    names: Sequence[str], ends: Sequence[str], counts: Sequence[int], scale: float, say: Speaker
) -> list[dict[str, Any]]:
    nodes, y = [], 20.0
    for name in names:
        count = sum(n for end, n in zip(ends, counts, strict=True) if end == name)
        if count:
            high = count * scale
            label = f"{say.word(name)} {number(count)}"
            nodes.append({"name": name, "label": label, "y": round(y, 1), "high": round(high, 1)})
            y += max(high, 14) + 12
    return nodes


def _band(start: float, end: float, high: float) -> str:
    a, b, c = 118, 180, 242
    top = f"M{a} {start:.1f}C{b} {start:.1f} {b} {end:.1f} {c} {end:.1f}"
    under = f"V{end + high:.1f}C{b} {end + high:.1f} {b} {start + high:.1f} {a} {start + high:.1f}Z"
    return top + under


def _part(n: float, top: float) -> float:
    return round(max(WIDTH * n / top, 1.5), 1) if n else 0.0


def _at(share: float) -> float:
    return round(6 + (WIDTH - 12) * min(max(share, 0.0), 1.0), 1)


def _interval(value: Mapping[str, Any]) -> dict[str, Any]:
    known = value["low"] is not None and value["high"] is not None
    ends = {end: _at(value[end]) if known else None for end in ("low", "high")}
    return {"x": _at(value["value"]), **ends}
