"""Reports: one night, one page that explains itself and can be read anywhere.

`render` is pure: plain values become one self-contained HTML page, without scripts, requests or forms.
Every string is masked and made visible (`words.clean`) before it is cut, and the templates escape it
once more.
"""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import tzinfo
from functools import cache, partial
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, Template

from memops.errors import MemopsError
from memops.language.lexicon import resource
from memops.reports import pictures, view, words
from memops.reports.sections import SECTIONS
from memops.safety.known_secrets import NONE, KnownSecrets


def render(
    data: Mapping[str, Any],
    lang: str = words.FALLBACK,
    zone: str = "UTC",
    known: KnownSecrets = NONE,
) -> str:
    """Return the page, under 500 kB however many changes there are (the first of each rule)."""
    say = words.Speaker(lang)
    page = view.selected(words.clean(view.outlined(data), known))
    drawn = pictures.drawn(page, say)
    verdict = view.verdict(page, say)
    when = partial(words.moment, zone=_zone(zone))
    shown = [section for section in SECTIONS if section.empty or page[section.id]]
    said = {"say": say, "word": say.word, "when": when, "verdict": verdict}
    return _template("run.html.j2").render(d=page, pictures=drawn, sections=shown, **said)


def render_history(stores: Sequence[Mapping[str, Any]], lang: str = words.FALLBACK) -> str:
    """Return the page of all nights; `stores` as `history.courses` gives them, gaps as gaps."""
    say = words.Speaker(lang)
    page = words.clean(stores)
    days = sorted(p["day"] for c in stores for line in c["lines"][:1] for p in line["points"])
    drawn = [
        pictures.courses(f"trend{i}", course["store"], say("trend_desc"), course["lines"], say.word)
        for i, course in enumerate(page)
    ]
    about = say("history_none")
    if days:
        counts = {"nights": sum(c["nights"] for c in stores), "stores": len(stores)}
        about = say("history_about", first=days[0], last=days[-1], **counts)
    said = {"about": about, "say": say, "word": say.word}
    return _template("history.html.j2").render(stores=page, pictures=drawn, **said)


def render_aging(said: Mapping[str, Any], moves: Sequence[str]) -> str:
    """Return what `simulation.compared` said as one SVG: live records and moves, week by week."""
    courses = said["courses"]
    last = max(len(course["weeks"]) for course in courses) - 1
    lines = {
        name: [[week[name] for week in c["weeks"]] for c in courses] for name in ("live", *moves)
    }
    panels = [
        {"name": name, "most": max(map(max, rows)) or 1, "last": last, "courses": rows}
        for name, rows in lines.items()
        if name == "live" or any(map(any, rows))
    ]
    return _template("pictures/aging.svg.j2").render(said=said, moves=moves, panels=panels)


def render_tuning(said: Mapping[str, Any]) -> str:
    """Return what `tuning.tuned` said as one SVG: recall against cost, a mark for each way."""
    costs = [math.log10(max(t["ms"], 1e-3)) for t in said["tried"]]
    recalls = [t["test"] for t in said["tried"]]
    (left, right), (low, high) = _padded(costs), _padded(recalls)
    marks = [
        (round(64 + 632 * (c - left) / (right - left), 1), round(76 + 264 * (high - r) / (high - low), 1), t)
        for c, r, t in zip(costs, recalls, said["tried"], strict=True)
    ]  # fmt: skip
    ends = {"low": low, "high": high, "least": 10**left, "most": 10**right}
    return _template("pictures/tuning.svg.j2").render(said=said, marks=marks, **ends)


def _padded(values: Sequence[float]) -> tuple[float, float]:
    """The range of an axis, never empty."""
    low, high = min(values), max(values)
    pad = (high - low) * 0.08 or 0.05
    return low - pad, high + pad


def _zone(name: str) -> tzinfo | None:
    try:
        return None if name == "local" else ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError) as error:
        raise MemopsError(f"no time zone {name!r}", "such as UTC, local, Asia/Shanghai") from error


def _compiled() -> FileSystemBytecodeCache | None:
    """Keep compiled templates as Python keeps modules, in a folder beside them, where it may."""
    beside = Path(cache_from_source(str(resource("reports") / "page.py"))).parent
    if sys.dont_write_bytecode:
        return None
    with suppress(OSError):
        beside.mkdir(parents=True, exist_ok=True)
    return FileSystemBytecodeCache(str(beside)) if os.access(beside, os.W_OK) else None


@cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=FileSystemLoader(resource("reports")), bytecode_cache=_compiled(), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    own = {"n": words.number, "clip": words.clip, "fixed": words.fixed, "figure": pictures.figure}
    environment.filters.update(own)
    return environment.get_template(name)
