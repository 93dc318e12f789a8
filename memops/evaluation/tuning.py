"""Tuning: retrievers, weights, encoders and passages tried on one half of a suite, told on the other.

Half of the queries (by a hash of their ids) choose, the other half reports, so that a choice among
many is not praised for its luck. Cost is milliseconds a query, by the clock that is given.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from memops.models.encode import Encoder
from memops.policy import Policy
from memops.progress import tracked
from memops.schema import LIVE, empty
from memops.search.collection import in_passages, whole
from memops.search.retrieve import Searcher
from memops.state.lineage import kept_lineage

FEWEST = 20  # queries of a half, below which nothing is chosen
_SIMPLE = ("bm25", "dense", "rrf", "hybrid")
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
    """What a candidate reached on either half, and what it cost."""

    candidate: Candidate
    dev: float
    test: float
    milliseconds: float
    values: Mapping[str, float] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Tuned:
    """All that was tried; `chosen` was best on the dev half, `now` is the suite's own way."""

    measure: str
    queries: tuple[int, int]
    tried: list[Tried]
    now: Tried
    chosen: Tried
    gain: tuple[float, float, float]
    """Mean difference of chosen and now on the test half, with its interval."""

    def to_json(self) -> dict[str, Any]:
        """Return it in JSON values, best on the dev half first."""
        best = sorted(self.tried, key=lambda t: (-t.dev, t.milliseconds, t.candidate.name))
        return {
            "measure": self.measure, "dev_queries": self.queries[0], "test_queries": self.queries[1],
            "now": self.now.candidate.name, "chosen": self.chosen.candidate.name,
            "retriever": self.chosen.candidate.retriever, "encoder": self.chosen.candidate.encoder,
            "weights": self.chosen.candidate.weights, "passages": self.chosen.candidate.passages,
            "gain": dict(zip(("mean", "low", "high"), self.gain, strict=True)),
            "tried": [
                {"name": t.candidate.name, "dev": t.dev, "test": t.test, "ms": t.milliseconds}
                for t in best
            ],
        }  # fmt: skip


def tune(
    records: pl.DataFrame,
    suite: Suite,
    policy: Policy,
    encoders: Mapping[str, Encoder],
    clock: Callable[[], float],
    edges: pl.DataFrame | None = None,
) -> Tuned:
    """Try every candidate on the suite; raises MemopsError for a suite too small to split."""
    asked = suite.queries.filter("answerable")
    golden = qrels(suite, records, edges).join(asked, on="query_id", how="semi")
    name = policy.gate.measure if policy.gate.measure in suite.measures else suite.measures[0]
    every = set(golden["query_id"])
    dev = {query for query in every if hashlib.sha256(query.encode()).digest()[0] % 2 == 0}
    rest = every - dev
    if min(len(dev), len(rest)) < FEWEST:
        few = f"{len(dev)} and {len(rest)} queries are too few to choose by (want {FEWEST} each)"
        raise MemopsError(f"{suite.name}: {few}", "see `memops recall suite init`")
    tries = _Tries(records, asked, golden, policy, encoders, name, suite.k, clock)
    encoder = suite.encoder if suite.encoder in encoders else next(iter(encoders))
    own = Candidate(suite.retriever, encoder)
    ways: dict[str, Candidate] = {}
    for way in candidates(own, encoders, records):
        ways.setdefault(way.name, way)
    named = tracked("trying ways to search", [*ways.values()])
    tried = [tries.of(way, dev, rest) for way in named]
    now = tried[0]
    sign = measure(name).sign
    chosen = min(tried, key=lambda t: (-sign * round(t.dev, 6), t.milliseconds, t.candidate.name))
    differences = np.array([chosen.values[q] - now.values[q] for q in sorted(rest)])
    how = policy.gate
    low, high = interval(differences, how.confidence, how.resamples, how.seed)
    gain = (round(float(differences.mean()), 6), low, high)
    return Tuned(name, (len(dev), len(rest)), tried, now, chosen, gain)


def candidates(
    own: Candidate, encoders: Mapping[str, Encoder], records: pl.DataFrame
) -> Iterator[Candidate]:
    """Yield the suite's own way first, then others; passages only where texts are long."""
    yield own
    yield Candidate("bm25", own.encoder)
    for encoder in encoders:
        for retriever in _SIMPLE[1:]:
            yield Candidate(retriever, encoder)
        for weights in _WEIGHTS:
            yield Candidate(
                "hybrid", encoder, dict(zip(("words", "grams", "dense"), weights, strict=True))
            )
    long = records["text"].str.len_chars().quantile(0.9) or 0
    if long > _PASSAGE:
        yield Candidate("hybrid", own.encoder, passages=_PASSAGE)


@dataclass
class _Tries:
    records: pl.DataFrame
    asked: pl.DataFrame
    golden: pl.DataFrame
    policy: Policy
    encoders: Mapping[str, Encoder]
    measure: str
    k: int
    clock: Callable[[], float]
    _made: dict[Any, Searcher] = field(default_factory=dict, repr=False)

    def of(self, candidate: Candidate, dev: set[str], rest: set[str]) -> Tried:
        searcher = self._searcher(candidate)
        deep = 5 * self.k if candidate.passages else self.k
        searcher.run(candidate.retriever, deep)  # builds what later runs share
        taken = np.inf
        for _ in range(_TIMES):
            begun = self.clock()
            run = searcher.run(candidate.retriever, deep)
            taken = min(taken, 1000 * (self.clock() - begun) / max(1, self.asked.height))
        run = whole(run, self.k) if candidate.passages else run
        values = dict(
            grades(run, self.golden, [self.measure]).select("query_id", "value").iter_rows()
        )
        means = [float(np.mean([values[q] for q in sorted(half)])) for half in (dev, rest)]
        return Tried(candidate, round(means[0], 6), round(means[1], 6), round(taken, 3), values)

    def _searcher(self, candidate: Candidate) -> Searcher:
        key = candidate.encoder, candidate.passages
        if key not in self._made:
            records = self.records
            records = in_passages(records, candidate.passages) if candidate.passages else records
            encoder = self.encoders[candidate.encoder]
            self._made[key] = Searcher(records, self.asked, encoder, self.policy)
        made = self._made[key]
        name = "model_weights" if self.encoders[candidate.encoder].speaks else "weights"
        weights = candidate.weights or getattr(self.policy.retrieval, name)
        return made.weighing(dict(weights))


_TEXTS = 400  # of a store by which two models are compared


def tuned(asked: Asked, encoders: Sequence[str]) -> dict[str, Any]:
    """Try ways of searching a store by a suite; returns the figures."""
    settings, taken = asked.settings, asked.taken()
    records, loaded = taken.records(), load(suite_folder(asked.suite))
    tried = {loaded.encoder: frozen(loaded, records)}
    for name in encoders:
        tried.setdefault(name, fitted(name, records, settings))
    edges = kept_lineage(settings.state, taken.manifest["store"])
    found = tune(records, loaded, settings.policy, tried, time.perf_counter, edges)
    return {"suite": asked.suite, "store": taken.address, **found.to_json()}


def distilled(path: str, out: Path, dims: int, on: Asked | None) -> dict[str, Any]:
    """Make a static model of a model, and say what it loses and gains on a store's texts.

    What recall it loses is told where a suite is named, too.
    """
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
