"""Checks of a suite: evidence that is nowhere, queries that are ambiguous, slices too small."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from memops.evaluation.echoes import echoes
from memops.evaluation.golden import Suite
from memops.evaluation.lineage import qrels
from memops.evaluation.statistics import count_for, detectable_share
from memops.language.text import normalised
from memops.policy import Policy
from memops.schema import LIVE, SHARED

FEWEST = 20  # queries below which an interval says little
FEWEST_IN_SLICE = 5
FLIPS = 0.05  # share of queries that a change without a loss moves, one way or the other
BROAD = 20  # records that one nugget may match before it tells nothing


@dataclass(frozen=True)
class Problem:
    """What is wrong with a suite; `level` is error or warning."""

    level: str
    query_id: str | None
    id: str | None
    says: str


def check(suite: Suite, records: pl.DataFrame, policy: Policy | None = None) -> list[Problem]:
    """Return the suite's problems against the records that it was made for, errors first."""
    found = qrels(suite, records)
    problems = [*_missing(suite, records, found), *_unanswerable(suite), *_ambiguous(suite, found),
                *_leaked(suite, records), *_small(suite), *_weak(suite, policy or Policy())]  # fmt: skip
    return sorted(problems, key=lambda p: (p.level, p.query_id or "", p.id or "", p.says))


def _missing(suite: Suite, records: pl.DataFrame, found: pl.DataFrame) -> Iterator[Problem]:
    absent = suite.relevant.join(records.select("id"), on="id", how="anti")
    for query, record in absent.select("query_id", "id").rows():
        yield Problem(
            "error", query, record, f"query {query!r}: evidence {record!r} is not in the store"
        )
    here = suite.relevant.join(absent, on=["query_id", "id"], how="anti").select(
        "query_id", unit="id"
    )
    unheld = found.filter(pl.col("doc_id").is_null(), ~pl.col("avoid")).select("query_id", "unit")
    for query, record in unheld.join(here, on=["query_id", "unit"], how="semi").rows():
        yield Problem(
            "warning",
            query,
            record,
            f"query {query!r}: evidence {record!r} is hidden and nothing came of it",
        )
    for query, nugget in unheld.join(
        suite.nuggets, left_on=["query_id", "unit"], right_on=["query_id", "nugget"], how="semi"
    ).rows():
        yield Problem(
            "error", query, nugget, f"query {query!r}: no record matches the nugget {nugget!r}"
        )
    scopes = suite.queries.filter(pl.col("scope").is_not_null()).join(
        records, on="scope", how="anti"
    )
    shared = suite.relevant.join(records.filter(pl.col("scope").is_in(SHARED)), on="id", how="semi")
    scopes = scopes.join(shared, on="query_id", how="anti")  # who has none of their own reads those
    for query, scope in scopes.select("query_id", "scope").rows():
        yield Problem("error", query, scope, f"query {query!r}: the store has no scope {scope!r}")
    elsewhere = (
        suite.relevant.join(suite.queries.select("query_id", "scope"), on="query_id")
        .join(records.select("id", within="scope"), on="id")
        .filter(pl.col("scope") != pl.col("within"), ~pl.col("within").is_in(SHARED))
    )  # fmt: skip
    for query, record in elsewhere.select("query_id", "id").rows():
        yield Problem(
            "error", query, record, f"query {query!r}: evidence {record!r} is in another scope"
        )


def _unanswerable(suite: Suite) -> Iterator[Problem]:
    golden = pl.concat(
        [suite.relevant.select("query_id"), suite.nuggets.select("query_id")]
    ).unique()
    for (query,) in (
        suite.queries.filter("answerable")
        .join(golden, on="query_id", how="anti")
        .select("query_id")
        .rows()
    ):
        yield Problem("error", query, None, f"query {query!r} has neither evidence nor nuggets")
    for (query,) in (
        suite.queries.filter(~pl.col("answerable"))
        .join(golden, on="query_id", how="semi")
        .select("query_id")
        .rows()
    ):
        yield Problem(
            "error", query, None, f"query {query!r} is called unanswerable and has evidence"
        )
    lost = (
        pl.concat([suite.relevant.select("query_id")])
        .join(suite.queries, on="query_id", how="anti")
        .unique()
    )
    for (query,) in lost.rows():
        yield Problem("error", query, None, f"evidence for {query!r}, which is not asked")


def _ambiguous(suite: Suite, found: pl.DataFrame) -> Iterator[Problem]:
    same = suite.queries.with_columns(said=normalised(pl.col("text")))
    for ids in (
        same.group_by("said", "scope", "as_of")
        .agg(pl.col("query_id").sort())
        .filter(pl.col("query_id").list.len() > 1)["query_id"]
        .sort()
        .to_list()
    ):
        yield Problem("warning", ids[0], None, f"queries {', '.join(map(repr, ids))} ask the same")
    broad = (
        found.filter(~pl.col("avoid"))
        .drop_nulls("doc_id")
        .group_by("query_id", "unit")
        .len()
        .filter(pl.col("len") > BROAD)
    )
    for query, unit, count in broad.sort("query_id", "unit").rows():
        yield Problem("warning", query, unit, f"query {query!r}: {count} records hold {unit!r}")


def _leaked(suite: Suite, records: pl.DataFrame) -> Iterator[Problem]:
    said = normalised(pl.col("text"))
    held = records.filter(LIVE).select(doc_id="id", said=said).filter(pl.col("said") != "")
    whole = suite.queries.select("query_id", said=said).join(held, on="said", how="inner")
    leaks = pl.concat([whole.select("query_id", "doc_id"), echoes(suite, records)]).unique()
    for query, record in leaks.sort("query_id", "doc_id").rows():
        yield Problem(
            "warning", query, record, f"query {query!r} stands in the store as record {record!r}"
        )


def _small(suite: Suite) -> Iterator[Problem]:
    if suite.queries.height < FEWEST:
        yield Problem(
            "warning",
            None,
            None,
            f"{suite.queries.height} queries show large losses only (want {FEWEST})",
        )
    for name in ("category", "lang"):
        few = suite.queries.group_by(name).len().filter(pl.col("len") < FEWEST_IN_SLICE)
        for value, count in few.sort(name).rows():
            yield Problem(
                "warning",
                None,
                f"{name}:{value}",
                f"{name} {value!r} has {count} queries (want {FEWEST_IN_SLICE})",
            )


def _weak(suite: Suite, policy: Policy) -> Iterator[Problem]:
    """What the gate could not see: with so few queries, which loss would pass for chance.

    A night's noise flips some queries each way; the loss shown with a power of 80 % is
    (z of 95 % + z of 80 %) * sqrt(flips / queries), after Sakai (2016).
    """
    count = suite.queries.filter("answerable").height
    settings = policy.gate
    shown = detectable_share(FLIPS, count, settings.confidence) if count else 1.0
    if shown > settings.unsure:
        wanted = count_for(FLIPS, settings.unsure, settings.confidence)
        says = (
            f"{count} queries show a loss from {shown:.0%}; for {settings.unsure:.0%} ask {wanted}"
        )
        yield Problem("warning", None, "power", says)
