"""Suites as steps: proposed from a store, reviewed, checked, and carried over to a changed store."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from memops import files
from memops.context import Context
from memops.errors import MemopsError
from memops.evaluation import exchange, golden, proposals
from memops.evaluation.format import Proposal, rows_of
from memops.evaluation.golden import Suite, suite_folder
from memops.evaluation.lineage import leaks, qrels, remapped
from memops.evaluation.proposing import CATEGORIES
from memops.evaluation.proposing import propose as asked_of
from memops.evaluation.statistics import count_for, detectable_share
from memops.language.text import normalised
from memops.policy import Policy
from memops.rules import propose
from memops.rules.normalise_superseded import normalise_superseded
from memops.rules.supersede_conflicting import supersede_conflicting
from memops.safety.known_secrets import remembered
from memops.safety.masking import masked_table
from memops.schema import LIVE, SHARED
from memops.settings import Settings
from memops.snapshot import store_id
from memops.state.lineage import kept_lineage, superseded
from memops.state.outputs import note
from memops.state.sources import clock, open_or_take


def init(
    store: str, settings: Settings, folder: Path | None, each: int, now: datetime | None
) -> dict[str, Any]:
    """Propose golden queries from a store into a suite's review file; decisions are kept."""
    taken = open_or_take(store, settings, now, to_grade=True)
    records = taken.records()
    ctx = Context(now=now or clock(), policy=settings.policy)
    # What a night would supersede is out of date already, whether or not it has run.
    plan, _ = propose(records, ctx, (normalise_superseded, supersede_conflicting))
    shown = masked_table(records, settings.policy.secrets, remembered(settings.state))
    made = proposals.described(asked_of(shown, each, superseded(plan)), shown)
    path = folder or Path("evals") / (store if store in settings.stores else store.split(":")[0])
    files.folder(note(settings.state, path, store_id(taken.manifest["store"])))
    old = proposals.read(path) if (path / proposals.NAME).is_file() else []
    rows = proposals.merged(old, made)
    files.write(path / proposals.NAME, proposals.text_of(rows).encode())
    for name, text in (("suite.toml", _HEAD), ("queries.jsonl", "")):
        if not (path / name).exists():
            files.write(path / name, text.encode())
    return {"suite": str(path), "store": taken.address, **_counts(rows)}


def review(
    suite: str, keep: Collection[str] = (), drop: Collection[str] = (), rest: bool | None = None
) -> dict[str, Any]:
    """Decide on proposals, by query or category, and write what was kept into the suite."""
    folder = suite_folder(suite)
    rows = proposals.decided(proposals.read(folder), keep, drop, rest)
    held = rows_of(folder / "queries.jsonl")
    files.write(folder / proposals.NAME, proposals.text_of(rows).encode())
    asked = proposals.queries(rows, held)
    files.write(folder / "queries.jsonl", proposals.text_of(asked).encode())
    golden.load(folder)
    waiting = [row for row in rows if row.get("keep") is None]
    return {"suite": str(folder), **_counts(rows), "queries": len(asked), "waiting": waiting}


def check_suite(
    suite: str, store: str, settings: Settings, now: datetime | None = None
) -> list[dict[str, Any]]:
    """Return what is wrong with a suite for the store that it was made for."""
    taken = open_or_take(store, settings, now, to_grade=True)
    loaded = golden.load(suite_folder(suite))
    return [asdict(p) for p in check(loaded, taken.records(), settings.policy)]


def remap(
    suite: str, store: str, settings: Settings, now: datetime | None = None
) -> dict[str, Any]:
    """Write the live heirs of merged and migrated evidence into a suite."""
    taken = open_or_take(store, settings, now, to_grade=True)
    folder = suite_folder(suite)
    before = golden.load(folder)
    after = remapped(before, taken.records(), kept_lineage(settings.state, taken.manifest["store"]))
    was, now_ = golden.relevant_of(before), golden.relevant_of(after)
    rows = [
        row | {"relevant": now_[row["query_id"]]} if row["query_id"] in now_ else row
        for row in rows_of(folder / "queries.jsonl")
    ]
    files.write(folder / "queries.jsonl", proposals.text_of(rows).encode())
    changed = sorted(q for q in now_ if now_[q] != was[q])
    return {"suite": str(folder), "queries": len(rows), "changed": len(changed), "ids": changed}


def import_suite(path: Path, kind: str, folder: Path) -> dict[str, Any]:
    """Make a suite of another program's queries; records that come with them stand beside it."""
    rows, records = exchange.read(path, kind)
    if (folder / "queries.jsonl").exists():
        raise MemopsError(f"{folder}: a suite is there already", "give another folder with -o")
    golden.tables(rows, str(path))
    files.folder(folder)
    files.write(folder / "queries.jsonl", proposals.text_of(rows).encode())
    files.write(folder / "suite.toml", _HEAD.encode())
    if records:
        files.write(folder / "records.jsonl", proposals.text_of(records).encode())
    store = f"jsonl:{folder / 'records.jsonl'}" if records else None
    return {"suite": str(folder), "queries": len(rows), "records": len(records), "store": store}


def export_suite(
    suite: str, kind: str, folder: Path, settings: Settings, store: str | None, now: datetime | None
) -> dict[str, Any]:
    """Write a suite as another program reads it; with a store, its live records too."""
    loaded = golden.load(suite_folder(suite))
    records = None
    if store:
        live = open_or_take(store, settings, now, to_grade=True).records().filter(LIVE)
        records = masked_table(live, settings.policy.secrets, remembered(settings.state))
    note(settings.state, folder)
    return {"folder": str(folder), "files": exchange.write(loaded, folder, kind, records)}


_HEAD = """\
# How this suite is graded; `memops recall suite check` says what is wrong with it.
measures = ["R@5", "R@10", "Success@1", "RR@10", "nDCG@10", "stale@5", "leak@5"]
retriever = "hybrid"
k = 10
"""


def _counts(rows: list[Proposal]) -> dict[str, Any]:
    by = Counter(row["category"] for row in rows)
    kept, dropped = (sum(row.get("keep") is word for row in rows) for word in (True, False))
    said = {"proposed": len(rows), "kept": kept, "dropped": dropped}
    return said | {"by_category": {name: by[name] for name in CATEGORIES}}


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

    Noise flips some queries each way; the loss shown with a power of 80 % is (z of 95 % + z of 80 %) *
    sqrt(flips / queries), after Sakai (2016).
    """
    count = suite.queries.filter("answerable").height
    settings = policy.gate
    shown = detectable_share(FLIPS, count, settings.confidence) if count else 1.0
    if shown > settings.unsure:
        wanted = count_for(FLIPS, settings.unsure, settings.confidence)
        of = f"{count} queries show a loss from {shown:.0%}"
        yield Problem("warning", None, "power", f"{of}; for {settings.unsure:.0%} ask {wanted}")
