"""clawseed: memories in `WORKSPACE/memory/brain.db`, an SQLite database with a search index.

What the table keeps of a record: key, text, scope (namespace), importance, times, and the key of
the record that supersedes it. Kind and tier follow from the category, which a change leaves alone,
because clawseed prunes by it. Everything else is the overlay's.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

from memops.stores import Usual
from memops.stores.clawseed.purge import forget
from memops.stores.clawseed.rows import HOLDS, Memories
from memops.stores.clawseed.snapshot import FILE
from memops.stores.sqlite.store import TableStore


class Clawseed(TableStore):
    """A clawseed workspace, or the database itself."""

    kind: ClassVar[str] = "clawseed"
    paths: ClassVar[tuple[str, ...]] = ("WORKSPACE",)
    usual: ClassVar[Usual] = ("CLAWSEED_WORKSPACE", ("~/.clawseed/workspace",), "")
    holds: ClassVar[frozenset[str]] = frozenset(HOLDS)
    table = Memories
    file: ClassVar[str] = "brain.db"
    hint: ClassVar[str] = (
        "give the workspace that holds memory/brain.db; clawseed started without a workspace "
        "keeps it in the folder that it was started in"
    )

    @property
    def workspace(self) -> Path | None:
        """The folder that also holds state and snapshot; None for a database by itself."""
        place = self._place()
        return place.parent.parent if place.parent.name == "memory" else None

    def purge(self, ids: Collection[str], texts: Collection[str] = ()) -> None:
        """Forget records for good, which needs the database to itself; raises Locked."""
        forget(self.path, ids, self.workspace / FILE if self.workspace else None, texts)

    def locator(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the key, which is unique in the store."""
        return {"key": record["key"]}

    def _forgotten(self, path: Path, ids: Collection[str]) -> None:
        forget(path, ids)

    def _place(self) -> Path:
        if self._given.suffix == ".db" and not self._given.is_dir():
            return self._given
        return self._given / "memory" / "brain.db"
