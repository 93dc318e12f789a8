"""Tables: a file of records in our own columns, as JSON lines or as Parquet.

Both are strict: what does not fit a column is an error that names the line. A file is rewritten
whole and atomically, never in place; lines that no change touches keep their bytes.
"""

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
from memops.stores import CAPABILITIES, Keep, State, Undo, Work, Written
from memops.stores.disk import put_aside, read_whole, replace_whole, sweep
from memops.stores.tables.formats import json_line, lines_of, packed, parsed, unpacked

_TRIES = 3
Lines = dict[str, str]
"""The native form of a file: id to JSON line, in the file's order."""


class _Content(NamedTuple):
    """What the bytes of a file say: records, their ids in the file's order, and its lines if it has any."""

    records: pl.DataFrame
    order: pl.Series
    lines: pl.Series | None = None


_read: dict[tuple[str, bytes], _Content] = {}
"""What the last bytes said, by kind of file and digest: a night reads the same ones many times."""


class _Table:
    """What both kinds of file share: everything but the two directions of their format."""

    kind: ClassVar[str]
    capabilities: ClassVar[frozenset[str]] = frozenset(CAPABILITIES)
    holds: ClassVar[frozenset[str]] = frozenset(RECORDS.names())
    _file: ClassVar[str]

    def __init__(self, path: str) -> None:
        self.path = Path(path).expanduser().absolute()
        self.address = f"{self.kind}:{path}"

    def place(self) -> Path:
        return self.path.resolve()

    def identity(self) -> dict[str, str]:
        return {"kind": self.kind, "path": str(self.place()), "schema": "memops records"}

    def copy(self, into: Path) -> dict[str, Any]:
        return self._copied(read_whole(self.path)[0], into)

    def _copied(self, data: bytes, into: Path) -> dict[str, Any]:
        records = self._frame(data, str(self.path))
        replace_whole(into / self._file, data)
        return {"consistency": "per-file", "rows": records.height}

    def load(self, raw: Path, ids: Collection[str] | None = None) -> pl.DataFrame:
        data, _ = read_whole(raw / self._file)
        return only(self._frame(data, str(raw / self._file)), ids)

    def read(self, ids: Collection[str] | None = None) -> pl.DataFrame:
        data, _ = read_whole(self.path)
        return only(self._frame(data, str(self.path)), ids)

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        return records.sort("id")

    def batches(self, changes: pl.DataFrame) -> Iterator[pl.DataFrame]:
        if changes.height:
            yield changes

    def write(self, work: Work) -> list[Written]:
        where = str(self.path)

        def change(data: bytes) -> tuple[list[Written], Lines]:
            live, lines = self._frame(data, where), self._lines(data, where)
            answers, undo, new = _changed(lines, live, work, where)
            if undo:
                work.keep(undo)
            return answers, new

        return self._rewrite(change)

    def revert(self, undo: list[Undo]) -> list[Written]:
        return self._rewrite(lambda data: _reverted(self._lines(data, str(self.path)), undo))

    def settle(self) -> None:
        sweep(self.path)

    def restore(self, raw: Path, keep: Keep) -> dict[str, int]:
        self.settle()
        data, _ = read_whole(raw / self._file)
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
        self.settle()

        def change(data: bytes) -> tuple[list[Written], Lines]:
            lines = self._lines(data, str(self.path))
            said = [Written(i, "applied" if i in lines else "already") for i in ids]
            return said, {id_: line for id_, line in lines.items() if id_ not in set(ids)}

        self._rewrite(change)

    def forget(self, raw: Path, ids: Collection[str]) -> None:
        type(self)(str(raw / self._file)).purge(ids)

    def locator(self, record: Mapping[str, Any]) -> dict[str, Any]:
        return {"id": record["id"]}

    def recent(self, since: datetime) -> frozenset[str]:
        return frozenset()

    def _rewrite(self, change: Callable[[bytes], tuple[list[Written], Lines]]) -> list[Written]:
        for _ in range(_TRIES):
            data, stamp = read_whole(self.path)
            answers, new = change(data)
            if all(answer.state != "applied" for answer in answers):
                return answers
            if replace_whole(self.path, self._bytes(new), unless_changed=stamp):
                return answers
        raise self._busy()

    def _busy(self) -> Locked:
        return Locked(f"{self.path} is being written", "try again when its writer is done")

    def _frame(self, data: bytes, where: str) -> pl.DataFrame:
        return self._known(data, where).records

    def _known(self, data: bytes, where: str) -> _Content:
        key = self.kind, hashlib.sha256(data).digest()
        if key not in _read:
            made = self._content(data, where)
            _read.clear()
            _read[key] = made
        return _read[key]

    def _content(self, data: bytes, where: str) -> _Content:
        raise NotImplementedError

    def _lines(self, data: bytes, where: str) -> Lines:
        raise NotImplementedError

    def _bytes(self, lines: Lines) -> bytes:
        raise NotImplementedError


class Jsonl(_Table):
    """A file of JSON lines; absent fields take their defaults, unknown ones are an error."""

    kind = "jsonl"
    _file = "records.jsonl"

    def _content(self, data: bytes, where: str) -> _Content:
        lines = pl.Series("line", lines_of(data), pl.Binary)
        before = next((held for (kind, _), held in _read.items() if kind == self.kind), None)
        if before and (known := _as_before(lines, before, where)):
            return known
        table = parsed(data, where)
        return _Content(conform(table, where), table["id"], lines)

    def _lines(self, data: bytes, where: str) -> Lines:
        order = self._known(data, where).order
        return dict(zip(order, data.decode().split("\n"), strict=False))

    def _bytes(self, lines: Lines) -> bytes:
        return _joined(lines)


class Parquet(_Table):
    """A Parquet file with page checksums, verified when it is read."""

    kind = "parquet"
    _file = "records.parquet"

    def _content(self, data: bytes, where: str) -> _Content:
        table = unpacked(data, where)
        return _Content(conform(table, where), table["id"])

    def _lines(self, data: bytes, where: str) -> Lines:
        known = self._known(data, where)
        rows = known.order.to_frame().join(known.records, on="id", maintain_order="left").to_dicts()
        return {row["id"]: json_line(row) for row in rows}

    def _bytes(self, lines: Lines) -> bytes:
        rows = conform(parsed(_joined(lines), "records"))
        order = pl.DataFrame({"id": list(lines)}, schema={"id": pl.String()})
        return packed(order.join(rows, on="id", maintain_order="left"))


def _as_before(lines: pl.Series, before: _Content, where: str) -> _Content | None:
    """What lines say of which most stood in the file that was read last; None if it must be read whole."""
    places = before.records["id"].search_sorted(before.order)
    known = pl.DataFrame({"line": before.lines, "at": places})
    at = lines.to_frame().join(known, on="line", how="left", maintain_order="left")["at"]
    fresh = at.is_null()
    if fresh.sum() * 2 > lines.len():
        return None
    try:
        new = parsed(b"\n".join(lines.filter(fresh)), where)
        records = pl.concat([before.records[at.drop_nulls()], conform(new, where)]).sort("id")
    except Corrupt:  # which names its line among the new ones only
        return None
    if records["id"].is_duplicated().any():
        return None
    order = pl.Series("id", before.records["id"].gather(at), pl.String)
    order = order.scatter(fresh.arg_true(), new["id"])
    return _Content(records, order, lines)


def _changed(
    lines: Lines, live: pl.DataFrame, work: Work, where: str
) -> tuple[list[Written], list[Undo], Lines]:
    ids = work.changes["id"]
    before = only(work.before, ids)
    planned = conform(outcome(before, work.changes))
    states = _states(ids, only(live, ids), before, planned)
    refused = work.check(live, live_counts(live))
    there = {id_ for id_, (state, _) in states.items() if state == "applied"} - {*refused}
    rows = planned.filter(pl.col("id").is_in(list(there))).iter_rows(named=True)
    made = {row["id"]: json_line(row) for row in rows}
    wanted, answers, undo, new = {*planned["id"]}, [], [], dict(lines)
    place = {id_: nth for nth, id_ in enumerate(lines)}
    for id_ in ids:
        state, why = states[id_]
        if state == "applied" and id_ in refused:
            state, why = "refused", refused[id_]
        answers.append(Written(id_, state, why, id_ if id_ in wanted else None))
        if state != "applied":
            continue
        was = {"nth": place[id_], "line": lines[id_]} if id_ in lines else None
        if id_ in made:
            new[id_] = made[id_]
        else:
            del new[id_]
        undo.append(Undo(id_, where, was, {"line": made[id_]} if id_ in made else None))
    return answers, undo, new


def _states(
    ids: pl.Series, live: pl.DataFrame, before: pl.DataFrame, after: pl.DataFrame
) -> dict[str, tuple[State, str]]:
    """What becomes of each change, by records as they are, as the plan saw them and would leave them."""
    found = [
        ids.to_frame().join(
            records.with_columns(here=pl.lit(True)), on="id", how="left", maintain_order="left"
        )
        for records in (live, after, before)
    ]
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


def _joined(lines: Lines) -> bytes:
    return "".join(f"{line}\n" for line in lines.values()).encode()
