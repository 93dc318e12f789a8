"""Markdown: what the stores of Markdown notes share, an agent's grammar and locks aside.

A record is one entry of a file. Edits touch only the bytes of their entries and go through
`carry.replace`, so that no line which the agent writes meanwhile is lost: a file that is held
open, or being written, is left for later and said to be stale. What the files have no place for
(tier, links, counts) is the overlay's; the bytes of a superseded line leave the file.
"""

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from memops.errors import Locked, StoreNotFound
from memops.reasons import told
from memops.schema import DEFAULTS, RECORDS, only
from memops.stores import CAPABILITIES, Keep, Undo, Usual, Work, Written
from memops.stores.lockfile import LockFile
from memops.stores.markdown import files
from memops.stores.markdown.carry import Build, Pace
from memops.stores.markdown.carry_leavings import drop
from memops.stores.markdown.changes import FileState
from memops.stores.markdown.edit import Edit, Wish, edited
from memops.stores.markdown.entries import Grammar, entries
from memops.stores.markdown.forget import by_file, cutting
from memops.stores.markdown.live import LiveFiles
from memops.stores.markdown.records import ID, identified, path_of, projected, table
from memops.stores.markdown.restore import restored
from memops.stores.markdown.swap import Swap, swapped, touches
from memops.stores.markdown.undo import folders_of, reverted

_SPARE = 200  # live records of a kind beyond the changes; enough for any usual floor


class MarkdownStore:
    """A root folder of Markdown notes; subclasses name its grammar, files and locks."""

    kind: ClassVar[str]
    capabilities: ClassVar[frozenset[str]] = frozenset(CAPABILITIES)
    unsigned: ClassVar[bool] = True
    family: ClassVar[str] = "documents"
    paths: ClassVar[tuple[str, ...]] = ("WORKSPACE",)
    holds: ClassVar[frozenset[str]] = frozenset({"id", "text", "origin", "extra"})
    grammar: ClassVar[Grammar]
    marks: ClassVar[tuple[str, ...]]
    usual: ClassVar[Usual]

    def __init__(self, path: str) -> None:
        self.path = Path(path).expanduser().absolute()
        self.address = f"{self.kind}:{path}"
        self.pace = Pace()
        self._live = LiveFiles(self.path, self.wanted, self.reads, self.grammar)
        self._moved: dict[str, str] = {}  # what this object has written: ids then and now,
        self._gone: set[str] = set()  # and records whose lines it took out
        self._made: set[str] = set()  # folders that a run made which is taken back

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

    def place(self) -> Path:
        """The real path: a link to a workspace is no other workspace."""
        return self.path.resolve()

    def identity(self) -> dict[str, str]:
        """Every kind of note has the one schema."""
        return {"kind": self.kind, "path": str(self.place()), "schema": "markdown"}

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
        found = [item for _, file in self._live.all(_files_of(ids)) for item in file.entries]
        return only(table(found), ids)

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        """What leaves the files is not in it; the overlay keeps it."""
        return projected(records, self.grammar, self.planned)

    def batches(self, changes: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """One file at a time; insertions first, so that what replaces a line is there before."""
        where = [self._where(row) for row in changes.to_dicts()]
        new = [ID.match(key) is None for key in changes["id"]]
        told = pl.Series(where, dtype=pl.String), pl.Series(new, dtype=pl.Boolean)
        split = changes.with_columns(_where=told[0], _new=told[1])
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

    def settle(self) -> None:
        """Carry over what was written to a file that was being replaced, in every folder."""
        files.settle(self.path, self.wanted)

    def restore(self, raw: Path, keep: Keep) -> dict[str, int]:
        """Make the memory's files those of the copy; what came meanwhile is added to them."""
        return restored(self, raw, keep)

    def purge(self, ids: Collection[str], texts: Collection[str] = ()) -> None:
        """Cut the entries out, those of files that are otherwise only read, too."""
        self.settle()
        for path, build in self._cuts(ids).items():
            if why := self._swapped(path, build, lambda: None, make=False):
                said = f"{self.path / path}: {told(why)}"
                raise Locked(said, "try again: what is gone stays gone")

    def forget(self, raw: Path, ids: Collection[str]) -> None:
        """Cut the entries out of a copy's files."""
        files.rewrite(raw, self._cuts(ids))

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
        return frozenset(key for _, parsed in self._live.all(written) for key, _ in parsed.entries)

    def _swapped(self, path: str, build: Build, keep: Callable[[], None], make: bool = True) -> str:
        if not self.wanted(path):
            raise StoreNotFound(f"{path!r} is no memory file of {self.address}")
        self._live.forget(path)
        return swapped(self.path, path, Swap(build, keep, self.pace, self.locks(path), make))

    def _cuts(self, ids: Collection[str]) -> dict[str, Build]:
        return {path: cutting(path, keys, self.grammar) for path, keys in by_file(ids).items()}

    def _where(self, row: dict[str, Any]) -> str:
        """The file that a change goes to, or '' for one that goes to none."""
        if path := path_of(row):
            return path
        asked = self.planned(row)
        return asked[0] if asked else ""

    def _write(self, path: str, wishes: list[Wish], work: Work) -> list[Written]:
        if not path:
            return [_nowhere(wish) for wish in wishes]
        made, folders = Edit(b""), files.missing(self.path, path)

        seen: bytes | None = b"\0"

        def build(data: bytes | None) -> bytes | None:
            nonlocal made, seen
            if data == seen:
                return made.data if made.data != (data or b"") else None
            seen = data
            state = FileState.read(path, data, self.grammar, folders)
            refused = self._refused(state, wishes, work)
            made = edited(state, wishes, refused, self.grammar, self.planned, work.kept)
            return made.data if made.data != state.data else None

        why = ""
        if touches(self.path, path, build):
            why = self._swapped(path, build, lambda: work.keep(made.undo))
        answers = made.answers if not why else _all_stale(made.answers, wishes, why)
        self._moved |= {a.id: a.new_id for a in answers if a.new_id}
        removes = {wish.id for wish in wishes if wish.removes}
        self._gone |= {a.id for a in answers if a.state == "applied" and a.id in removes}
        return answers

    def _refused(self, state: FileState, wishes: list[Wish], work: Work) -> Mapping[str, str]:
        """Ask the guard about the live records of the batch and those that they name.

        Floors are judged by some live records of each kind, by all only if that matters.
        """
        known = self._known(state, wishes, work)
        was = ((w, w.before["kind"]) for w in wishes if w.before)
        kinds = {kind for w, kind in was if w.removes or not w.after or w.after["kind"] != kind}
        kinds |= {*known["kind"]} if kinds else set()
        some = self._live.counts(state.path, state.found, kinds, len(wishes) + _SPARE)
        refused = work.check(known, some)
        if refused and kinds:
            every = self._live.counts(state.path, state.found, kinds, sys.maxsize)
            refused = refused if every.equals(some) else work.check(known, every)
        return refused

    def _known(self, state: FileState, wishes: list[Wish], work: Work) -> pl.DataFrame:
        """The live records that the wishes name; those that this run took out, as they were."""
        links = ((w.after or {}).get("superseded_by") for w in wishes)
        named = {w.id for w in wishes} | {link for link in links if link}
        now = {key: self._moved.get(key, key) for key in sorted(named)}
        live = dict(state.found)
        for path in sorted({path_of({"id": id_}) or "" for key in now for id_ in (key, now[key])}):
            if path and path != state.path:
                live |= self._live.one(path)
        found = table([(key, live[id_]) for key, id_ in now.items() if id_ in live])
        gone = {key for key, id_ in now.items() if id_ not in live} & (self._gone | work.kept)
        passed = work.before.filter(pl.col("id").is_in(sorted(gone)))
        return pl.concat([found, passed]) if gone else found

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
            own = files.folder_of(self.path, path)
            with own as (folder, name), contextlib.suppress(FileNotFoundError):
                drop(folder, name, self.pace.grace, self.pace.limit)
            self._made |= folders_of(items)
            files.unmake(self.path, self._made)
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
        return Written(wish.id, "refused", "skip.no_date")
    return Written(wish.id, "applied", "skip.nothing_to_write")


def _all_stale(answers: list[Written], wishes: list[Wish], why: str) -> list[Written]:
    """What was not written is stale; what needed no writing keeps its answer."""
    kept = {a.id: a for a in answers if a.state != "applied" or (a.why and not a.new_id)}
    return [kept.get(w.id) or Written(w.id, "stale", why) for w in wishes]
