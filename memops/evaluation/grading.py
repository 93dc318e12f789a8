"""Grading: a suite asked of a store's records, by the suite's retriever and two reference ones."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from memops import files
from memops.errors import Corrupt
from memops.evaluation.golden import Suite
from memops.evaluation.lineage import qrels
from memops.measures import answerability, grades
from memops.models.encode import Lsa, open_encoder
from memops.models.vectors import Encoder
from memops.policy import Policy
from memops.progress import tracked
from memops.schema import INSTANT, LIVE
from memops.search.collection import RUN
from memops.search.retrieve import Searcher
from memops.settings import Settings

REFERENCES = ("grep", "rrf")
ENCODER = "encoder.npz"
_ABOUT = ["retriever", "query_id", "category", "lang", "kind", "age"]
PER_QUERY = pl.Schema(dict.fromkeys([*_ABOUT, "measure"], pl.String()) | {"value": pl.Float64()})
"""Kind and age are those of the evidence; null where they are unknown."""
_SCORED = ("bm25", "dense")  # whose scores are compared from query to query
VERSION = 1


@dataclass(frozen=True)
class Grades:
    """What a suite measured: a value a retriever, query and measure, and the `fingerprints` of what it depends on."""

    suite: str
    retriever: str
    per_query: pl.DataFrame
    fingerprints: Mapping[str, Any]
    live: int
    """Live records that were searched."""
    floors: Mapping[str, float] = field(default_factory=dict)
    run: pl.DataFrame = field(default_factory=RUN.to_frame, compare=False, repr=False)
    """The judged retriever's answers; not kept in a baseline."""
    encoder: Encoder | None = field(default=None, compare=False, repr=False)
    """What it was graded with; `freeze` keeps it beside a baseline."""
    unanswered: Mapping[str, Mapping[str, float]] = field(default_factory=dict, compare=False)
    """How well each retriever's scores tell questions that nothing answers."""
    latency: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Milliseconds a query of each retriever, its index built."""

    def aggregates(self) -> pl.DataFrame:
        """Return (retriever, slice, measure, queries, value): means over all and by slice."""
        key = ("retriever", "slice", "measure")
        sliced = (self.per_query.with_columns(slice=name) for name in SLICES.values())
        grouped = (part.group_by(*key, maintain_order=True) for part in sliced)
        means = {"queries": pl.len().cast(pl.Int64), "value": pl.mean("value")}
        table = pl.concat(part.agg(**means) for part in grouped).drop_nulls("slice")
        return table.sort("retriever", "slice", maintain_order=True)

    def means(self) -> dict[str, float]:
        """Return the judged retriever's mean of each measure."""
        own = self.per_query.filter(pl.col("retriever") == self.retriever)
        return dict(own.group_by("measure", maintain_order=True).agg(pl.mean("value")).rows())

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON values: means first, then every query."""
        table = self.per_query.pivot("measure", index=_ABOUT, values="value")
        means = [
            {"retriever": r, "slice": s, "measure": m, "queries": n, "value": round(v, 6)}
            for r, s, m, n, v in self.aggregates().rows()
        ]
        return {
            "version": VERSION, "suite": self.suite, "retriever": self.retriever, "live": self.live,
            "fingerprints": dict(self.fingerprints), "floors": dict(self.floors), "means": means,
            "columns": table.columns, "queries": [list(row) for row in table.rows()],
        }  # fmt: skip

    @staticmethod
    def from_json(held: Mapping[str, Any]) -> "Grades":
        """Return grades from `to_json`; raises Corrupt for anything else."""
        try:
            if held["version"] != VERSION:
                said = f"baseline: version {held['version']!r} is not {VERSION}"
                raise Corrupt(said, "record it again with --accept")
            names = held["columns"]
            kinds = {name: PER_QUERY.get(name, pl.Float64()) for name in names}
            table = pl.DataFrame(held["queries"], schema=kinds, orient="row")
            about = [name for name in _ABOUT if name in names]
            long = table.unpivot(index=about, variable_name="measure", value_name="value")
            long = long.with_columns(pl.lit(None).alias(n) for n in _ABOUT if n not in names)
            return Grades(
                held["suite"], held["retriever"], long.select(PER_QUERY.names()).cast(PER_QUERY),
                held["fingerprints"], held["live"], held.get("floors", {}),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
            said = f"baseline: not recorded grades: {error}"
            raise Corrupt(said, "record them again with --accept") from error


SLICES: dict[str, pl.Expr] = {
    "all": pl.lit("all"),
    **{name: pl.format(f"{name}:{{}}", name) for name in ("category", "lang", "kind", "age")},
}
_AGES = ((7, "up to 7 days"), (30, "up to 30 days"), (180, "up to 180 days"))


def grade(
    records: pl.DataFrame,
    suite: Suite,
    policy: Policy,
    encoder: Encoder | None = None,
    edges: pl.DataFrame | None = None,
    clock: Callable[[], float] | None = None,
) -> Grades:
    """Return the suite's grades of records.

    Give both sides of a comparison one encoder (`frozen`); without one, the suite's is used. `edges`
    (old, new) says what became of records that are gone (`lineage`). With a `clock` (seconds) every
    search is timed.
    """
    encoder = encoder or frozen(suite, records)
    asked = suite.queries.filter("answerable")
    golden = qrels(suite, records, edges).join(asked, on="query_id", how="semi")
    searcher = Searcher(records, suite.queries, encoder, policy)
    names = dict.fromkeys((*REFERENCES, suite.retriever))
    runs = {name: searcher.run(name, suite.k) for name in tracked("searching", list(names))}
    parts = [
        grades(run, golden, suite.measures).with_columns(retriever=pl.lit(name))
        for name, run in runs.items()
    ]
    evidence = _evidence(golden, records)
    about = asked.select("query_id", "category", "lang").join(evidence, on="query_id", how="left")
    per_query = pl.concat(parts).join(about, on="query_id", how="left", maintain_order="left")
    per_query = per_query.select(PER_QUERY.names())
    return Grades(
        suite.name, suite.retriever, per_query, fingerprints(suite, policy, encoder),
        records.filter(LIVE).height, suite.floors, runs[suite.retriever], encoder,
        _unanswered(searcher, suite, runs), _timed(searcher, suite, names, clock),
    )  # fmt: skip


def _evidence(golden: pl.DataFrame, records: pl.DataFrame) -> pl.DataFrame:
    """(query_id, kind, age) of each query's newest evidence; age counts from the newest record."""
    known = records.select("kind", "created_at", doc_id="id")
    held = golden.filter(~pl.col("avoid")).join(known, on="doc_id")
    newest_at = pl.lit(records["created_at"].max(), INSTANT)
    days = (newest_at - pl.col("created_at")).dt.total_days()
    label = [pl.when(days <= most).then(pl.lit(said)) for most, said in _AGES]
    age = pl.coalesce(*label, pl.when(days.is_not_null()).then(pl.lit("older")))
    newest = held.sort("created_at", "doc_id", descending=True, nulls_last=True)
    return (
        newest.with_columns(age=age)
        .group_by("query_id", maintain_order=True).agg(pl.first("kind"), pl.first("age"))
    )  # fmt: skip


def _unanswered(
    searcher: Searcher, suite: Suite, runs: Mapping[str, pl.DataFrame]
) -> dict[str, dict[str, float]]:
    if suite.queries["answerable"].all() or not suite.queries["answerable"].any():
        return {}
    scored = {n: runs.get(n, searcher.run(n, 1)) for n in (*_SCORED, suite.retriever)}
    return {name: answerability(run, suite.queries) for name, run in scored.items()}


def _timed(
    searcher: Searcher, suite: Suite, names: Iterable[str], clock: Callable[[], float] | None
) -> dict[str, float]:
    if clock is None or suite.queries.is_empty():
        return {}
    taken = {}
    for name in names:
        begun = clock()
        searcher.run(name, suite.k)
        taken[name] = round(1000 * (clock() - begun) / suite.queries.height, 3)
    return taken


def freeze(grades: Grades, folder: Path) -> None:
    """Write the fitted encoder of these grades beside their baseline, with which alone others can be compared."""
    if isinstance(grades.encoder, Lsa):
        grades.encoder.save(folder / ENCODER)


def frozen(suite: Suite, records: pl.DataFrame) -> Encoder:
    """Return the suite's encoder: as it was saved with the baseline, or fitted on these records."""
    saved = suite.folder / ENCODER if suite.folder else None
    if suite.encoder == "lsa" and saved is not None and saved.is_file():
        return Lsa.load(saved)
    return open_encoder(suite.encoder).fitted(texts_of(records))


def fitted(name: str, records: pl.DataFrame, settings: Settings) -> Encoder:
    """Return an encoder by its name, fitted on the live records' texts."""
    made = open_encoder(name, files.folder(settings.state / "vectors"), settings.instruction)
    return made.fitted(texts_of(records))


def texts_of(records: pl.DataFrame) -> Sequence[str]:
    """Return what an encoder is fitted on: the live records' texts."""
    return records.filter(LIVE)["text"].to_list()


def fingerprints(suite: Suite, policy: Policy, encoder: Encoder) -> dict[str, Any]:
    """Return what must be the same before grades are compared."""
    retrieval = json.loads(json.dumps(asdict(policy.retrieval)))
    asked = {"suite": suite.digest(), "settings": suite.settings()}
    return asked | {"retrieval": retrieval, "encoder": encoder.recipe()}
