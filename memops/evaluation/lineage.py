"""Lineage: what became of the evidence, so that golden ids outlive merges and migrations."""

import unicodedata
from dataclasses import replace

import polars as pl

from memops.evaluation.golden import Suite
from memops.language.text import folded, normalised, wordlist
from memops.schema import LIVE, SHARED
from memops.state.lineage import EDGES, descendants, superseded

QRELS = pl.Schema(
    dict.fromkeys(("query_id", "unit", "doc_id"), pl.String())
    | {"grade": pl.Int64(), "avoid": pl.Boolean()}
)
"""A unit that no live record holds has a `doc_id` of null."""


def qrels(suite: Suite, records: pl.DataFrame, edges: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return (query_id, unit, doc_id, grade, avoid): which live records hold what is to be found.

    A unit is a golden id or a nugget. Its records are the id's live descendants, or those whose text
    matches and does not hold the question too; one that no record holds has a null doc_id and still
    counts.
    """
    wanted, found = pl.lit(False), _heirs(suite, records, edges)
    found = suite.relevant.join(found, on="id", how="left")
    evidence = found.select("query_id", "doc_id", "grade", unit="id", avoid=wanted)
    leaked = leaks(suite, records).join(evidence, on=["query_id", "doc_id"], how="anti")
    nuggets = _without(_matching(suite.nuggets, suite, records), leaked)
    nuggets = nuggets.with_columns(grade=pl.lit(1, pl.Int64), avoid=wanted)
    avoided = _matching(suite.avoid, suite, records, ids=True)
    named = {"unit": pl.format("avoid {}", "unit"), "grade": pl.lit(0, pl.Int64)}
    avoided = avoided.with_columns(**named, avoid=pl.lit(True))
    found = pl.concat([t.select(QRELS.names()).cast(QRELS) for t in (evidence, nuggets, avoided)])
    return found.unique().sort("query_id", "unit", "doc_id", nulls_last=True)


def remapped(suite: Suite, records: pl.DataFrame, edges: pl.DataFrame | None = None) -> Suite:
    """Return the suite with each golden id replaced by its live heirs in these records."""
    relevant = (
        suite.relevant.join(_heirs(suite, records, edges), on="id", how="left", maintain_order="left")
        .select("query_id", pl.coalesce("doc_id", "id").alias("id"), "grade")
        .group_by("query_id", "id", maintain_order=True).agg(pl.max("grade"))
    )  # fmt: skip
    return replace(suite, relevant=relevant)


def _heirs(suite: Suite, records: pl.DataFrame, edges: pl.DataFrame | None) -> pl.DataFrame:
    """(id, doc_id) of the live descendants of golden ids."""
    past = EDGES.to_frame() if edges is None else edges.select("old", "new")
    known = pl.concat([superseded(records), past]).unique()
    live = records.filter(LIVE).select(doc_id="id")
    return descendants(suite.relevant["id"].unique(), known).join(live, on="doc_id", how="semi")


def _matching(
    patterns: pl.DataFrame, suite: Suite, records: pl.DataFrame, ids: bool = False
) -> pl.DataFrame:
    """(query_id, unit, doc_id) of live records that the query may read and that match, or bear the id."""
    asked = patterns.join(suite.queries.select("query_id", "scope"), on="query_id", how="inner")
    texts = records.filter(LIVE).select(doc_id="id", scope="scope", folded=folded(pl.col("text")))
    parts = [pl.DataFrame(schema={"nugget": pl.String, "doc_id": pl.String, "within": pl.String})]
    for nugget in asked["nugget"].unique().sort():
        # Texts are compared in NFKC; a pattern's escapes (\D, \S) must not be lowered, hence (?i).
        hit = pl.col("folded").str.contains(f"(?i){unicodedata.normalize('NFKC', nugget)}")
        hit = hit | (pl.col("doc_id") == nugget) if ids else hit
        own = texts.filter(hit).select("doc_id", within="scope", nugget=pl.lit(nugget))
        parts.append(own.select(parts[0].columns))
    found = asked.join(pl.concat(parts), on="nugget", how="left")
    # What is to be avoided may be anywhere: another scope's text is a leak.
    outside = (pl.col("within") != pl.col("scope")) & ~pl.col("within").is_in(SHARED)
    if not ids:
        found = found.with_columns(doc_id=pl.when(~outside.fill_null(False)).then("doc_id"))
    return _held(found.select("query_id", unit="nugget", doc_id="doc_id"))


def _without(found: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    left = found.join(others, on=["query_id", "doc_id"], how="anti")
    return _held(pl.concat([left, found.with_columns(doc_id=pl.lit(None, pl.String))]))


def _held(units: pl.DataFrame) -> pl.DataFrame:
    """The records of each unit once; null for a unit that no record holds."""
    held = units.drop_nulls().unique()
    lost = units.filter(pl.col("doc_id").is_null()).unique()
    return pl.concat([held, lost.join(held, on=["query_id", "unit"], how="anti")])


_QUESTION = (
    r"[?？]|[吗呢谁几哪]|什么|多少|怎么|怎样|为何|如何|何时|多[久大高长远]"
    r"|(?i)^(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|can|could"
    r"|has|have|will|would|should|tell me)\b"
)
_LONG = (5, 8)  # words, or Han characters, of a question that nobody writes by chance


def leaks(suite: Suite, records: pl.DataFrame) -> pl.DataFrame:
    """Return (query_id, doc_id) of live records whose text holds the whole of a question: evidence of nothing."""
    said, text = normalised(pl.col("text")), pl.col("text")
    spaces, han = said.str.count_matches(" "), said.str.count_matches(r"\p{Han}")
    long = (spaces >= _LONG[0] - 1) | (han >= _LONG[1])
    asked = suite.queries.filter(text.str.contains(_QUESTION) & long).select("query_id", said=said)
    words = asked["said"].unique().sort().to_list()
    held = records.filter(LIVE).select(doc_id="id", said=said)
    told = pl.col("said").str.extract_many(wordlist(words), overlapping=True)
    found = held.select("doc_id", said=told).explode("said", empty_as_null=True)
    return asked.join(found, on="said").select("query_id", "doc_id").unique().sort(pl.all())
