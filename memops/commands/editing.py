"""Edits by hand of named records: change, pin, forget, recover; each is a plan through the same apply.

A person may do what no rule may, so these plans have the authority "person".
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from memops import apply as applying
from memops import overlay, snapshot
from memops.commands import reviewing
from memops.commands.plan_view import described
from memops.commands.selecting import meant
from memops.context import Context
from memops.errors import MemopsError
from memops.hygiene.moving import moved
from memops.plan import PUTS, edit, nothing, outcome, put, retire
from memops.reasons import sentences
from memops.rules import HYGIENE, propose
from memops.safety.looked import found
from memops.schema import KINDS, LIVE, RECORDS, TIERS, TOMBSTONE
from memops.settings import Settings
from memops.state import archive, planfile
from memops.state.runs import find_run
from memops.state.sources import clock, take_snapshot
from memops.stores import open_store

Make = Callable[[pl.DataFrame, datetime], pl.DataFrame]

_LINE = r"\.md:[0-9a-f]{12}:\d+$"  # the id of a line, which names bytes that are gone
_ECHOED = 20  # changes that are shown as before and after
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True)
class Asked:
    """Of which store a person asks something, and whether for a plan alone."""

    name: str
    settings: Settings
    now: datetime | None = None
    plan_only: bool = False

    def identity(self) -> dict[str, str]:
        """Return what tells the store from any other."""
        return open_store(self.settings.store(self.name).address).identity()


def change_record(asked: Asked, id: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Give a live record new values for text, kind, tier or importance; a text as the store keeps it.

    Raises MemopsError for values that no record may have, and for a text that holds a secret.
    """
    _check(fields, asked.settings)
    store = open_store(asked.settings.store(asked.name).address)
    wanted = dict(fields)

    def make(records: pl.DataFrame, at: datetime) -> pl.DataFrame:
        row = _named(records, [id], asked, live=True)
        if "text" in fields:
            kept = store.project(row.with_columns(text=pl.lit(fields["text"])))
            wanted["text"] = "".join(kept["text"]) or fields["text"]
        new = {n: v for n, v in wanted.items() if row[n][0] != v}
        if not new:
            return nothing()
        changed = new | ({"updated_at": pl.lit(at)} if "text" in new else {})
        higher = TIERS.index(new.get("tier", row["tier"][0])) - TIERS.index(row["tier"][0])
        intent = "promote" if higher > 0 else "demote" if higher else "update"
        told = {"fields": list(new)}
        return edit(row, intent, "person.changed", told, evidence=[], risk="low", **changed)

    said = carried_out("edit", asked, make)
    note = {"note": "the store keeps it so, not as it was given"}
    return said if wanted == fields else said | note


def pin_records(asked: Asked, ids: Sequence[str], pinned: bool = True) -> dict[str, Any]:
    """Pin live records: no rule demotes, retires, rewrites or deletes them; or unpin records."""
    verb, code = ("pin", "person.pinned") if pinned else ("unpin", "person.unpinned")

    def make(records: pl.DataFrame, at: datetime) -> pl.DataFrame:
        rows = _named(records, ids, asked, live=pinned).filter(pl.col("pinned") != pinned)
        return edit(rows, "update", code, pinned=pinned, evidence=[], risk="low")

    return carried_out(verb, asked, make)


unpin_records = partial(pin_records, pinned=False)
"""Unpins records, so that the rules treat them as any other."""


def forget_records(
    asked: Asked, ids: Sequence[str], last: timedelta | None = None
) -> dict[str, Any]:
    """Hide records from recall, those named and the live ones stored within `last`."""
    if bool(ids) == (last is not None):
        hint = "memops records forget STORE ID, or memops records forget STORE --last 7d"
        raise MemopsError("name the records to forget, or give --last", hint)

    def make(records: pl.DataFrame, at: datetime) -> pl.DataFrame:
        rows = _named(records, ids, asked, live=False)
        code, args = "person.forgot", dict[str, str]()
        if last is not None:
            rows = records.filter(LIVE & pl.col("created_at").is_between(at - last, at))
            code, args = "person.forgot_since", {"since": f"{at - last:%Y-%m-%d %H:%M:%SZ}"}
        rows = rows.filter(pl.col("superseded_by").ne_missing(pl.lit(TOMBSTONE)))
        return retire(rows, at, code, args, evidence=[], risk="low")

    return carried_out("forget", asked, make)


def recover_records(asked: Asked, ids: Sequence[str]) -> dict[str, Any]:
    """Bring back records that are hidden, left the store (as a new line of a file), or were archived."""
    identity, state = asked.identity(), asked.settings.state
    kept = archive.read(state, identity)
    left = overlay.archived_ids(overlay.read(snapshot.overlay_path(state, identity)))
    code = "person.recovered"

    def make(records: pl.DataFrame, at: datetime) -> pl.DataFrame:
        deleted = kept.join(records.select("id"), on="id", how="anti")
        rows = _named(pl.concat([records, deleted]).sort("id"), ids, asked, live=False)
        clear = {"superseded_by": None, "valid_to": None, "expires_at": None}
        in_file = pl.col("id").str.contains(_LINE)
        blank = [pl.lit(v, RECORDS[n]).alias(n) for n, v in clear.items()]
        gone = rows.join(deleted.select("id"), on="id", how="semi").with_columns(blank)
        hidden = rows.filter(~LIVE).join(gone.select("id"), on="id", how="anti")
        out = hidden.filter(pl.col("id").is_in(left.implode()))
        here = hidden.join(out.select("id"), on="id", how="anti")
        return pl.concat(
            [
                moved(out.with_columns(blank), "move", code),
                edit(here, "update", code, clears=[*clear], evidence=[], risk="low"),
                put(gone.filter(~in_file), code, evidence=[], risk="low"),
                moved(gone.filter(in_file), "move", code).filter(PUTS),
            ]
        )

    return carried_out("recover", asked, make)


def duration(text: str) -> timedelta:
    """Return the time that a text such as 12h, 7d or 2w says; raises MemopsError."""
    said = re.fullmatch(r"(\d{1,5})([hdw])", text.strip())
    if not said:
        raise MemopsError(f"{text!r} is no length of time", "write 12h, 7d or 2w")
    return timedelta(**{_UNITS[said[2]]: int(said[1])})


def carried_out(rule: str, asked: Asked, make: Make) -> dict[str, Any]:
    """Snapshot, plan with a person's authority, apply unless only the plan is asked for."""
    at, settings = asked.now or clock(), asked.settings
    taken = snapshot.open_snapshot(Path(take_snapshot(asked.name, settings, at)["path"]))
    records = taken.records()
    changes = make(records, at).with_columns(rule=pl.lit(rule)).sort("id")
    if changes.is_empty():
        return {"plan": None, "ops": 0, "ids": [], "applied": 0, "skipped": [], "tonight": []}
    of = (taken, records, changes, nothing(), settings.policy, at, [rule], "person")
    made = planfile.save(settings.state, planfile.Planned(*of), clock())
    said: dict[str, Any] = {"plan": made.id, "path": str(made.path), "ops": changes.height}
    said |= {"ids": changes["id"].to_list(), "applied": 0, "skipped": []}
    first = range(1, min(changes.height, _ECHOED) + 1)
    said |= {"changes": described(reviewing.opened(made, settings.state), first)}
    ctx = Context(now=at, policy=settings.policy)
    tonight, _ = propose(outcome(records, changes), ctx, HYGIENE)
    mine = tonight.filter(pl.col("id").is_in(changes["id"].implode())).sort("id")
    said |= {"tonight": mine.select("id", "rule", sentences(mine)).to_dicts()}
    if asked.plan_only:
        return said
    done = applying.apply(made, settings.state, clock(), approve=True)
    moved = find_run(done["run"], settings.state).moved()
    said |= {k: v for k, v in done.items() if k not in ("plan", "already", "path")}
    ids = [moved.get(i, i) for i in said["ids"]]
    return said | {"ids": ids, "undo": f"memops rollback {done['run']}"}


def _named(records: pl.DataFrame, ids: Sequence[str], asked: Asked, live: bool) -> pl.DataFrame:
    """The records of these ids; raises MemopsError for one that is not there, or hidden."""
    known = meant(records, ids, asked.name, "; nothing was changed")
    rows = records.filter(pl.col("id").is_in(known))
    hidden = rows.filter(~LIVE)
    if live and hidden.height:
        first = hidden.row(0, named=True)
        link = first["superseded_by"]
        message = f"record {first['id']!r} is hidden ({link}); nothing was changed"
        raise MemopsError(message, f"see `memops records show {asked.name} {first['id']}`")
    return rows


def _check(fields: dict[str, Any], settings: Settings) -> None:
    if not fields:
        raise MemopsError("nothing to change", "give --text, --kind, --tier or --importance")
    for field, known in (("kind", KINDS), ("tier", TIERS)):
        if field in fields and fields[field] not in known:
            raise MemopsError(f"unknown {field} {fields[field]!r}", f"known: {', '.join(known)}")
    if not 0 <= fields.get("importance", 0.0) <= 1:
        raise MemopsError(f"importance {fields['importance']} is not between 0 and 1")
    text = fields.get("text")
    if text is not None and not text.strip():
        raise MemopsError("a record without text says nothing", "use `memops records forget`")
    kinds = found(pl.Series([text or ""]), settings.policy.secrets)["kind"].unique().sort()
    if kinds.len():
        hint = "keep it out of memory; if it is none, name it in policy secrets.allow"
        said = f"the new text holds a secret: {', '.join(kinds)}; nothing was changed"
        raise MemopsError(said, hint)
