"""Data of a report: all that a page says, as plain values."""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from memops.state.history import Line


class StoreAbout(TypedDict):
    """The store that was read, as `KIND:PATH`, and its kind."""

    address: str
    kind: str


class RunAbout(TypedDict):
    """The run of the plan; times are text, `undo_command` is what takes all of it back.

    `wrong` are ids of records that did not read as they were written, the first of `wrong_total`.
    """

    id: str
    state: str
    started: str
    finished: str | None
    undo_command: str
    wrong: NotRequired[list[str]]
    wrong_total: NotRequired[int]


class SnapshotAbout(TypedDict):
    """The snapshot that the plan was made from."""

    id: str
    rows: int


class Count(TypedDict):
    """How many records a store holds, and how many live ones by column."""

    rows: int
    live: int
    by_kind: dict[str, int]
    by_scope: dict[str, int]
    by_tier: dict[str, int]


class Counts(TypedDict):
    """Counts before and after; after a plan that was not applied, of its outcome."""

    before: Count
    after: Count


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


class Refused(Reason):
    """A change that the guard withdrew."""

    id: str
    rule: str
    text: NotRequired[str]


class Skipped(TypedDict):
    """A record that had changed since the snapshot, or that waits."""

    id: str
    why: str


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


class Floor(TypedDict):
    """Live records of a kind in a scope, and the fewest that may remain."""

    scope: str
    kind: str
    live: int
    floor: int


class Flow(TypedDict):
    """How many records moved from a tier to a tier; `new` and `hidden` are the outside."""

    source: str
    target: str
    count: int


class Bin(TypedDict):
    """One bar of a distribution, before and after."""

    label: str
    before: int
    after: int


class Distribution(TypedDict):
    """Live records by age, importance or another figure."""

    name: str
    bins: list[Bin]


class Interval(TypedDict):
    """A value with its 95 % interval, where one was computed."""

    value: float
    low: float | None
    high: float | None


class Measured(TypedDict):
    """One measure over all queries; `delta` is after minus before, paired by query."""

    measure: str
    n: int
    before: Interval
    after: Interval
    delta: Interval


class Sliced(TypedDict):
    """The first measure over the queries of one category or language."""

    name: str
    n: int
    before: Interval
    after: Interval


class Moved(TypedDict):
    """A query whose answer came or went; ranks are None beyond the cut-off."""

    query_id: str
    text: str
    category: str
    lang: str
    before: int | None
    after: int | None


class Grades(TypedDict):
    """Recall before and after; `verdict` is pass, fail or inconclusive, `why` its reasons."""

    suite: str
    retriever: str
    queries: int
    measures: list[Measured]
    by_category: list[Sliced]
    by_lang: list[Sliced]
    lost: list[Moved]
    gained: list[Moved]
    verdict: str
    why: list[Reason]


class Timing(TypedDict):
    """How long a step took, and the most memory it held."""

    step: str
    seconds: float
    peak_mb: float | None


class Setting(TypedDict):
    """One line of the policy in force."""

    name: str
    value: str
    why: str


class Report(TypedDict):
    """All that a page says. Lists may be empty; `run` is None for a plan that was not applied.

    `verdict_sentence` is made from the figures when it is empty. `ops_beside` says that ops.jsonl
    lies in the same folder as the page, which then links to it. `total_changes` and `by_rule`
    count all changes, also where `changes` holds a part of them; so do, where it does, `states`, `risky`
    and `waiting`, and the totals of conflicts and clusters. `approve_command` is what applies a
    plan that waits for a person.
    """

    title: str
    store: StoreAbout
    run: RunAbout | None
    now: str
    verdict_sentence: str
    snapshot: SnapshotAbout
    counts: Counts
    total_changes: int
    rejected: NotRequired[int]
    changes: list[Change]
    states: NotRequired[dict[str, int]]
    risky: NotRequired[int]
    waiting: NotRequired[int]
    by_rule: dict[str, dict[str, int]]
    refused: list[Refused]
    skipped: list[Skipped]
    limits: list[Reason]
    approve_command: NotRequired[str]
    conflicts: list[Conflict]
    conflicts_total: NotRequired[int]
    clusters: list[Cluster]
    clusters_total: NotRequired[int]
    floors: list[Floor]
    tier_flow: list[Flow]
    distributions: list[Distribution]
    grades: Grades | None
    trend: list[Line]
    timings: list[Timing]
    environment: dict[str, str]
    policy: list[Setting]
    ops_beside: bool
