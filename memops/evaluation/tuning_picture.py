"""The picture of a tuning: recall against cost, a mark for each way of searching."""

import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

Range = tuple[float, float]

_WIDE, _HIGH, _LEFT, _TOP, _DOWN = 720, 420, 64, 76, 340
_ROOM = 104  # characters of a line, which must not run out of the picture
_STYLE = """
svg{font:12px system-ui,sans-serif;color:#1a1a1a;background:#fff}
text{fill:currentColor}line{stroke:currentColor;stroke-opacity:.35}
circle{fill:#0060a8}.now{fill:none;stroke:#b4500a;stroke-width:3}.chosen{stroke:#0060a8;fill:none;stroke-width:3}
@media (prefers-color-scheme:dark){svg{color:#eee;background:#161616}circle{fill:#6cb8ff}
.now{stroke:#ffb066}.chosen{stroke:#6cb8ff}}
"""


def picture(said: Mapping[str, Any]) -> str:
    """Return what `Tuned.to_json` said as an SVG document; marks bear numbers, the list names."""
    tried = said["tried"]
    costs = _room([_cost(t) for t in tried])
    recalls = _room([t["test"] for t in tried])
    title = f"{said['measure']} on the test half against milliseconds a query"
    names = [
        f"{nth}. dev {t['dev']:.3f}, test {t['test']:.3f}, {t['ms']:.2f} ms: {t['name']}"
        for nth, t in enumerate(tried, 1)
    ]
    tall = _HIGH + 18 * (len(tried) + 1)
    gain = said["gain"]
    told = (
        f"Chosen on the other half: {said['chosen']} (outer ring)",
        f"{gain['mean']:+.3f} ({gain['low']:+.3f} to {gain['high']:+.3f}) against now: "
        f"{said['now']} (inner ring)",
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDE} {tall}" '
            f'width="{_WIDE}" height="{tall}" aria-labelledby="t d">',
            f'<title id="t">{escape(title)}</title><desc id="d">{escape("; ".join(told))}</desc>',
            f"<style>{_STYLE}</style>",
            f'<text x="8" y="20" font-weight="600">{escape(title)}</text>',
            *(_line(40 + 18 * nth, line) for nth, line in enumerate(told)),
            *_axes(costs, recalls),
            *_marks(said, costs, recalls),
            *(_line(_HIGH + 18 * nth, name) for nth, name in enumerate(names, 1)),
            "</svg>\n",
        ]
    )


def _marks(said: Mapping[str, Any], costs: Range, recalls: Range) -> Iterator[str]:
    """A numbered dot for each way tried, with rings around the one in use and the one chosen."""
    (left, right), (low, high) = costs, recalls
    for nth, tried in enumerate(said["tried"], 1):
        x = _LEFT + (_WIDE - _LEFT - 24) * (_cost(tried) - left) / (right - left)
        y = _TOP + (_DOWN - _TOP) * (1 - (tried["test"] - low) / (high - low))
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        for name, radius in (("now", 8), ("chosen", 11)):
            if tried["name"] == said[name]:
                yield f'<circle class="{name}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
        yield f'<text x="{x + 7:.1f}" y="{y - 5:.1f}">{nth}</text>'


def _axes(costs: Range, recalls: Range) -> Iterator[str]:
    (left, right), (low, high) = costs, recalls
    yield f'<line x1="{_LEFT}" y1="{_DOWN}" x2="{_WIDE - 8}" y2="{_DOWN}"/>'
    yield f'<line x1="{_LEFT}" y1="{_TOP}" x2="{_LEFT}" y2="{_DOWN}"/>'
    yield f'<text x="{_LEFT - 6}" y="{_TOP + 4}" text-anchor="end">{high:.2f}</text>'
    yield f'<text x="{_LEFT - 6}" y="{_DOWN}" text-anchor="end">{low:.2f}</text>'
    yield f'<text x="{_LEFT}" y="{_DOWN + 18}">{10**left:.2g} ms</text>'
    yield f'<text x="{_WIDE - 8}" y="{_DOWN + 18}" text-anchor="end">{10**right:.2g} ms</text>'


def _cost(tried: Mapping[str, Any]) -> float:
    return math.log10(max(tried["ms"], 1e-3))


def _line(y: int, text: str) -> str:
    kept = text if len(text) <= _ROOM else f"{text[: _ROOM - 1]}…"
    return f'<text x="8" y="{y}">{escape(kept)}</text>'


def _room(values: list[float]) -> Range:
    """The range of an axis, never empty."""
    low, high = min(values), max(values)
    pad = (high - low) * 0.08 or 0.05
    return low - pad, high + pad
