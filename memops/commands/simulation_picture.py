"""The picture of a simulation: one SVG with the live records and the moves of every week.

Courses are told apart by dashes and by labels, not by colour alone; it follows dark and light.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_WIDTH, _HIGH, _LEFT, _GAP = 720, 150, 60, 46
_MOVES = ("promoted", "demoted", "expired", "retired", "deleted")
_DASHES = ("none", "7 4")
_STYLE = """
svg{font:12px system-ui,sans-serif;color:#1a1a1a;background:#fff}
text{fill:currentColor}line{stroke:currentColor;stroke-opacity:.35}
path{fill:none;stroke-width:2}.c0{stroke:#0060a8}.c1{stroke:#b4500a}
@media (prefers-color-scheme:dark){
svg{color:#eee;background:#161616}.c0{stroke:#6cb8ff}.c1{stroke:#ffb066}}
"""


def picture(said: Mapping[str, Any]) -> str:
    """Return what `simulation.compared` said as an SVG document."""
    courses = said["courses"]
    panels = [_panel("live", courses, 0)]
    shown = [move for move in _MOVES if any(week[move] for c in courses for week in c["weeks"])]
    panels += [_panel(move, courses, nth) for nth, move in enumerate(shown, 1)]
    high = 70 + len(panels) * (_HIGH + _GAP)
    title = f"{said['store']}: {said['days']} days simulated"
    keys = [_key(course, nth) for nth, course in enumerate(courses)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {high}" '
            f'width="{_WIDTH}" height="{high}" aria-labelledby="t d">',
            f'<title id="t">{escape(title)}</title><desc id="d">{escape(_told(courses))}</desc>',
            f"<style>{_STYLE}</style>",
            f'<text x="8" y="20" font-weight="600">{escape(title)}</text>',
            *keys,
            *panels,
            "</svg>\n",
        ]
    )


def _told(courses: Sequence[Mapping[str, Any]]) -> str:
    """The picture in words."""
    return " ".join(
        f"Under the policy {c['policy']}: {c['weeks'][0]['live']} live records after the first "
        f"night, {c['live']} after the last; "
        + ", ".join(f"{c[move]} {move}" for move in _MOVES)
        + "."
        for c in courses
    )


def _key(course: Mapping[str, Any], nth: int) -> str:
    x, label = 8 + 220 * nth, escape(f"policy {course['policy']}"[:32])
    mark = f'<path class="c{nth}" stroke-dasharray="{_DASHES[nth]}" d="M{x} 40h34"/>'
    return f'{mark}<text x="{x + 42}" y="44">{label}</text>'


def _panel(name: str, courses: Sequence[Mapping[str, Any]], nth: int) -> str:
    top = 66 + nth * (_HIGH + _GAP)
    most = max(week[name] for course in courses for week in course["weeks"]) or 1
    last = max(len(course["weeks"]) for course in courses) - 1
    rows = [
        f'<text x="8" y="{top - 4}">{name}</text>',
        f'<text x="{_LEFT - 6}" y="{top + 10}" text-anchor="end">{most}</text>',
        f'<text x="{_LEFT - 6}" y="{top + _HIGH}" text-anchor="end">0</text>',
        f'<line x1="{_LEFT}" y1="{top + _HIGH}" x2="{_WIDTH - 8}" y2="{top + _HIGH}"/>',
        f'<text x="{_LEFT}" y="{top + _HIGH + 16}">week 0</text>',
        f'<text x="{_WIDTH - 8}" y="{top + _HIGH + 16}" text-anchor="end">week {last}</text>',
    ]
    for n, course in enumerate(courses):
        values = [week[name] for week in course["weeks"]]
        wide = (_WIDTH - 8 - _LEFT) / max(last, 1)
        spots = [(_LEFT + wide * i, top + _HIGH * (1 - v / most)) for i, v in enumerate(values)]
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
        rows.append(f'<path class="c{n}" stroke-dasharray="{_DASHES[n]}" d="M{line}"/>')
    return "".join(rows)
