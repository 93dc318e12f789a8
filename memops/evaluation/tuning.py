"""Tuning: retrievers, weights, encoders and passages tried on one half of a suite, told on the other half."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from memops.errors import MemopsError
from memops.evaluation.golden import Suite, load, suite_folder
from memops.evaluation.grading import fitted, frozen, grade
from memops.evaluation.grading_steps import Asked
from memops.evaluation.lineage import qrels
from memops.evaluation.statistics import interval
from memops.measures import grades, measure
from memops.models.vectors import Encoder
from memops.policy import Policy
from memops.progress import tracked
from memops.schema import LIVE, empty
from memops.search.arms import ARMS
from memops.search.collection import in_passages, whole
from memops.search.retrieve import Searcher
from memops.state.lineage import kept_lineage

FEWEST = 20  # queries of a half, below which nothing is chosen
_WEIGHTS = ((0.6, 0.2, 0.2), (0.2, 0.1, 0.7), (0.3, 0.3, 0.4), (0.5, 0.5, 0.0))
_PASSAGE = 400  # characters
_TIMES = 3  # that a search is timed; the least is told, which other programs disturb little


@dataclass(frozen=True)
class Candidate:
    """One way of searching: retriever, encoder by name, weights of the arms, passages."""

    retriever: str
    encoder: str
    weights: Mapping[str, float] | None = None
    passages: int = 0

    @property
    def name(self) -> str:
        """Return it in words."""
        parts = [self.retriever, *([] if self.retriever == "bm25" else [self.encoder])]
        if self.weights:
            parts.append("/".join(f"{w:g}" for w in self.weights.values()))
        return " ".join([*parts, *([f"passages of {self.passages}"] if self.passages else [])])


@dataclass(frozen=True)
class Tried:
    """A candidate with its mean on either half, milliseconds a query, and each query's value."""

    way: Candidate
    dev: float
    test: float
    ms: float
    values: Mapping[str, float] = field(repr=False)


def tuned(asked: Asked, encoders: Sequence[str]) -> dict[str, Any]:
    """Try ways of searching a store by a suite, best on the dev half first; returns the figures.

    `gain` is the mean difference, on the other half, of what was best there and the suite's own way,
    with its interval. Raises MemopsError for a suite too small to split.
    """
    settings, taken = asked.settings, asked.taken()
    records, suite = taken.records(), load(suite_folder(asked.suite))
    opened = {suite.encoder: frozen(suite, records)}
    for name in encoders:
        opened.setdefault(name, fitted(name, records, settings))
    golden = qrels(suite, records, kept_lineage(settings.state, taken.manifest["store"]))
    tries = _Tries(records, suite, golden, settings.policy, opened)
    dev, rest = tries.halves()
    ways = {way.name: way for way in candidates(suite, opened, records)}
    tried = [tries.of(way, dev, rest) for way in tracked("trying ways to search", [*ways.values()])]
    now, sign = tried[0], measure(tries.measure).sign
    chosen = min(tried, key=lambda t: (-sign * round(t.dev, 6), t.ms, t.way.name))
    differences = np.array([chosen.values[q] - now.values[q] for q in rest])
    how = settings.policy.gate
    low, high = interval(differences, how.confidence, how.resamples, how.seed)
    best = sorted(tried, key=lambda t: (-t.dev, t.ms, t.way.name))
    return {
        "suite": asked.suite, "store": taken.address, "measure": tries.measure,
        "dev_queries": len(dev), "test_queries": len(rest), "now": now.way.name,
        "chosen": chosen.way.name, **asdict(chosen.way),
        "gain": {"mean": round(float(differences.mean()), 6), "low": low, "high": high},
        "tried": [{"name": t.way.name, "dev": t.dev, "test": t.test, "ms": t.ms} for t in best],
    }  # fmt: skip


def candidates(suite: Suite, encoders: Iterable[str], records: pl.DataFrame) -> Iterator[Candidate]:
    """Yield the suite's own way first, then others; passages only where texts are long."""
    yield Candidate(suite.retriever, suite.encoder)
    yield Candidate("bm25", suite.encoder)
    for encoder in encoders:
        for retriever in ("dense", "rrf", "hybrid"):
            yield Candidate(retriever, encoder)
        for weights in _WEIGHTS:
            yield Candidate("hybrid", encoder, dict(zip(ARMS, weights, strict=True)))
    if (records["text"].str.len_chars().quantile(0.9) or 0) > _PASSAGE:
        yield Candidate("hybrid", suite.encoder, passages=_PASSAGE)


class _Tries:
    """The searches of one suite, by the measure that decides."""

    def __init__(
        self, records: pl.DataFrame, suite: Suite, golden: pl.DataFrame, policy: Policy,
        encoders: Mapping[str, Encoder],
    ) -> None:  # fmt: skip
        self.records, self.suite, self.policy, self.encoders = records, suite, policy, encoders
        self.asked = suite.queries.filter("answerable")
        self.golden = golden.join(self.asked, on="query_id", how="semi")
        decides = policy.gate.measure
        self.measure = decides if decides in suite.measures else suite.measures[0]
        self.made: dict[tuple[str, int], Searcher] = {}

    def halves(self) -> tuple[list[str], list[str]]:
        """The queries that choose, and those that report."""
        halves: tuple[list[str], list[str]] = ([], [])
        for query in sorted(set(self.golden["query_id"])):
            halves[hashlib.sha256(query.encode()).digest()[0] % 2].append(query)
        if min(map(len, halves)) < FEWEST:
            few = f"{len(halves[0])} and {len(halves[1])} queries are too few to choose by"
            said = f"{self.suite.name}: {few} (want {FEWEST} each)"
            raise MemopsError(said, "see `memops recall suite init`")
        return halves

    def of(self, way: Candidate, dev: Sequence[str], rest: Sequence[str]) -> Tried:
        searcher, k = self._searcher(way), self.suite.k
        deep = 5 * k if way.passages else k
        searcher.run(way.retriever, deep)  # builds what later runs share
        taken = np.inf
        for _ in range(_TIMES):
            begun = time.perf_counter()
            run = searcher.run(way.retriever, deep)
            taken = min(taken, 1000 * (time.perf_counter() - begun) / max(1, self.asked.height))
        run = whole(run, k) if way.passages else run
        graded = grades(run, self.golden, [self.measure]).select("query_id", "value")
        values = dict(graded.iter_rows())
        means = (float(np.mean([values[q] for q in half])) for half in (dev, rest))
        on_dev, on_rest = (round(mean, 6) for mean in means)
        return Tried(way, on_dev, on_rest, round(taken, 3), values)

    def _searcher(self, way: Candidate) -> Searcher:
        key, encoder = (way.encoder, way.passages), self.encoders[way.encoder]
        if key not in self.made:
            records = in_passages(self.records, way.passages) if way.passages else self.records
            self.made[key] = Searcher(records, self.asked, encoder, self.policy)
        name = "model_weights" if encoder.speaks else "weights"
        return self.made[key].weighing(dict(way.weights or getattr(self.policy.retrieval, name)))


_TEXTS = 400  # of a store by which two models are compared


def distilled(path: str, out: Path, dims: int, on: Asked | None) -> dict[str, Any]:
    """Make a static model of a model, and say what it loses and gains on a store's texts."""
    from memops.models.distilled import compared, distil
    from memops.models.transformers import Model

    student, teacher = distil(path, out, dims), Model(path)
    records = on.taken().records() if on else empty()
    texts = records.filter(LIVE)["text"].unique().sort().to_list() if on else _SAID
    said = compared(teacher, student, texts[:: max(1, len(texts) // _TEXTS)][:_TEXTS])
    if on and on.suite:
        loaded = load(suite_folder(on.suite))
        said["measure"] = loaded.measures[0]
        for name, model in (("model", teacher), ("static", student)):
            means = grade(records, loaded, on.settings.policy, model).means()
            said[name]["recall"] = round(means[said["measure"]], 4)
    return {"path": str(out), **said}


_SAID = [
    "The user lives in Berlin", "The user moved to Berlin last year", "Deploys happen on Fridays",
    "The build server has 64 GB of memory", "The cat is called Miso", "Her cat's name is Miso",
    "Alice prefers tea to coffee", "The meeting was moved to Monday", "The office is closed on Monday",
    "Backups are written every night", "The database runs on port 5432", "He is allergic to peanuts",
]  # fmt: skip
