"""Data of a report: what its page says of single changes, as plain values."""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict


class Evidence(TypedDict):
    """One record that a decision rests on."""

    id: str
    text: str


class Field(TypedDict):
    """A column other than the text that a change sets, as text before and after."""

    name: str
    before: str | None
    after: str | None


class Reason(TypedDict):
    """A reason's code and arguments, of which `memops.reasons` makes a sentence."""

    code: str
    args: dict[str, Any]


class Place(TypedDict):
    """Where a record stands: headings, outermost first, and the texts around it in its file."""

    under: list[str]
    above: str | None
    below: str | None


class Undo(TypedDict):
    """A command that ends with the numbers of changes, which is looked at for secrets once a page."""

    command: str
    seqs: Sequence[int]


class Change(Reason):
    """One line of the plan and what became of it.

    `before_text` is None for an insert, `after_text` for a record that is hidden or gone;
    `instead` is then the record that stands in its place (the first evidence if it is absent).
    `state` is planned, applied, skipped, refused or rolled-back; `undo` takes this change alone back;
    `waits` says why one that was not applied waits for a person.
    The riskiest have a rank from 1, and the place where they stand.
    """

    seq: int
    op: str
    rule: str
    id: str
    locator: dict[str, Any]
    before_text: str | None
    after_text: str | None
    evidence: list[Evidence]
    risk: str | None
    state: str
    fields: NotRequired[list[Field]]
    instead: NotRequired[Evidence]
    undo: NotRequired[Undo]
    waits: NotRequired[Reason]
    rank: NotRequired[int]
    place: NotRequired[Place]


class Conflict(Reason):
    """Two records that cannot both be true; arguments (its signals) and cues say what decided."""

    old: Evidence
    new: Evidence
    decided: NotRequired[Reason]
    cues: NotRequired[list[str]]
    undo: NotRequired[Undo]


class Cluster(TypedDict):
    """Records that say the same, and the one that stands for them."""

    keeper: Evidence
    members: list[Evidence]
    undo: NotRequired[Undo]
