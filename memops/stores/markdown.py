"""Markdown: what the stores of Markdown notes share, an agent's grammar and locks aside.

A record is one entry of a file. Edits touch only the bytes of their entries and go through
`carry.replace`, so that no line which the agent writes meanwhile is lost: a file that is held
open, or being written, is left for later and said to be stale. What the files have no place for
(tier, links, counts) is the overlay's; the bytes of a superseded line leave the file.
"""

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from memops.errors import Locked, StoreNotFound
from memops.schema import DEFAULTS, RECORDS, only
from memops.stores import CAPABILITIES, Undo, Work, Written
from memops.stores import markdown_files as files
from memops.stores.carry import Build, Pace
from memops.stores.lockfile import LockFile, hold
from memops.stores.markdown_edit import Edit, FileState, Wish, edited
from memops.stores.markdown_forget import without
from memops.stores.markdown_lines import Entry, Grammar, entries
from memops.stores.markdown_records import (
    ID,
    identified,
    path_of,
    projected,
    table,
)
from memops.stores.markdown_swap import Swap, recovered, swapped, touches
from memops.stores.markdown_undo import reverted

_Cached = tuple[tuple[int, int, int], list[tuple[str, Entry]]]


class MarkdownStore:
    """A root folder of Markdown notes; subclasses name its grammar, files and locks."""

    kind: ClassVar[str]
    capabilities: ClassVar[frozenset[str]] = frozenset(CAPABILITIES)
    holds: ClassVar[frozenset[str]] = frozenset({"id", "text", "origin", "extra"})
    grammar: ClassVar[Grammar]

    def __init__(self, path: str) -> None:
        self.path = Path(path).expanduser().absolute()
        self.address = f"{self.kind}:{path}"
        self.pace = Pace()
        self._parsed: dict[str, _Cached] = {}
        self._moved: dict[str, str] = {}  # what this object has written: ids then and now,
        self._gone: set[str] = set()  # and records whose lines it took out

    def wanted(self, path: str) -> bool:
        """Tell whether a path below the root belongs to the memory; a folder's ends in '/'."""
        raise NotImplementedError

    def reads(self, path: str) -> bool:
        """Tell whether a file holds records; others are only copied."""
        return True

    def planned(self, record: dict[str, Any]) -> tuple[str, str, str] | None:
        """Return file, prefix and suffix of a record that is to be inserted."""
        raise NotImplementedError

    def locks(self, path: str) -> list[LockFile]:
        """Return the agent's own locks that guard a file."""
        raise NotImplementedError

    def identity(self) -> dict[str, str]:
        """The real path: a link to a workspace is no other workspace."""
        return {"kind": self.kind, "path": str(self.path.resolve()), "schema": "markdown"}

    def copy(self, into: Path) -> dict[str, Any]:
        """Every file as it is in one state; what was passed over is named."""
        return files.copy(self.path, self.wanted, into) | {"times": "local times are taken as UTC"}

    def load(self, raw: Path, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the records of a copy; only files that may hold one of the ids are parsed."""
        named = _files_of(ids)
        found = [
            item
            for path, data, _ in files.copied(raw)
            if self.reads(path) and (named is None or path in named)
            for item in identified(entries(data, path, self.grammar))
        ]
        return only(table(found), ids)

    def read(self, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the records of the files as they are."""
        named = _files_of(ids)
        live = self._live()
        found = [live[path] for path in live if named is None or path in named]
        return only(table([item for items in found for item in items]), ids)

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        """What leaves the files is not in it; the overlay keeps it."""
        return projected(records, self.grammar, self.planned)

    def batches(self, changes: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """One file at a time; insertions first, so that what replaces a line is there before."""
        where = [self._where(row) for row in changes.to_dicts()]
        new = [ID.match(key) is None for key in changes["id"]]
        split = changes.with_columns(
            _where=pl.Series(where, dtype=pl.String), _new=pl.Series(new, dtype=pl.Boolean)
        )
        for part in split.partition_by("_new", "_where", maintain_order=True, as_dict=False):
            if part["_new"][0]:
                yield part.drop("_new", "_where")
        old = split.filter(~pl.col("_new")).sort("_where", maintain_order=True)
        for part in old.partition_by("_where", maintain_order=True):
            yield part.drop("_new", "_where")

    def write(self, work: Work) -> list[Written]:
        """Edit each file once, by its entries' exact bytes."""
        before = work.before.join(work.changes.select("id"), on="id", how="semi")
        was = {row["id"]: row for row in before.to_dicts()}
        wishes: dict[str, list[Wish]] = {}
        for row in work.changes.to_dicts():
            wish = Wish(row["id"], was.get(row["id"]), _after(was.get(row["id"]), row))
            wishes.setdefault(self._where(row | (wish.after or {})), []).append(wish)
        return [a for path in sorted(wishes) for a in self._write(path, wishes[path], work)]

    def revert(self, undo: list[Undo]) -> list[Written]:
        """Put back what edits took, file by file; what the agent added since stays."""
        by_file: dict[str, list[Undo]] = {}
        for item in undo:
            by_file.setdefault(item.where, []).append(item)
        return [answer for path, items in by_file.items() for answer in self._revert(path, items)]

    def restore(self, raw: Path) -> None:
        """Make the memory's files those of the copy; raises Locked before it changes anything."""
        listed = list(files.copied(raw))
        self.path.mkdir(parents=True, exist_ok=True)
        live = files.unheld(self.path, self.wanted)
        for path in sorted(live - {path for path, _, _ in listed}):
            with hold(self.locks(path)):
                files.remove(self.path, path)
        for path, data, info in listed:
            with hold(self.locks(path)):
                files.put(self.path, path, data, info["mode"], info["mtime_ns"])

    def purge(self, ids: Sequence[str]) -> None:
        """Cut the entries out, those of files that are otherwise only read, too."""
        by_file: dict[str, set[str]] = {}
        for key in ids:
            by_file.setdefault(path_of({"id": key}) or "", set()).add(key)
        for path, keys in sorted(by_file.items()):
            why = path and self._swapped(path, self._without(path, keys), lambda: None, make=False)
            if why:
                raise Locked(f"{self.path / path}: {why}", "try again: what is gone stays gone")

    def locator(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """File and line, from 1, as they were read."""
        path, _, line = (record.get("origin") or "").rpartition("#")
        return {"path": path, "line": int(line)} if line.isdigit() else {"id": record["id"]}

    def recent(self, since: datetime) -> frozenset[str]:
        """Time stamps are the agent's: our own edits keep them."""
        written = {
            found.path
            for found in files.walk(self.path, self.wanted)
            if not found.why and datetime.fromtimestamp(found.stat.st_mtime, UTC) >= since
        }
        return frozenset(key for path in written for key, _ in self._live().get(path, []))

    def _swapped(self, path: str, build: Build, keep: Callable[[], None], make: bool = True) -> str:
        if not self.wanted(path):
            raise StoreNotFound(f"{path!r} is no memory file of {self.address}")
        self._parsed.pop(path, None)
        return swapped(self.path, path, Swap(build, keep, self.pace, self.locks(path), make))

    def _without(self, path: str, keys: set[str]) -> Build:
        def build(data: bytes | None) -> bytes | None:
            return without(data, path, keys, self.grammar) if data else None

        return build

    def _where(self, row: dict[str, Any]) -> str:
        """The file that a change goes to, or '' for one that goes to none."""
        if path := path_of(row):
            return path
        asked = self.planned(row)
        return asked[0] if asked else ""

    def _live(self) -> dict[str, list[tuple[str, Entry]]]:
        """The entries of every file; one that has not changed is not parsed again."""
        out = {}
        for found in files.walk(self.path, self.wanted):
            if found.why or not self.reads(found.path):
                continue
            state = (found.stat.st_ino, found.stat.st_size, found.stat.st_mtime_ns)
            known = self._parsed.get(found.path)
            # Replacing keeps the time stamp, and a same-sized edit could keep all three: the
            # inode of our own replacement is new, so only a write in the same tick can hide.
            if known is None or known[0] != state:
                data, info = files.read(self.path, found.path)
                state = (info.st_ino, info.st_size, info.st_mtime_ns)
                known = (state, identified(entries(data, found.path, self.grammar)))
                self._parsed[found.path] = known
            out[found.path] = known[1]
        return out

    def _write(self, path: str, wishes: list[Wish], work: Work) -> list[Written]:
        if not path:
            return [_nowhere(wish) for wish in wishes]
        made = Edit(b"")

        seen: bytes | None = b"\0"

        def build(data: bytes | None) -> bytes | None:
            nonlocal made, seen
            if data == seen:
                return made.data if made.data != (data or b"") else None
            seen = data
            state = FileState.read(path, data, self.grammar)
            refused = self._refused(state, wishes, work)
            made = edited(state, wishes, refused, self.grammar, self.planned, work.kept)
            return made.data if made.data != state.data else None

        why = ""
        if touches(self.path, path, build):
            why = self._swapped(path, build, lambda: work.keep(made.undo))
        else:
            recovered(self.path, path)
        answers = made.answers if not why else _all_stale(made.answers, wishes, why)
        self._moved |= {a.id: a.new_id for a in answers if a.new_id}
        self._gone |= {a.id for a in answers if a.state == "applied" and not a.new_id}
        return answers

    def _refused(self, state: FileState, wishes: list[Wish], work: Work) -> Mapping[str, str]:
        """Ask the guard about the live records of the batch and those that they name."""
        everything = self._live() | {state.path: state.found}
        live = {key: entry for found in everything.values() for key, entry in found}
        named = {w.id for w in wishes} | {
            link for w in wishes if w.after and (link := w.after.get("superseded_by"))
        }
        here = [(key, live[key]) for key in sorted(named) if key in live]
        moved = [
            (key, live[self._moved[key]])
            for key in sorted(named)
            if key not in live and self._moved.get(key) in live
        ]
        gone = (named - set(live)) & (self._gone | work.kept)
        passed = work.before.filter(pl.col("id").is_in(sorted(gone)))
        known = pl.concat([table([*here, *moved]), passed]) if gone else table([*here, *moved])
        return work.check(known, _counts(live.values()))

    def _revert(self, path: str, items: list[Undo]) -> list[Written]:
        answers: list[Written] = []
        goes = False

        def build(data: bytes | None) -> bytes | None:
            nonlocal answers, goes
            out = reverted(data, items)
            answers, goes = out.answers, out.data is None and data is not None
            return b"" if goes else out.data

        why = self._swapped(path, build, lambda: None, make=False)
        if why:
            return [Written(item.id, "stale", why) for item in items]
        if goes:
            with files.folder_of(self.path, path) as (folder, name), contextlib.suppress(OSError):
                if not os.stat(name, dir_fd=folder, follow_symlinks=False).st_size:
                    os.unlink(name, dir_fd=folder)
        return answers


def _files_of(ids: Collection[str] | None) -> set[str | None] | None:
    return None if ids is None else {path_of({"id": key}) for key in ids}


def _after(was: dict[str, Any] | None, row: dict[str, Any]) -> dict[str, Any] | None:
    """A record once a change of a squashed plan is made to it."""
    given = {name: row[name] for name in RECORDS if row[name] is not None}
    if row["action"] == "put":
        return dict.fromkeys(RECORDS) | DEFAULTS | given
    if row["action"] == "delete" or was is None:
        return None
    return was | given | dict.fromkeys(row["clears"] or ())


def _nowhere(wish: Wish) -> Written:
    if wish.after is not None and not wish.removes:
        return Written(wish.id, "refused", "it has no date, which the file's grammar needs")
    return Written(wish.id, "applied", "nothing of it goes into a file")


def _counts(found: Iterable[Entry]) -> pl.DataFrame:
    """Live records by scope and kind."""
    kinds = Counter(e.fields["kind"] for e in found if "superseded_by" not in e.fields)
    schema = {"scope": pl.String(), "kind": pl.String(), "live": pl.UInt32()}
    rows = [(DEFAULTS["scope"], kind, number) for kind, number in sorted(kinds.items())]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _all_stale(answers: list[Written], wishes: list[Wish], why: str) -> list[Written]:
    """What was not written is stale; what needed no writing keeps its answer."""
    kept = {a.id: a for a in answers if a.state != "applied" or (a.why and not a.new_id)}
    return [kept.get(w.id) or Written(w.id, "stale", why) for w in wishes]
