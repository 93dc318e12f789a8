"""Aliases of names that hold secrets: outside of a store no id, scope or link holds one.

What names a record is used by plans, journals and people, so a name that holds a secret has an
alias (`safety.masking`), made of the name alone; inside, the store's own names stand. Nearly every
store has no such name, and passes through untouched. What records say passes as it is: the rule
that redacts has to see it, and whatever is written or printed is masked there.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from memops.errors import MemopsError
from memops.safety.masking import ALIAS, NAMES, aliased, aliases, masked_value, named
from memops.schema import only

if TYPE_CHECKING:
    from memops.stores import Store, Undo, Work, Written

_MARK = "[redacted:"
_OWN = "memops:id"  # in the undo of a record with an alias, its id in the store


class Aliasing:
    """A store with aliases for names that hold secrets; all else is the store's own."""

    inner: "Store"

    def __init__(self, inner: "Store") -> None:
        object.__setattr__(self, "inner", inner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.inner, name, value)

    def copy(self, into: Path) -> dict[str, Any]:
        """Copy the store; what is noted of it holds no secret.

        A store that is copied onto itself would wait for itself, or copy its copies, without end.
        """
        if any(into.iterdir()):
            raise MemopsError(f"{into} is not empty", "copy a store into an empty folder")
        return dict(masked_value(self.inner.copy(into)))

    def load(self, raw: Path, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the records of a copy by their aliases."""
        return _aliased(partial(self.inner.load, raw), ids)

    def read(self, ids: Collection[str] | None = None) -> pl.DataFrame:
        """Return the live records by their aliases."""
        return _aliased(self.inner.read, ids)

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what `read` would return if these records were written."""
        return named(self.inner.project(_native(records, self._names(records))))

    def batches(self, changes: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Split a plan as the store does."""
        for batch in self.inner.batches(_native(changes, self._names(changes))):
            yield named(batch)

    def write(self, work: "Work") -> list["Written"]:
        """Carry out one batch under the store's own names."""
        names = self._names(work.changes)

        def check(live: pl.DataFrame, counts: pl.DataFrame) -> Mapping[str, str]:
            refused = work.check(named(live), named(counts))
            mine = aliases(live["id"]) if _marked(refused) else {}
            return {mine.get(id_, id_): why for id_, why in refused.items()}

        done = work.done
        native = replace(
            work,
            changes=_native(work.changes, names),
            before=_native(work.before, names),
            check=check,
            keep=lambda undo: work.keep(_kept(undo)),
            kept=frozenset(names.get(id_, id_) for id_ in work.kept),
            done=None if done is None else lambda answers: done(_answers(answers)),
            sees=work.sees and frozenset(names.get(id_, id_) for id_ in work.sees),
        )
        return _answers(self.inner.write(native))

    def revert(self, undo: list["Undo"]) -> list["Written"]:
        """Take changes back; an undo knows the id that its record has in the store."""
        return _answers(self.inner.revert([_own(entry) for entry in undo]))

    def purge(self, ids: Collection[str], texts: Collection[str] = ()) -> None:
        """Remove records for good."""
        names = aliases(self.inner.read()["id"]) if _marked(ids) else {}
        self.inner.purge([names.get(id_, id_) for id_ in ids], texts)

    def forget(self, raw: Path, ids: Collection[str]) -> None:
        """Remove records from a copy."""
        names = aliases(self.inner.load(raw)["id"]) if _marked(ids) else {}
        self.inner.forget(raw, [names.get(id_, id_) for id_ in ids])

    def recent(self, since: datetime) -> frozenset[str]:
        """Return ids of records whose file was written since then."""
        found = self.inner.recent(since)
        return frozenset(aliased(pl.Series(sorted(found), dtype=pl.String))) if found else found

    def _names(self, table: pl.DataFrame) -> dict[str, str]:
        """The store's own names behind the aliases that a table holds."""
        if not any(table[name].str.contains(ALIAS).any() for name in NAMES):
            return {}
        live = self.inner.read()
        return aliases(name for column in NAMES for name in live[column].unique())


def _aliased(
    read: Callable[[Collection[str] | None], pl.DataFrame], ids: Collection[str] | None
) -> pl.DataFrame:
    """The records that a store reads, by their aliases; all are read to find one by its alias."""
    if ids is not None and _marked(ids):
        return only(named(read(None)), ids)
    return named(read(ids))


def _native(table: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    return table.with_columns(pl.col(*NAMES).replace(names)) if names else table


def _marked(names: Iterable[str]) -> bool:
    return any(_MARK in name for name in names)


def _answers(written: Iterable["Written"]) -> list["Written"]:
    """Answers by alias; most stores have none, which is told for all at once."""
    answers = list(written)
    ids = [name for a in answers for name in (a.id, a.new_id) if name is not None]
    table = {name: alias for alias, name in aliases(ids).items()}
    if not table:
        return answers
    named = ((a, table.get(a.id, a.id), table.get(a.new_id or "", a.new_id)) for a in answers)
    return [replace(a, id=id, new_id=new) for a, id, new in named]


def _kept(undo: Iterable["Undo"]) -> Iterator["Undo"]:
    """Undo under aliases, with the ids that the store knows; its file is for restoring."""
    left = iter(undo)
    while some := [*islice(left, _SOME)]:
        table = {name: alias for alias, name in aliases(entry.id for entry in some).items()}
        yield from (
            _under(entry, table[entry.id]) if entry.id in table else entry for entry in some
        )


_SOME = 10_000  # entries whose ids are looked at together


def _under(entry: "Undo", alias: str) -> "Undo":
    before, after = (image and {**image, _OWN: entry.id} for image in (entry.before, entry.after))
    return replace(entry, id=alias, before=before, after=after)


def _own(entry: "Undo") -> "Undo":
    own = (entry.before or entry.after or {}).get(_OWN)
    if own is None:
        return entry
    images = (entry.before, entry.after)
    before, after = (i and {name: v for name, v in i.items() if name != _OWN} for i in images)
    return replace(entry, id=own, before=before, after=after)
