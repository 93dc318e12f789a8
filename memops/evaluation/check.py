"""Checks of a suite: evidence that is nowhere, queries that are ambiguous, slices too small."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from memops.evaluation.golden import Suite
from memops.evaluation.lineage import leaks, qrels
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


def _told(level: str, says: str, pairs: pl.DataFrame) -> Iterator[Problem]:
    """A problem a row (query, what it is about), whose sentence names them."""
    for query, about, *more in pairs.rows():
        said = says.format(query=repr(query), about=repr(about), more=more)
        yield Problem(level, query, about, said)


def _missing(suite: Suite, records: pl.DataFrame, found: pl.DataFrame) -> Iterator[Problem]:
    pair, evidence = ["query_id", "unit"], suite.relevant.select("query_id", "id")
    absent = evidence.join(records.select("id"), on="id", how="anti")
    yield from _told("error", "query {query}: evidence {about} is not in the store", absent)
    unheld = found.filter(pl.col("doc_id").is_null(), ~pl.col("avoid")).select(pair)
    here = evidence.join(absent, on=["query_id", "id"], how="anti").rename({"id": "unit"})
    hidden = unheld.join(here, on=pair, how="semi")
    says = "query {query}: evidence {about} is hidden and nothing came of it"
    yield from _told("warning", says, hidden)
    lost = unheld.join(suite.nuggets.rename({"nugget": "unit"}), on=pair, how="semi")
    yield from _told("error", "query {query}: no record matches the nugget {about}", lost)
    shared = suite.relevant.join(records.filter(pl.col("scope").is_in(SHARED)), on="id", how="semi")
    scopes = suite.queries.filter(pl.col("scope").is_not_null())
    scopes = scopes.join(records, on="scope", how="anti").select("query_id", "scope")
    scopes = scopes.join(shared, on="query_id", how="anti")  # who has none of their own reads those
    yield from _told("error", "query {query}: the store has no scope {about}", scopes)
    elsewhere = (
        evidence.join(suite.queries.select("query_id", "scope"), on="query_id")
        .join(records.select("id", within="scope"), on="id")
        .filter(pl.col("scope") != pl.col("within"), ~pl.col("within").is_in(SHARED))
    )  # fmt: skip
    says = "query {query}: evidence {about} is in another scope"
    yield from _told("error", says, elsewhere.select("query_id", "id"))


def _unanswerable(suite: Suite) -> Iterator[Problem]:
    golden = pl.concat([suite.relevant.select("query_id"), suite.nuggets.select("query_id")])
    asked = suite.queries.select("query_id", pl.lit(None), "answerable")
    open_, closed = asked.filter("answerable"), asked.filter(~pl.col("answerable"))
    says = "query {query} has neither evidence nor nuggets"
    yield from _told("error", says, open_.join(golden, on="query_id", how="anti"))
    says = "query {query} is called unanswerable and has evidence"
    yield from _told("error", says, closed.join(golden, on="query_id", how="semi"))
    lost = suite.relevant.select("query_id", pl.lit(None)).unique()
    lost = lost.join(suite.queries, on="query_id", how="anti")
    yield from _told("error", "evidence for {query}, which is not asked", lost)


def _ambiguous(suite: Suite, found: pl.DataFrame) -> Iterator[Problem]:
    same = suite.queries.with_columns(said=normalised(pl.col("text")))
    ids = same.group_by("said", "scope", "as_of").agg(pl.col("query_id").sort())["query_id"]
    for some in ids.filter(ids.list.len() > 1).to_list():
        says = f"queries {', '.join(map(repr, some))} ask the same"
        yield Problem("warning", some[0], None, says)
    held = found.filter(~pl.col("avoid")).drop_nulls("doc_id").group_by("query_id", "unit").len()
    broad = held.filter(pl.col("len") > BROAD)
    yield from _told("warning", "query {query}: {more[0]} records hold {about}", broad)


def _leaked(suite: Suite, records: pl.DataFrame) -> Iterator[Problem]:
    said = normalised(pl.col("text"))
    held = records.filter(LIVE).select(doc_id="id", said=said).filter(pl.col("said") != "")
    whole = suite.queries.select("query_id", said=said).join(held, on="said", how="inner")
    held = pl.concat([whole.select("query_id", "doc_id"), leaks(suite, records)]).unique()
    yield from _told("warning", "query {query} stands in the store as record {about}", held)


def _small(suite: Suite) -> Iterator[Problem]:
    if suite.queries.height < FEWEST:
        says = f"{suite.queries.height} queries show large losses only (want {FEWEST})"
        yield Problem("warning", None, None, says)
    for name in ("category", "lang"):
        few = suite.queries.group_by(name).len().filter(pl.col("len") < FEWEST_IN_SLICE)
        for value, count in few.rows():
            says = f"{name} {value!r} has {count} queries (want {FEWEST_IN_SLICE})"
            yield Problem("warning", None, f"{name}:{value}", says)


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
        of = f"{count} queries show a loss from {shown:.0%}"
        yield Problem("warning", None, "power", f"{of}; for {settings.unsure:.0%} ask {wanted}")
