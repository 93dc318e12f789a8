"""Grading: a suite asked of a store's records, by the suite's retriever and two reference ones."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from memops.encode import Encoder, Lsa, open_encoder
from memops.errors import Corrupt
from memops.measures import grades
from memops.policy import Policy
from memops.schema import LIVE
from memops.search.retrieve import RUN, Searcher
from memops.suite.golden import Suite
from memops.suite.lineage import qrels

REFERENCES = ("grep", "rrf")
ENCODER = "encoder.npz"
PER_QUERY = pl.Schema(
    {
        "retriever": pl.String(),
        "query_id": pl.String(),
        "category": pl.String(),
        "lang": pl.String(),
        "measure": pl.String(),
        "value": pl.Float64(),
    }
)
VERSION = 1


@dataclass(frozen=True)
class Grades:
    """What a suite measured: a value a retriever, query and measure, and what it depends on.

    `retriever` is the one that is judged. `fingerprints` must agree before two are compared.
    """

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

    def aggregates(self) -> pl.DataFrame:
        """Return (retriever, slice, measure, queries, value): means over all and by slice."""
        return pl.concat(
            self.per_query.with_columns(slice=name)
            .group_by("retriever", "slice", "measure", maintain_order=True)
            .agg(queries=pl.len().cast(pl.Int64), value=pl.mean("value"))
            for name in SLICES.values()
        ).sort("retriever", "slice", maintain_order=True)

    def means(self) -> dict[str, float]:
        """Return the judged retriever's mean of each measure."""
        own = self.per_query.filter(pl.col("retriever") == self.retriever)
        return dict(own.group_by("measure", maintain_order=True).agg(pl.mean("value")).rows())

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON values: means first, then every query."""
        table = self.per_query.pivot(
            "measure", index=["retriever", "query_id", "category", "lang"], values="value"
        )
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
    def from_json(held: Mapping[str, Any], where: str = "baseline") -> "Grades":
        """Return grades from `to_json`; raises Corrupt for anything else."""
        try:
            if held["version"] != VERSION:
                raise Corrupt(
                    f"{where}: version {held['version']!r} is not {VERSION}",
                    "record it again with --accept",
                )
            names = held["columns"]
            kinds = {name: PER_QUERY.get(name, pl.Float64()) for name in names}
            table = pl.DataFrame(held["queries"], schema=kinds, orient="row")
            long = table.unpivot(
                index=list(PER_QUERY)[:4], variable_name="measure", value_name="value"
            )
            return Grades(
                held["suite"], held["retriever"], long.select(PER_QUERY.names()).cast(PER_QUERY),
                held["fingerprints"], held["live"], held.get("floors", {}),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise Corrupt(
                f"{where}: not recorded grades: {error}", "record them again with --accept"
            ) from error


SLICES: dict[str, pl.Expr] = {
    "all": pl.lit("all"),
    "category": pl.format("category:{}", "category"),
    "lang": pl.format("lang:{}", "lang"),
}


def grade(
    records: pl.DataFrame,
    suite: Suite,
    policy: Policy,
    encoder: Encoder | None = None,
    edges: pl.DataFrame | None = None,
) -> Grades:
    """Return the suite's grades of records.

    Give both sides of a comparison the same encoder (`frozen`); without one, the suite's is used.
    `edges` (old, new) says what became of records that are no longer there (`lineage`).
    """
    encoder = encoder or frozen(suite, records)
    golden = qrels(suite, records, edges)
    asked = suite.queries.filter("answerable")
    searcher = Searcher(records, asked, encoder, policy)
    names = dict.fromkeys((*REFERENCES, suite.retriever))
    runs = {name: searcher.run(name, suite.k) for name in names}
    parts = [
        grades(run, golden, suite.measures).with_columns(retriever=pl.lit(name))
        for name, run in runs.items()
    ]
    per_query = (
        pl.concat(parts)
        .join(asked.select("query_id", "category", "lang"), on="query_id", maintain_order="left")
        .select(PER_QUERY.names())
    )  # fmt: skip
    return Grades(
        suite.name, suite.retriever, per_query, fingerprints(suite, policy, encoder),
        records.filter(LIVE).height, suite.floors, runs[suite.retriever], encoder,
    )  # fmt: skip


def freeze(grades: Grades, folder: Path) -> None:
    """Write the fitted encoder of these grades beside their baseline.

    Fitted anew on the records of another day it would be another encoder, and nothing could be
    compared.
    """
    if isinstance(grades.encoder, Lsa):
        grades.encoder.save(folder / ENCODER)


def frozen(suite: Suite, records: pl.DataFrame) -> Encoder:
    """Return the suite's encoder: as it was saved with the baseline, or fitted on these records."""
    saved = suite.folder / ENCODER if suite.folder else None
    if suite.encoder == "lsa" and saved is not None and saved.is_file():
        return Lsa.load(saved)
    return open_encoder(suite.encoder).fitted(texts_of(records))


def texts_of(records: pl.DataFrame) -> Sequence[str]:
    """Return what an encoder is fitted on: the live records' texts."""
    return records.filter(LIVE)["text"].to_list()


def fingerprints(suite: Suite, policy: Policy, encoder: Encoder) -> dict[str, Any]:
    """Return what must be the same before grades are compared."""
    return {
        "suite": suite.digest(),
        "settings": suite.settings(),
        "retrieval": json.loads(json.dumps(asdict(policy.retrieval))),
        "encoder": encoder.recipe(),
    }
