"""Lineage: what became of the evidence, so that golden ids outlive merges and migrations."""

from collections.abc import Sequence

import polars as pl

from memops.plan import PUTS
from memops.schema import LIVE, RETIRED
from memops.suite.golden import Suite
from memops.text import folded

EDGES = pl.Schema({"old": pl.String(), "new": pl.String()})
QRELS = pl.Schema(
    {
        "query_id": pl.String(),
        "unit": pl.String(),
        "doc_id": pl.String(),  # null: no live record holds the unit
        "grade": pl.Int64(),
        "avoid": pl.Boolean(),
    }
)
_GENERATIONS = 64


def lineage(*plans: pl.DataFrame) -> pl.DataFrame:
    """Return (old, new) ids of what the plans insert from notes and what they supersede."""
    edges = [EDGES.to_frame()]
    for plan in plans:
        made = plan.filter(PUTS).explode("derived_from", empty_as_null=True)
        edges.append(made.select(old="derived_from", new="id"))
        edges.append(_superseded(plan))
    return pl.concat(edges).drop_nulls().unique().sort("old", "new")


def qrels(suite: Suite, records: pl.DataFrame, edges: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return (query_id, unit, doc_id, grade, avoid): which live records hold what is to be found.

    A unit is a golden id or a nugget. Its records are the id's live descendants, or those whose
    text matches; one that no record holds has a null doc_id and still counts.
    """
    known = [EDGES.to_frame(), _superseded(records)] + (
        [] if edges is None else [edges.select("old", "new")]
    )
    heirs = descendants(suite.relevant["id"].unique(), pl.concat(known).unique())
    live = records.filter(LIVE).select(doc_id="id")
    held = heirs.join(live, on="doc_id", how="semi")
    evidence = suite.relevant.join(held, on="id", how="left").select(
        "query_id", pl.col("id").alias("unit"), "doc_id", "grade", avoid=pl.lit(False)
    )
    nuggets = _matching(suite.nuggets, suite, records).with_columns(
        grade=pl.lit(1, pl.Int64), avoid=pl.lit(False)
    )
    avoided = _matching(suite.avoid, suite, records, ids=True).with_columns(
        pl.concat_str(pl.lit("avoid "), "unit").alias("unit"),
        grade=pl.lit(0, pl.Int64),
        avoid=pl.lit(True),
    )
    found = pl.concat([t.select(QRELS.names()).cast(QRELS) for t in (evidence, nuggets, avoided)])
    return found.unique().sort("query_id", "unit", "doc_id", nulls_last=True)


def descendants(ids: pl.Series, edges: pl.DataFrame) -> pl.DataFrame:
    """Return (id, doc_id): every id with itself and all that came of it."""
    reached = pl.DataFrame(
        {"id": ids, "doc_id": ids}, schema={"id": pl.String, "doc_id": pl.String}
    )
    newest = reached
    for _ in range(_GENERATIONS):
        newest = (
            newest.join(edges, left_on="doc_id", right_on="old", how="inner")
            .select("id", doc_id="new").unique().join(reached, on=["id", "doc_id"], how="anti")
        )  # fmt: skip
        if newest.is_empty():
            break
        reached = pl.concat([reached, newest])
    return reached


def _superseded(table: pl.DataFrame) -> pl.DataFrame:
    link = pl.col("superseded_by")
    return table.filter(link.is_not_null() & ~link.is_in(RETIRED)).select(old="id", new=link)


def _matching(
    patterns: pl.DataFrame, suite: Suite, records: pl.DataFrame, ids: bool = False
) -> pl.DataFrame:
    """(query_id, unit, doc_id) of live records in the query's scope that match, or bear the id."""
    asked = patterns.join(suite.queries.select("query_id", "scope"), on="query_id", how="inner")
    texts = records.filter(LIVE).select(doc_id="id", scope="scope", folded=folded(pl.col("text")))
    parts = [pl.DataFrame(schema={"nugget": pl.String, "doc_id": pl.String, "within": pl.String})]
    for nugget in asked["nugget"].unique().sort():
        hit = pl.col("folded").str.contains(f"(?i){_folded(nugget)}")
        if ids:
            hit = hit | (pl.col("doc_id") == nugget)
        parts.append(
            texts.filter(hit).select(pl.lit(nugget).alias("nugget"), "doc_id", within="scope")
        )
    found = asked.join(pl.concat(parts), on="nugget", how="left")
    # What is to be avoided may be anywhere: another scope's text is a leak.
    outside = pl.col("scope").is_not_null() & (pl.col("within") != pl.col("scope"))
    inside = (
        found
        if ids
        else found.with_columns(doc_id=pl.when(~outside.fill_null(False)).then("doc_id"))
    )
    units = inside.select("query_id", unit="nugget", doc_id="doc_id").unique()
    return pl.concat(
        [
            units.drop_nulls(),
            units.filter(pl.col("doc_id").is_null()).join(
                units.drop_nulls(), on=["query_id", "unit"], how="anti"
            ),
        ]
    )


def _folded(pattern: str) -> str:
    # Texts are compared in NFKC; a pattern's escapes (\D, \S) must not be lowered, hence (?i).
    import unicodedata

    return unicodedata.normalize("NFKC", pattern)


def unheld(found: pl.DataFrame) -> Sequence[tuple[str, str]]:
    """Return (query_id, unit) of each unit that no live record holds."""
    lost = found.filter(pl.col("doc_id").is_null(), ~pl.col("avoid"))
    return lost.select("query_id", "unit").rows()
