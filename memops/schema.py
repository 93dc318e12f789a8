"""Records: the one table that every store is read into.

Times are UTC instants; an unknown time is null and never means very old. `superseded_by` is the
id of the newer record, or a reserved reference that says why a record is hidden from recall
(`QUARANTINE`, `TOMBSTONE`); a record is live while it is null. Tables are sorted by id.

Four columns say what a record's place says of it, as two texts can only be compared where their
places agree. A store reads them anew each time, so they are no part of what a change is judged
stale by and never go to the overlay.

- `subject`: what the text is said of, the parts of a path joined by SUBJECT; null where only the
  text itself tells. A text that names no subject of its own ("Status: done") speaks of this one.
- `form`: one of FORMS, how the text speaks.
- `role`: one of ROLES, what the file or category that it stands in is for.
- `block`: names what it stands in together with others, within its store: in a file the section
  under one heading, its lists and tables included. Records with one block were written to stand
  together. Null where a record stands by itself, as a row with a key does.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from memops.errors import Corrupt

INSTANT = pl.Datetime("us", "UTC")
TIERS = ("peripheral", "working", "core")
KINDS = (
    "entity", "preference", "fact", "project_state", "relationship", "procedure", "lesson",
    "failure", "remember", "summary", "session", "note",
)  # fmt: skip
STORES = {
    "jsonl": "memops.stores.tables:Jsonl",
    "parquet": "memops.stores.tables:Parquet",
    "clawseed": "memops.stores.clawseed:Clawseed",
    "openclaw": "memops.stores.openclaw:OpenClaw",
    "xinghebot": "memops.stores.xinghebot:XingheBot",
    "rsclaw": "memops.stores.rsclaw:Rsclaw",
}
"""The kinds of store, each with its class, which is imported on first use (`memops.stores`)."""
SENSITIVITIES = ("allowed", "masked", "never_store")
FORMS = (
    "claim", "attribute", "event", "task", "instruction", "quotation", "code", "table", "generated",
)  # fmt: skip
"""How a text speaks: says that something is so, gives a value to a label, tells of a moment, asks
for something to be done, tells the agent how to act, gives another's words, is code, is rows, or
was written by software."""
ROLES = ("curated", "profile", "instructions", "daily", "topic", "session", "machine")
"""What a place is for: what the agent always knows, whom it serves, how it is to act, a day's
notes, notes on a subject, what was said, and what software keeps there for itself."""
SUBJECT = " › "
"""Stands between the parts of a subject, from the widest to the narrowest."""
PLACE = ("subject", "form", "role", "block")
AROUND = ("under", "above")  # in extra: headings and comments, which are the file's, not a record's
SHARED = ("public",)
"""Scopes that are read beside every other one (clawseed's namespace of that name)."""
QUARANTINE = "memops:quarantine"
TOMBSTONE = "memops:tombstone"
RETIRED = (QUARANTINE, TOMBSTONE)
INTENTS = (
    "update", "insert", "redact", "promote", "demote", "move", "merge", "supersede", "quarantine",
    "tombstone",
)  # fmt: skip
"""What a change may mean for its record, the gravest last."""
_LOOKS = 32  # rows that are passed over in the time in which one is looked for
MODEL = "model"  # source and tag of what a model wrote

RECORDS = pl.Schema(
    {
        "id": pl.String(),
        "scope": pl.String(),
        "key": pl.String(),
        "subject": pl.String(),
        "form": pl.String(),
        "role": pl.String(),
        "block": pl.String(),
        "kind": pl.String(),
        "text": pl.String(),
        "tier": pl.String(),
        "importance": pl.Float64(),
        "confidence": pl.Float64(),
        "pinned": pl.Boolean(),
        "access_count": pl.Int64(),
        "created_at": INSTANT,
        "updated_at": INSTANT,
        "accessed_at": INSTANT,
        "expires_at": INSTANT,
        "valid_from": INSTANT,
        "valid_to": INSTANT,
        "superseded_by": pl.String(),
        "source": pl.String(),
        "sensitivity": pl.String(),
        "origin": pl.String(),
        "tags": pl.List(pl.String()),
        "extra": pl.String(),
    }
)

CHANGES = pl.Schema(
    {
        "action": pl.String(),  # put, edit, delete
        "intent": pl.String(),  # of INTENTS: what the change means for its record
        "rule": pl.String(),
        "code": pl.String(),  # of the reason: `memops.reasons` has its sentence
        "args": pl.String(),  # the reason's arguments, a JSON object; null for none
        "evidence": pl.List(pl.String()),  # ids of the records that the decision rests on
        "derived_from": pl.List(pl.String()),  # ids of the notes that a put was extracted from
        "risk": pl.String(),  # low, medium, high
        "unattended": pl.Boolean(),  # whether it may happen without a person
        "waits": pl.String(),  # a packed reason why not, null where it may
        "clears": pl.List(pl.String()),  # columns that an edit empties
        **RECORDS,
    }
)

COUNTS = pl.Schema(
    {"scope": pl.String(), "kind": pl.String(), "category": pl.String(), "live": pl.Int64()}
)
"""How many live records there are by what floors are set for."""

DEFAULTS: dict[str, Any] = {
    "scope": "default",
    "form": "claim",
    "role": "topic",
    "kind": "note",
    "text": "",
    "tier": "working",
    "importance": 0.5,
    "pinned": False,
    "access_count": 0,
    "sensitivity": "allowed",
    "tags": [],
    "extra": "{}",
}

LIVE = pl.col("superseded_by").is_null()
"""True of a record that recall may return."""
LOOSE = ~pl.col("pinned") & (pl.col("tier") != "core")
"""True of a record that is neither pinned nor core."""
REPLACED = ~LIVE & ~pl.col("superseded_by").is_in([*RETIRED])
"""True of a record that names the newer record which stands in its place."""


def native(name: str) -> pl.Expr:
    """Return a native column that `extra` holds, as text, `name[0]` the first of a list; others are not parsed."""
    extra, key = pl.col("extra"), name.partition("[")[0]
    return pl.when(extra.str.contains(rf"{key}|\\u")).then(extra).str.json_path_match(f"$.{name}")


CATEGORY = native("category")
"""The category that the agent gave a record, null for none."""


def tier_rank(column: str = "tier") -> pl.Expr:
    """Return 0, 1 or 2 for peripheral, working or core; null for none."""
    ranks = {tier: i for i, tier in enumerate(TIERS)}
    return pl.col(column).replace_strict(ranks, default=None, return_dtype=pl.Int8())


def empty() -> pl.DataFrame:
    """Return a table of no records."""
    return RECORDS.to_frame()


def conform(frame: pl.DataFrame, where: str = "records") -> pl.DataFrame:
    """Return the frame as records: defaults filled, columns cast, sorted by id; the only door into the table.

    Raises Corrupt, naming row and column, for a missing or repeated id and a value that does not fit.
    """
    unknown = [name for name in frame.columns if name not in RECORDS]
    if unknown:
        raise Corrupt(f"{where}: unknown column {unknown[0]!r}", "put native columns into `extra`")
    cast = frame.select(
        pl.col(name).cast(dtype, strict=False)
        if name in frame.columns
        else pl.lit(None, dtype).alias(name)
        for name, dtype in RECORDS.items()
    )
    if cast.select(frame.columns).null_count().row(0) != frame.null_count().row(0):
        name = next(n for n in frame.columns if cast[n].null_count() != frame[n].null_count())
        lost = (frame[name].is_not_null() & cast[name].is_null()).arg_true()
        what = f"row {lost[0] + 1}, column {name!r}"
        raise Corrupt(f"{where}: {what}: cannot be read as {RECORDS[name]}")
    out = cast.with_columns(
        pl.col(name).fill_null(pl.lit(value, RECORDS[name])) for name, value in DEFAULTS.items()
    )
    _check(out, where)
    return out.sort("id")


def from_rows(rows: Sequence[dict[str, Any]], where: str = "records") -> pl.DataFrame:
    """Return records made from dictionaries; absent fields take their defaults."""
    present = [name for name in RECORDS if any(name in row for row in rows)]
    stray = next((name for row in rows for name in row if name not in RECORDS), None)
    if stray:
        raise Corrupt(f"{where}: unknown column {stray!r}", "put native columns into `extra`")
    frame = pl.DataFrame(_column(name, rows, where) for name in present)
    return conform(frame, where) if rows else empty()


def from_columns(columns: Mapping[str, Sequence[Any]], where: str = "records") -> pl.DataFrame:
    """Return records made from columns; absent ones take their defaults."""
    try:
        made = [pl.Series(name, values, RECORDS[name]) for name, values in columns.items()]
    except (TypeError, pl.exceptions.PolarsError):
        rows = zip(*columns.values(), strict=True)
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        return from_rows(named, where)  # which names the value
    return conform(pl.DataFrame(made), where)


def only(records: pl.DataFrame, ids: Collection[str] | None) -> pl.DataFrame:
    """Return the records with these ids, in their order; all of them for None."""
    if ids is None:
        return records
    if not len(ids):
        return records.clear()
    wanted = pl.Series("id", ids if isinstance(ids, pl.Series) else sorted(ids), dtype=pl.String)
    if wanted.len() * _LOOKS < records.height and records["id"].is_sorted():
        return records[places(records["id"], wanted.unique().sort())["place"]]
    return records.filter(pl.col("id").is_in(wanted.implode()))


def places(known: pl.Series, ids: pl.Series) -> pl.DataFrame:
    """Return which of the ids are known and where (nth of the ids, place); both are sorted."""
    if known.is_empty():
        ids = ids.clear()
    at = known.search_sorted(ids).clip(0, max(0, known.len() - 1)).alias("place")
    found = pl.DataFrame({"nth": pl.int_range(ids.len(), eager=True), "place": at})
    return found.filter(known.gather(at).eq_missing(ids))


def live_counts(records: pl.DataFrame) -> pl.DataFrame:
    """Return how many live records there are (COUNTS), sorted."""
    *group, _ = COUNTS.names()
    live = records.filter(LIVE).with_columns(category=CATEGORY)
    return live.group_by(group).agg(live=pl.len().cast(pl.Int64)).sort(group)


def instant(text: str | datetime | None) -> datetime | None:
    """Return an aware UTC datetime, or None for what is no instant (a naive or odd time stamp)."""
    try:
        at = datetime.fromisoformat(text) if isinstance(text, str) else text
        return at.astimezone(UTC) if at is not None and at.tzinfo is not None else None
    except (ValueError, OverflowError):  # in UTC it may be beyond the years 1 to 9999
        return None


def after(at: datetime, days: float) -> datetime:
    """Return the instant so many days later, or the last one that a calendar has."""
    try:
        return at + timedelta(days=days)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _column(name: str, rows: Sequence[dict[str, Any]], where: str) -> pl.Series:
    values = [row.get(name) for row in rows]
    try:
        return pl.Series(name, values, dtype=RECORDS[name])
    except (TypeError, pl.exceptions.PolarsError) as error:
        if len(rows) > 1:
            for row in rows:  # one of them cannot be read by itself
                _column(name, [row], where)
        at = rows[0].get("origin") or f"record {rows[0].get('id')!r}"
        what = f"{at}, column {name!r}: cannot be read as {RECORDS[name]}"
        raise Corrupt(f"{where}: {what}", "mend that value") from error


def _check(out: pl.DataFrame, where: str) -> None:
    words = {"tier": TIERS, "kind": KINDS, "sensitivity": SENSITIVITIES, "form": FORMS}
    words["role"] = ROLES
    odd = {name: ~pl.col(name).is_in(known) for name, known in words.items()}
    id_ = pl.col("id")
    wrong = {"id": id_.is_null() | id_.is_duplicated(), **odd}
    if not any(out.select(test.any() for test in wrong.values()).row(0)):
        return
    if (missing := out["id"].is_null().arg_true()).len():
        raise Corrupt(f"{where}: row {missing[0] + 1} has no id")
    if out["id"].n_unique() != out.height:
        twice = out["id"].filter(out["id"].is_duplicated()).min()
        raise Corrupt(f"{where}: id {twice!r} stands twice")
    name, at = next((n, out.filter(test)) for n, test in odd.items() if out.filter(test).height)
    said = f"{where}: record {at['id'][0]!r}: unknown {name} {at[name][0]!r}"
    raise Corrupt(f"{said}; known: {', '.join(words[name])}")
