"""Lineage: what became of a store's records, kept because suites may name the old ids for long.

<state>/stores/<id>/lineage.parquet   (old, new): merged into, superseded by, or made from it
"""

from pathlib import Path

import polars as pl

from memops import files
from memops.schema import REPLACED
from memops.snapshot import store_id

EDGES = pl.Schema({"old": pl.String(), "new": pl.String()})
_GENERATIONS = 64


def lineage(*plans: pl.DataFrame) -> pl.DataFrame:
    """Return (old, new) ids of what the plans make from notes and what they supersede."""
    edges = [EDGES.to_frame()]
    for plan in plans:
        made = plan.explode("derived_from", empty_as_null=True)
        edges.append(made.select(old="derived_from", new="id"))
        edges.append(superseded(plan))
    return pl.concat(edges).drop_nulls().unique().sort("old", "new")


def superseded(table: pl.DataFrame) -> pl.DataFrame:
    """Return (old, new) of the records, or changes, of a table that name a newer record."""
    return table.filter(REPLACED).select(old="id", new="superseded_by")


def descendants(ids: pl.Series, edges: pl.DataFrame) -> pl.DataFrame:
    """Return (id, doc_id): every id with itself and all that came of it."""
    schema = {"id": pl.String, "doc_id": pl.String}
    newest = reached = pl.DataFrame({"id": ids, "doc_id": ids}, schema)
    for _ in range(_GENERATIONS):
        newest = (
            newest.join(edges, left_on="doc_id", right_on="old", how="inner")
            .select("id", doc_id="new").unique().join(reached, on=["id", "doc_id"], how="anti")
        )  # fmt: skip
        if newest.is_empty():
            break
        reached = pl.concat([reached, newest])
    return reached


def kept_lineage(state: Path, identity: dict[str, str]) -> pl.DataFrame:
    """Return the (old, new) ids of all that plans did to a store; raises Corrupt."""
    path = _path(state, identity)
    if not path.is_file():
        return EDGES.to_frame()
    hint = "delete it; `memops recall suite remap` needs it"
    return files.unpacked(path.read_bytes(), str(path), hint, EDGES)


def keep_lineage(state: Path, identity: dict[str, str], edges: pl.DataFrame) -> None:
    """Add edges to those that are kept."""
    if edges.is_empty():
        return
    path = _path(state, identity)
    files.folder(path.parent)
    both = pl.concat([kept_lineage(state, identity), edges.cast(EDGES)])
    files.write(path, files.packed(both.unique().sort("old", "new")))


def _path(state: Path, identity: dict[str, str]) -> Path:
    return state / "stores" / store_id(identity) / "lineage.parquet"
