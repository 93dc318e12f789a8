"""Bases: what stores of rows share, and all that a store in one file needs beside its format."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from functools import partial, reduce
from operator import and_
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import polars as pl

from memops.errors import Corrupt, Locked
from memops.plan import outcome
from memops.schema import RECORDS, conform, live_counts, only
from memops.stores import CAPABILITIES, Keep, State, Undo, Usual, Work, Written
from memops.stores.disk import put_aside, read_whole, replace_whole, sweep
from memops.stores.formats import json_line

_TRIES = 3
Lines = dict[str, str]
"""The native form of a file: id to JSON line, in the file's order."""


class RowStore:
    """A store of rows that stand by themselves, are written in one batch and known by their id."""

    kind: ClassVar[str]
    capabilities: ClassVar[frozenset[str]] = frozenset(CAPABILITIES)
    holds: ClassVar[frozenset[str]] = frozenset(RECORDS.names())
    unsigned: ClassVar[bool] = False
    family: ClassVar[str] = "rows"
    marks: ClassVar[tuple[str, ...]] = ()
    usual: ClassVar[Usual] = ("", (), "")
    paths: ClassVar[tuple[str, ...]] = ("FILE",)

    def batches(self, changes: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Yield the whole plan."""
        if changes.height:
            yield changes

    def locator(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record's id."""
        return {"id": record["id"]}

    def recent(self, since: datetime) -> frozenset[str]:
        """Return no ids: a row has no file to be left alone."""
        return frozenset()


class Content(NamedTuple):
    """What the bytes of a file say: records, their ids in the file's order, and digests of its lines if it has any."""

    records: pl.DataFrame
    order: pl.Series
    lines: pl.Series | None = None


_read: dict[tuple[str, bytes], Content] = {}
"""What the last two files said, by kind and digest: a night reads what it copied and what it wrote."""


class FileStore(RowStore):
    """A file that is read and rewritten whole, never in place; a kind says how it is read and written."""

    file: ClassVar[str]
    """The file's name in a copy."""

    def __init__(self, path: str) -> None:
        self.path = Path(path).expanduser().absolute()
        self.address = f"{self.kind}:{path}"

    def place(self) -> Path:
        """Return where the file is, or would be."""
        return self.path.resolve()

    def table(self, data: bytes, where: str) -> pl.DataFrame:
        """Return the rows that a file's bytes hold, in the file's order; raises Corrupt."""
        raise NotImplementedError

    def written(self, lines: Lines) -> bytes:
        """Return the bytes of a file that holds these lines."""
        raise NotImplementedError

    def content(self, data: bytes, where: str) -> Content:
        """Return what a file's bytes say."""
        table = self.table(data, where)
        return Content(conform(table, where), table["id"])

    def lines(self, data: bytes, where: str) -> Lines:
        """Return the lines of a file's rows, by id."""
        known = self._known(data, where)
        rows = known.order.to_frame().join(known.records, on="id", maintain_order="left").to_dicts()
        return {row["id"]: json_line(row) for row in rows}

    def identity(self) -> dict[str, str]:
        """Return kind and path; every such file has our own columns."""
        return {"kind": self.kind, "path": str(self.place()), "schema": "memops records"}

    def copy(self, into: Path) -> dict[str, Any]:
        """Copy the file, in one state and if it can be read."""
        return self._copied(read_whole(self.path)[0], into)

    def load(self, raw: Path, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the records of such a copy."""
        return self._records(raw / self.file, ids)

    def read(self, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the file's records."""
        return self._records(self.path, ids)

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return the same records: every column has its place."""
        return records.sort("id")

    def write(self, work: Work) -> list[Written]:
        """Rewrite the file with one batch of changes."""
        where = str(self.path)

        def change(data: bytes) -> tuple[list[Written], Lines]:
            live, lines = self._known(data, where).records, self.lines(data, where)
            answers, undo, new = _changed(lines, live, work, where)
            if any(answer.state == "applied" for answer in answers):
                work.keep(undo)
            return answers, new

        return self._rewrite(change)

    def revert(self, undo: list[Undo]) -> list[Written]:
        """Put lines back at their places, where what stands there is still ours."""
        return self._rewrite(lambda data: _reverted(self.lines(data, str(self.path)), undo))

    def settle(self) -> None:
        """Remove the draft of a file that a killed process left."""
        sweep(self.path)

    def restore(self, raw: Path, keep: Keep) -> dict[str, int]:
        """Put the copy in place of the file; one that is damaged is put aside."""
        self.settle()
        data, _ = read_whole(raw / self.file)
        if not self.path.exists():
            keep(None)
            replace_whole(self.path, data)
            return {}
        for _ in range(_TRIES):
            was, stamp = read_whole(self.path)
            try:
                keep(partial(self._copied, was))
            except Corrupt:
                put_aside(self.path)
                keep(None)
            if replace_whole(self.path, data, unless_changed=stamp):
                return {}
        raise self._busy()

    def purge(self, ids: Collection[str], texts: Collection[str] = ()) -> None:
        """Rewrite the file without these lines."""
        self.settle()

        def change(data: bytes) -> tuple[list[Written], Lines]:
            lines = self.lines(data, str(self.path))
            said = [Written(i, "applied" if i in lines else "already") for i in ids]
            return said, {id_: line for id_, line in lines.items() if id_ not in set(ids)}

        self._rewrite(change)

    def forget(self, raw: Path, ids: Collection[str]) -> None:
        """Rewrite a copy without these lines."""
        type(self)(str(raw / self.file)).purge(ids)

    def _copied(self, data: bytes, into: Path) -> dict[str, Any]:
        rows = self._known(data, str(self.path)).records.height
        replace_whole(into / self.file, data)
        return {"consistency": "per-file", "rows": rows}

    def _records(self, path: Path, ids: Collection[str] | None) -> pl.DataFrame:
        return only(self._known(read_whole(path)[0], str(path)).records, ids)

    def _rewrite(self, change: Callable[[bytes], tuple[list[Written], Lines]]) -> list[Written]:
        for _ in range(_TRIES):
            data, stamp = read_whole(self.path)
            answers, new = change(data)
            if all(answer.state != "applied" for answer in answers):
                return answers
            if replace_whole(self.path, self.written(new), unless_changed=stamp):
                return answers
        raise self._busy()

    def _busy(self) -> Locked:
        return Locked(f"{self.path} is being written", "try again when its writer is done")

    def _known(self, data: bytes, where: str) -> Content:
        key = self.kind, hashlib.sha256(data).digest()
        if key not in _read:
            made = self.content(data, where)
            for old in [*_read][:-1]:
                del _read[old]
            _read[key] = made
        return _read[key]


def last_read(kind: str) -> Content | None:
    """Return what the file of a kind said that was read last."""
    return next((held for (one, _), held in reversed(_read.items()) if one == kind), None)


def _changed(
    lines: Lines, live: pl.DataFrame, work: Work, where: str
) -> tuple[list[Written], Iterator[Undo], Lines]:
    """What becomes of each change, how it is undone, and the lines as they are then."""
    answers, made = _answered(live, work)
    done = [answer.id for answer in answers if answer.state == "applied"]
    new = lines | {id_: made[id_] for id_ in done if id_ in made}
    for gone in {*done} - made.keys():
        del new[gone]
    return answers, _images(lines, made, done, where), new


def _answered(live: pl.DataFrame, work: Work) -> tuple[list[Written], Lines]:
    """What becomes of each change, and the lines that are new or other than before."""
    ids = work.changes["id"]
    before = only(work.before, ids)
    planned = conform(outcome(before, work.changes))
    states = _states(ids, only(live, ids), before, planned)
    refused = work.check(live, live_counts(live))
    done = {id_ for id_, (state, _) in states.items() if state == "applied"}
    states |= {id_: ("refused", why) for id_, why in refused.items() if id_ in done}
    written = planned.filter(pl.col("id").is_in([*done - refused.keys()]))
    made = {row["id"]: json_line(row) for row in written.iter_rows(named=True)}
    wanted = {*planned["id"]}
    return [Written(id_, *states[id_], id_ if id_ in wanted else None) for id_ in ids], made


def _images(lines: Lines, made: Lines, done: list[str], where: str) -> Iterator[Undo]:
    """What the lines of changed records were and will be; one after the other, as they may be very many."""
    asked = {*done}
    place = {id_: nth for nth, id_ in enumerate(lines) if id_ in asked}
    for id_ in done:
        was = {"nth": place[id_], "line": lines[id_]} if id_ in place else None
        yield Undo(id_, where, was, {"line": made[id_]} if id_ in made else None)


def _states(
    ids: pl.Series, live: pl.DataFrame, before: pl.DataFrame, after: pl.DataFrame
) -> dict[str, tuple[State, str]]:
    """What becomes of each change, by records as they are, as the plan saw them and would leave them."""
    held = (records.with_columns(here=pl.lit(True)) for records in (live, after, before))
    asked = ids.to_frame()
    found = [asked.join(r, on="id", how="left", maintain_order="left") for r in held]
    names = [name for name in found[0].columns if name != "id"]
    done, open_ = (
        reduce(and_, (found[0][name].eq_missing(other[name]) for name in names))
        for other in found[1:]
    )
    told = pl.DataFrame({"done": done, "open": open_, "here": found[0]["here"]}).select(
        pl.when("done").then(pl.lit("already")).when("open").then(pl.lit("applied")).otherwise(pl.lit("stale")),
        why=pl.when(pl.col("done") | pl.col("open")).then(pl.lit(""))
        .when("here").then(pl.lit("skip.changed")).otherwise(pl.lit("skip.gone")),
    )  # fmt: skip
    return dict(zip(ids, told.iter_rows(), strict=True))


def _state(live: Any, before: Any, after: Any) -> tuple[State, str]:
    if live == after:
        return "already", ""
    if live == before:
        return "applied", ""
    return "stale", "skip.gone" if live is None else "skip.changed"


def _reverted(lines: Lines, undo: list[Undo]) -> tuple[list[Written], Lines]:
    new, absent, answers = dict(lines), [], []
    for entry in undo:
        before = entry.before and entry.before["line"]
        after = entry.after and entry.after["line"]
        state, why = _state(lines.get(entry.id), after, before)
        answers.append(Written(entry.id, state, why, entry.id if before else None))
        if state != "applied":
            continue
        if before is None:
            del new[entry.id]
        elif entry.id in lines:
            new[entry.id] = before
        else:
            absent.append((entry.before["nth"], entry.id, before))
    rows = list(new.items())
    for nth, id_, before in sorted(absent):
        rows.insert(nth, (id_, before))
    return answers, dict(rows)
