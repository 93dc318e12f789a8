"""Measures of a run, by their TREC names, each an expression over the ranks of what is relevant.

A unit is one thing to be found: a judged record, or a nugget that any of several records may hold, at the
best of their ranks. The denominator is the number of units, found or not. Definitions are those of
trec_eval, checked against ir_measures; a query that the run does not answer has the value 0.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from memops.errors import MemopsError, did_you_mean

GRADES = pl.Schema({"query_id": pl.String(), "measure": pl.String(), "value": pl.Float64()})
EXPONENTIAL = "nDCG(dcg='exp-log2')"
_RELEVANT = pl.col("grade") > 0
_KEPT = 0.95  # share of the answerable queries that reach the threshold
_FAR = 2**31
_PAIR = pl.col("query_id").hash(1) ^ pl.col("doc_id").hash(2)


@dataclass(frozen=True)
class Measure:
    """A measure of one query, of ranks to its cutoff; `better` is higher or lower."""

    name: str
    value: pl.Expr
    better: str = "higher"
    cutoff: int = _FAR

    @property
    def sign(self) -> int:
        """Return by what a difference is multiplied so that more is better."""
        return 1 if self.better == "higher" else -1


def recall(k: int) -> pl.Expr:
    """Share of the units within the first k."""
    return _within(k).sum() / _RELEVANT.sum()


def success(k: int) -> pl.Expr:
    """1 if any unit is within the first k."""
    return _within(k).any().cast(pl.Float64)


def precision(k: int) -> pl.Expr:
    """Share of the first k places that hold a unit."""
    return pl.col("rank").filter(_within(k)).n_unique() / k


def reciprocal_rank(k: int) -> pl.Expr:
    """1 / rank of the first unit, 0 beyond k; its mean is MRR (Voorhees 1999)."""
    return 1 / pl.col("rank").filter(_within(k)).min()


def ndcg(k: int) -> pl.Expr:
    """Sum of grade / log2(rank + 1) over its best value (Järvelin and Kekäläinen 2002)."""
    return _ndcg(lambda grade: grade.cast(pl.Float64), k)


def ndcg_exponential(k: int) -> pl.Expr:
    """The same with the gain 2^grade - 1 (Burges et al. 2005)."""
    return _ndcg(lambda grade: 2 ** grade.cast(pl.Float64) - 1, k)


def average_precision(k: int) -> pl.Expr:
    """Mean over the units of the precision at their ranks (Harman 1992)."""
    share = (pl.col("nth") / pl.col("rank")).clip(upper_bound=1.0)
    return share.filter(_within(k)).sum() / _RELEVANT.sum()


def stale(k: int) -> pl.Expr:
    """1 if something to avoid is within the first k and before every relevant unit."""
    avoided = pl.col("rank").filter(pl.col("avoid") & (pl.col("rank") <= k)).min()
    return (avoided < pl.col("rank").filter(_RELEVANT).min().fill_null(_FAR)).cast(pl.Float64)


def leak(k: int) -> pl.Expr:
    """1 if something to avoid is within the first k."""
    return (pl.col("avoid") & (pl.col("rank") <= k)).any().cast(pl.Float64)


@dataclass(frozen=True)
class Family:
    """A measure at any cutoff: what it computes of one, and whether higher or lower is better."""

    value: Callable[[int], pl.Expr]
    written: tuple[str, ...]
    better: str = "higher"


FAMILIES = {
    "R": Family(recall, ("R@5", "R@10")),
    "Success": Family(success, ("Success@1", "Success@5")),
    "P": Family(precision, ("P@5",)),
    "RR": Family(reciprocal_rank, ("RR", "RR@10")),
    "nDCG": Family(ndcg, ("nDCG", "nDCG@10")),
    EXPONENTIAL: Family(ndcg_exponential, (EXPONENTIAL, f"{EXPONENTIAL}@10")),
    "AP": Family(average_precision, ("AP",)),
    "stale": Family(stale, ("stale@5",), "lower"),
    "leak": Family(leak, ("leak@5",), "lower"),
}
"""Every measure by its TREC name, which stands before `@k`."""


def measure(name: str) -> Measure:
    """Return the measure of that name, as in `R@5`; an unknown one is a MemopsError."""
    found = re.fullmatch(r"(.+?)(?:@([1-9][0-9]*))?", name)
    stem, cutoff = (found[1], found[2]) if found else (name, None)
    family = FAMILIES.get(stem)
    if family is None or (cutoff is None and stem not in family.written):
        known = [written for one in FAMILIES.values() for written in one.written]
        said = f"unknown measure {name!r}; known: {', '.join(known)}"
        raise MemopsError(said, did_you_mean(name, known))
    k = int(cutoff) if cutoff else _FAR
    return Measure(name, family.value(k), family.better, k)


def grades(run: pl.DataFrame, qrels: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Return (query_id, measure, value) for every judged query, by id and in the measures' order.

    `qrels` has query_id, doc_id (null for a unit that no record holds), grade, and may have `unit`, which
    gathers records that hold one thing, and `avoid`, true of what must not come. Ranks are the run's own.
    """
    wanted = [measure(name) for name in measures]
    deepest = max((m.cutoff for m in wanted), default=_FAR)
    run = run.filter(pl.col("rank") <= deepest) if deepest < _FAR else run
    values = (
        _placed(_units(run, qrels)).group_by("query_id")
        .agg(m.value.cast(pl.Float64).fill_null(0.0).alias(m.name) for m in wanted)
        .sort("query_id").unpivot(index="query_id", variable_name="measure", value_name="value")
    )  # fmt: skip
    return values.cast(GRADES)


def answerability(run: pl.DataFrame, queries: pl.DataFrame) -> dict[str, float]:
    """Return how well scores tell queries (query_id, answerable) that a store answers from others.

    `auroc` is the chance that an answerable query's best score is the higher (ties half, no answer -inf);
    `threshold` is what 95 % of those reach, `false_positives` the share of the others that reach it too.
    """
    best = run.group_by("query_id").agg(pl.max("score"))
    scored = queries.select("query_id", "answerable").join(best, on="query_id", how="left")
    scored = scored.with_columns(pl.col("score").fill_null(float("-inf")))
    ranks = scored["score"].rank("average").filter(scored["answerable"]).to_numpy()
    yes, no = (scored.filter(answerable=side)["score"].sort() for side in (True, False))
    # Mann and Whitney's U over the number of pairs.
    auroc = (ranks.sum() - len(yes) * (len(yes) + 1) / 2) / (len(yes) * len(no))
    threshold = float(yes[int((1 - _KEPT) * len(yes))])
    beyond = float((no.to_numpy() >= threshold).mean())
    return {"auroc": float(auroc), "threshold": threshold, "false_positives": beyond}


def _placed(units: pl.DataFrame) -> pl.DataFrame:
    """Adds `nth` (a unit's place among those found) and `place` (its place in the ideal order)."""
    found = units.sort("query_id", pl.when(_RELEVANT).then("rank"), nulls_last=True)
    ranked = _numbered(found, "nth")
    return _numbered(ranked.sort("query_id", "grade", descending=[False, True]), "place")


def _numbered(units: pl.DataFrame, name: str) -> pl.DataFrame:
    """Numbers each query's rows, which stand together, from 1."""
    row = pl.int_range(pl.len())
    new = pl.col("query_id").ne_missing(pl.col("query_id").shift(1)) | (row == 0)
    return units.with_columns((row - pl.when(new).then(row).forward_fill() + 1).alias(name))


def _units(run: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """One row a unit: grade, avoid, rank."""
    given = qrels.columns
    judged = qrels.select(
        "query_id", "doc_id", pl.col("grade").cast(pl.Int64),
        (pl.col("unit") if "unit" in given else pl.col("doc_id")).alias("unit"),
        (pl.col("avoid").fill_null(False) if "avoid" in given else pl.lit(False)).alias("avoid"),
    )  # fmt: skip
    # Pairs meet by a hash, for most of a long run is never judged; then by their names.
    judged = judged.with_columns(key=_PAIR)
    hits = run.select("rank", found="doc_id", key=_PAIR).filter(
        pl.col("key").is_in(judged["key"].implode())
    )
    found = judged.join(hits, on="key", how="left").with_columns(
        rank=pl.when(pl.col("found") == pl.col("doc_id")).then("rank")
    )
    if "unit" not in given:
        return found
    return found.group_by("query_id", "unit", "avoid").agg(pl.max("grade"), pl.min("rank"))


def _within(k: int) -> pl.Expr:
    return _RELEVANT & (pl.col("rank") <= k).fill_null(False)


def _ndcg(gain: Callable[[pl.Expr], pl.Expr], k: int) -> pl.Expr:
    found = (gain(pl.col("grade")) / (pl.col("rank") + 1).log(2)).filter(_within(k)).sum()
    best = _RELEVANT & (pl.col("place") <= k)
    ideal = (gain(pl.col("grade")) / (pl.col("place") + 1).log(2)).filter(best).sum()
    # Two units that one merged record holds share its rank, which no ideal order could.
    return (found / ideal).clip(upper_bound=1.0)
