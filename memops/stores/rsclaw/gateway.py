"""What a gateway's memory is, read from its file or asked of its API."""

from typing import ClassVar

import polars as pl

from memops.stores.base import RowStore
from memops.stores.rsclaw.docs import document, to_records


class Gateway(RowStore):
    """The documents of one rsclaw gateway."""

    kind: ClassVar[str] = "rsclaw"
    capabilities: ClassVar[frozenset[str]] = frozenset(("snapshot", "live_read"))
    holds: ClassVar[frozenset[str]] = frozenset(
        ("id", "scope", "kind", "text", "tier", "importance", "pinned", "access_count", "tags",
         "created_at", "accessed_at", "extra")
    )  # fmt: skip

    def project(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return what a document gives back of each record."""
        return to_records(document(row) for row in records.to_dicts())
