"""Statistics of paired grades: how sure a difference is."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from memops.evaluation.grading import Grades
from memops.measures import measure
from memops.policy.grading import Gate

Floats = npt.NDArray[np.float64]
_CELLS = 20_000_000


def interval(
    differences: Floats, confidence: float, resamples: int, seed: int
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean (Efron 1979), seeded."""
    if not differences.any():
        return 0.0, 0.0
    tail = (1 - confidence) / 2
    # Resamples are drawn as counts of each distinct difference (few are).
    values, counts = np.unique(differences, return_counts=True)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(differences), counts / counts.sum(), size=resamples)
    low, high = np.quantile(drawn @ values / len(differences), [tail, 1 - tail])
    return float(low), float(high)


def sign_flip(differences: Floats, resamples: int, seed: int) -> float:
    """Return the one-sided p of a mean so low if signs were random (Fisher's test): exact below 16
    differences that are not 0, else of `resamples` random flips.
    """
    moved = differences[differences != 0]
    if not len(moved):
        return 1.0
    observed = moved.sum() + 1e-12
    if len(moved) < 16:
        flips = 1 - 2 * ((np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved))) & 1)
        return float((flips @ np.abs(moved) <= observed).mean())
    rng = np.random.default_rng(seed)
    below = 0
    size = max(1, _CELLS // len(moved))
    for start in range(0, resamples, size):
        shape = (min(size, resamples - start), len(moved))
        flips = rng.integers(0, 2, shape, dtype=np.int8) * 2 - 1
        below += int((flips @ np.abs(moved) <= observed).sum())
    return (below + 1) / (resamples + 1)


def holm(ps: list[float]) -> list[float]:
    """Return the p-values adjusted for their number (Holm 1979), in the order given."""
    scaled = np.minimum(np.sort(ps) * np.arange(len(ps), 0, -1), 1.0)
    adjusted = np.empty(len(ps))
    adjusted[np.argsort(ps, kind="stable")] = np.maximum.accumulate(scaled)
    return list(map(float, adjusted))


def detectable(differences: Floats) -> float:
    """Return the smallest mean loss that so many queries would show four times in five; 1 of fewer than two.

    (z of 97.5 % + z of 80 %) * standard error.
    """
    if len(differences) < 2:
        return 1.0
    return float(_zs(0.95) * differences.std(ddof=1) / np.sqrt(len(differences)))


def detectable_share(flips: float, count: int, confidence: float) -> float:
    """Return the mean loss that so many queries show, if a share of them flips by chance."""
    return float(_zs(confidence) * np.sqrt(flips / count))


def count_for(flips: float, loss: float, confidence: float) -> int:
    """Return how many queries show a mean loss, if a share of them flips by chance."""
    return int(np.ceil(flips * (_zs(confidence) / loss) ** 2 - 1e-6))


def _zs(confidence: float) -> float:
    """Where the interval ends, and how far beyond it the truth must lie for a power of 80 %."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(0.5 + confidence / 2) + NormalDist().inv_cdf(0.8)


_SAME = 1e-9


def compared(graded: Grades, settings: Gate) -> list[dict[str, Any]]:
    """Return a row for each other retriever and measure, in their order.

    `difference` is the judged retriever's mean less the other's, with its bootstrap interval; `p` that
    of a sign-flip test on both sides, by Holm over all rows; `won`, `tied` and `lost` count queries.
    """
    key = ["query_id", "measure"]
    own = graded.per_query.filter(pl.col("retriever") == graded.retriever)
    others = graded.per_query.filter(pl.col("retriever") != graded.retriever)
    pairs = others.join(own.select(*key, own="value"), on=key, maintain_order="left").with_columns(
        difference=pl.col("own") - pl.col("value")
    )
    rows = [
        {"retriever": graded.retriever, "against": str(against), "measure": str(name)}
        | _row(held["difference"].to_numpy(), str(name), settings)
        for (against, name), held in pairs.group_by("retriever", "measure", maintain_order=True)
    ]
    ps = holm([row["p"] for row in rows])
    return [row | {"p": round(p, 6)} for row, p in zip(rows, ps, strict=True)]


def _row(difference: Any, name: str, settings: Gate) -> dict[str, Any]:
    sign, how = measure(name).sign, (settings.resamples, settings.seed)
    low, high = interval(difference, settings.confidence, *how)
    sides = [sign_flip(side, *how) for side in (difference, -difference)]
    won, lost = (int(np.sum(sign * side > _SAME)) for side in (difference, -difference))
    return {
        "difference": round(float(difference.mean()), 6), "low": round(low, 6),
        "high": round(high, 6), "p": min(1.0, 2 * min(sides)),
        "won": won, "tied": len(difference) - won - lost, "lost": lost,
    }  # fmt: skip
