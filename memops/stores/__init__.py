"""Stores: where an agent keeps memories, each kind behind the same few verbs.

An address is `KIND:PATH`. To add a kind: a folder here with a class that has the attributes and
methods of `Store` (`base.FileStore` and `sqlite.store.TableStore` have most of them), a line in
`memops.schema.STORES`, and in `tests/stores/samples.py` a builder in BUILDERS, which puts it under
all tests of stores. Reading never changes a byte of the store. Writing is compare-and-set on what
the plan was made from, undo first, in batches that hold a lock for at most 100 ms.
"""

import importlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeVar, cast

import polars as pl

from memops.errors import MemopsError, StoreNotFound
from memops.schema import STORES
from memops.stores.aliasing import Aliasing

CAPABILITIES = (
    "snapshot", "live_read", "live_write", "insert", "update", "supersede", "delete", "redact", "purge",
    "restore",
)  # fmt: skip

S = TypeVar("S", bound="Store")
_NEAR = 500
"""Folders that are looked at for what may have been meant."""

Usual = tuple[str, tuple[str, ...], str]
"""The variable, if any, that tells an agent where to work, where it works otherwise, and what of that
an address names."""
State = Literal["applied", "already", "stale", "refused", "moved"]
LASTING = frozenset({"skip.lines_around", "skip.holds_open", "skip.no_date", "skip.no_text"})
"""Why a store refuses a change as long as its files stand as they do."""

Copy = Callable[[Path], dict[str, Any]]
"""What writes an exact copy of a store into an empty directory, and returns notes on it."""
Keep = Callable[[Copy | None], Path | None]
"""What keeps a store before it is replaced: given what copies it, or None where nothing can be
copied, it returns the folder of the copy. What it raises stops the replacement."""


@dataclass(frozen=True)
class Written:
    """What became of one change: `id` is the plan's, `new_id` the record's afterwards.

    `why` is a packed reason (`memops.reasons`), or an error's sentence. A record is `moved` that no
    change touched, and that has another id for what became of others.
    """

    id: str
    state: State
    why: str = ""
    new_id: str | None = None


@dataclass(frozen=True)
class Undo:
    """One record's native form before and after a change, in JSON values; None is absence.

    `where` groups what was written together (a file, a table).
    """

    id: str
    where: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Work:
    """One batch of changes to carry out.

    `changes` is a squashed plan; `before` the records that it was made from (compare-and-set:
    a live record that differs in content is stale and left alone). Columns that the store does not
    hold come from the overlay there, so compare those in `holds`, or the native row that `read`
    keeps in `extra`; a change of other columns alone is applied, and has no Undo. `check` is given the live
    records of the batch and, of each scope, kind and category that it may lose one of, how many
    live ones there are (or at least are; `schema.COUNTS`, made by `schema.live_counts`, where kind
    and category are those that `read` gives), true inside the transaction, and returns the ids that
    the guard refuses, with its reason. `keep` puts undo on disk and must return before the commit
    that needs it. `now` is the plan's clock. `kept` names the records
    whose undo an earlier, interrupted part of the run has kept: one of them that is no longer as
    it was has been written already. A store that commits a batch in parts tells `done` what became
    of each part once it has; what it has told it returns all the same. `sees` are the ids of the
    live records that `check` looks at; None for all.
    """

    changes: pl.DataFrame
    before: pl.DataFrame
    now: datetime
    check: Callable[[pl.DataFrame, pl.DataFrame], Mapping[str, str]]
    keep: Callable[[Iterable[Undo]], None]
    kept: frozenset[str] = frozenset()
    done: Callable[[list[Written]], None] | None = None
    sees: frozenset[str] | None = None


class Store(Protocol):
    """What every kind of store does; making one does not touch the disk."""

    kind: ClassVar[str]
    capabilities: ClassVar[frozenset[str]]
    holds: ClassVar[frozenset[str]]
    """The record columns that the store itself keeps; the others live in the overlay."""
    paths: ClassVar[tuple[str, ...]]
    """What may stand after the kind in an address, as people are told it."""
    unsigned: ClassVar[bool]
    """Whether records name no writer, so that those without are the store's owner's."""
    family: ClassVar[str]
    """What it is to the rules: `documents`, or `rows` that stand by themselves."""
    marks: ClassVar[tuple[str, ...]]
    """Of which one at least stands in every folder of this kind; none if it is no folder."""
    usual: ClassVar[Usual]
    """Where `memops init` looks for one."""

    def __init__(self, path: str) -> None: ...

    address: str

    def place(self) -> Path:
        """Return the path that tells this store from any other of its kind, there or not."""

    def identity(self) -> dict[str, str]:
        """Return what tells this store from any other: kind, canonical path, schema.

        No inode and no time in it: a store copied away and back is the same store.
        """

    def copy(self, into: Path) -> dict[str, Any]:
        """Write an exact, consistent copy into an empty directory; return notes for the manifest.

        Raises StoreNotFound, Locked, Unauthorised, Corrupt or Incomplete.
        """

    def load(self, raw: Path, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the records of such a copy, or of them only these."""

    def read(self, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the live store's records (`schema.RECORDS`), or of them only these.

        What a plan can change reads the same after it was taken back, `origin` too: a number
        that the store gives a row anew is none unless the row is written back with it.
        """

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what `read` would return if these records were written.

        A store that can only mark a record as hidden gives TOMBSTONE for whatever hides one.
        """

    def batches(self, changes: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Split a squashed plan into what may be written under one lock."""

    def write(self, work: Work) -> list[Written]:
        """Carry out one batch; every change gets an answer."""

    def revert(self, undo: list[Undo]) -> list[Written]:
        """Take changes back, newest first; a record that changed since is kept and called stale."""

    def settle(self) -> None:
        """Finish, or take away, what a killed process of ours left beside the store's files."""

    def restore(self, raw: Path, keep: Keep) -> dict[str, int]:
        """Make the store exactly what the copy is, once `keep` has kept what it was.

        Nobody writes to it between the two, or what they wrote is added to what is restored:
        returned are the files that have lines more than the copy, and how many.
        """

    def purge(self, ids: Collection[str], texts: Collection[str] = ()) -> None:
        """Remove records so that no byte of their text stays in the store's own files.

        Done again for records that are gone, it finishes what a killed one began; `texts` is what
        other copies know that they said.
        """

    def forget(self, raw: Path, ids: Collection[str]) -> None:
        """Remove records from such a copy, so that no byte of their text stays in it.

        Raises MemopsError where the others would read differently without them.
        """

    def locator(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return where a record stands, in the store's own terms."""

    def recent(self, since: datetime) -> frozenset[str]:
        """Return ids of records whose file was written since then (none for a database)."""


def family(kind: str) -> str:
    """Return what a kind of store is to the rules."""
    return kind_class(kind).family


def kind_class(kind: str) -> type[Store]:
    """Return the class of a kind of store, imported on first use."""
    if kind not in STORES:
        known = f"known: {', '.join(sorted(STORES))}"
        raise MemopsError(f"unknown kind of store {kind!r}; {known}", "see `memops store kinds`")
    module, name = STORES[kind].split(":")
    found: type[Store] = getattr(importlib.import_module(module), name)
    return found


def part(kind: str, name: str) -> Any:
    """Return a module of a kind's folder, or None where it has none.

    `doctor` has `examined(store)` and `lacking()`, `repair` has REPAIRS and `repairs(store)`, `state`
    has `last_pruned(store)` and `note_pruned(store, now)`, `sessions` has `turns(store)`.
    """
    kind_class(kind)
    wanted = f"{STORES[kind].split(':')[0]}.{name}"
    try:
        return importlib.import_module(wanted)
    except ModuleNotFoundError as error:
        if error.name != wanted:
            raise
        return None


def open_store(address: str) -> Store:
    """Return the store at `KIND:PATH`."""
    kind, sep, path = address.partition(":")
    if not sep or not path:
        like = "KIND:PATH, for example clawseed:~/.clawseed/workspace, or a name from memops.toml"
        raise StoreNotFound(f"{address!r} is no store address", f"write {like}")
    return cast(Store, Aliasing(kind_class(kind)(path)))


def inside(store: Store) -> Store:
    """Return a store as its own kind has it, for what only that kind does."""
    return store.inner if isinstance(store, Aliasing) else store


def standing(store: S) -> S:
    """Return a store in whose folder something of its kind stands.

    A folder of anything else would read as a store without records. Raises StoreNotFound, which
    names a folder near it that is one.
    """
    marks, root = store.marks, getattr(store, "path", None)
    if not marks or not root or not root.is_dir() or _marked(root, marks):
        return store
    near = [root.parent, *islice(root.glob("*/"), _NEAR), *islice(root.glob("*/*/"), _NEAR)]
    other = next((folder for folder in near if _marked(folder, marks)), None)
    hint = f"did you mean {store.kind}:{other}?" if other else "check the store's address"
    said = f"{root} is no {store.kind} store: none of {', '.join(marks)} is there"
    raise StoreNotFound(said, hint)


def _marked(folder: Path, marks: Sequence[str]) -> bool:
    return any(os.path.lexists(folder / mark) for mark in marks)
