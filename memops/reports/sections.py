"""Sections of a report's page, in their order: what is listed at its top, and what fills them.

To add one: a function of both sides of a night and a line in SECTIONS, with its title and what else it
says in English; and its template `reports/parts/<part>.html.j2`, which says words as `say("key")` and
finds its rows as `d.<id>`, no more than a page has room for, and their number as `d.<id>_total`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from memops.hygiene.floors import standing
from memops.policy import Policy

Rows = list[dict[str, Any]]


class Sides(NamedTuple):
    """The records before and after what was carried out, the clock and the policy."""

    before: pl.DataFrame
    after: pl.DataFrame
    now: str
    policy: Policy


@dataclass(frozen=True)
class Section:
    """A section by its id, which is the key of its title too, and the template that it stands in."""

    id: str
    part: str
    rows: Callable[[Sides], Rows] | None = None
    """What makes its rows, of a section that needs no more than both sides."""
    empty: bool = True
    """Whether it is shown without rows."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Its title, under its id, and its own sentences in English; what several sections say, and all
    of it in other languages, stands in `data/lexicons/report.toml`."""


def floors(sides: Sides) -> Rows:
    """Return the live records of each scope and kind, and the fewest that may remain."""
    return standing(sides.after, sides.policy.floors).to_dicts()


SECTIONS = (
    Section("person", "person"),
    Section("recall", "recall"),
    Section("overview", "overview"),
    Section("trend", "courses", empty=False),
    Section("conflicts", "findings"),
    Section("clusters", "findings"),
    Section("changes", "changes"),
    Section("skipped", "account"),
    Section(
        "floors", "account", floors, words={
            "floors": "Floors",
            "floors_note": "The fewest live records that unattended curation leaves, nearest first.",
        },
    ),
    Section("timings", "account"),
    Section("policy", "account"),
)  # fmt: skip


def english() -> dict[str, str]:
    """Return what sections say in English, by key."""
    return {key: text for section in SECTIONS for key, text in section.words.items()}


def filled(sides: Sides) -> dict[str, Rows]:
    """Return the rows of the sections that are made from both sides, by their ids."""
    return {section.id: section.rows(sides) for section in SECTIONS if section.rows}
