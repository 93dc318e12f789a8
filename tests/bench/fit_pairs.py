"""Fit the two small models of `memops.judge.scorer` and print what they reach on held-out pairs.

usage: python tests/bench/fit_pairs.py MEMORY.jsonl[.gz] [TSQA.jsonl.gz REALMEM.jsonl.gz] [-o FILE]

Fits on hand-written memory pairs (the given file and evals/pairs), on pairs made by templates and
strangers, and lightly on dated facts and revisions. Figures on MEMORY are by grouped five-fold
cross-validation: pairs that share a statement stay together. Writes the coefficients as TOML.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pair_templates import pairs, strangers

from memops.judge.conflicts import features
from memops.judge.decision import likely
from memops.judge.scorer import FEATURES, unhurt

CONFLICT = {"conflict", "contradiction", "supersession"}
DUPLICATE = {"duplicate"}
HAND = {
    "conflict": {"long_overlap": 9.0, "long_neutral": 0.5},
    "duplicate": {
        "similar": 6.0, "unhurt_similar": 2.0, "neutral": 0.5, "long_similar": 12.0, "long_neutral": 0.45, "note_neutral": 0.4,
        "long_hurt": 0.7, "long_odd": 2.0,
    },
    "similarly": {"from": 9.0, "to": 15.0},
    "long": {"from": 11.0, "to": 18.0},
    "note": {"from": 24.0, "to": 34.0},
}  # fmt: skip
STRENGTH = 0.05


def read(path: Path) -> list[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle if line.strip()]


def matrix(rows: list[dict[str, Any]]) -> Any:
    return features(rows).with_columns(_unhurt=unhurt()).select(**FEATURES).to_numpy()


def fitted(parts: list[tuple[Any, Any, float]]) -> tuple[dict[str, float], float]:
    """Return weights on the raw features and the intercept; `parts` are (X, y, total weight)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    x, y = np.vstack([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    w = np.concatenate([np.full(len(p[1]), p[2] / len(p[1])) for p in parts])
    scale = StandardScaler().fit(x)
    model = LogisticRegression(C=STRENGTH, max_iter=5000).fit(
        scale.transform(x), y, sample_weight=w
    )
    weights = model.coef_[0] / scale.scale_
    intercept = float(model.intercept_[0] - (weights * scale.mean_).sum())
    return dict(zip(FEATURES, map(float, weights), strict=True)), intercept


def folds(rows: list[dict[str, Any]], k: int = 5) -> list[Any]:
    """Return the test rows of each fold; rows that share a text stay together."""
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        while parent.setdefault(text, text) != text:
            text = parent[text]
        return text

    for row in rows:
        parent[root(row["a"])] = root(row["b"])
    groups = sorted({root(row["a"]) for row in rows})
    fold = {g: i for i, g in enumerate(np.random.default_rng(1).permutation(groups).tolist())}
    return [
        np.array([i for i, r in enumerate(rows) if fold[root(r["a"])] % k == f]) for f in range(k)
    ]


def main(paths: list[Path], out: Path | None) -> None:
    memory, extra = read(paths[0]), [read(p) for p in paths[1:]]
    own = read(Path("evals/pairs/memory.jsonl"))
    made = pairs()
    sources = [
        (own, 320.0),
        (made, 550.0),
        (strangers(own + memory, 500), 100.0),
        *((rows, 60.0) for rows in extra),
    ]
    inputs = [(rows, matrix(rows), weight) for rows, weight in sources]
    target, told = matrix(memory), []
    for test in folds(memory):
        train = np.setdiff1d(np.arange(len(memory)), test)
        table = coefficients(inputs, ([memory[n] for n in train], target[train], float(len(train))))
        held = features([memory[n] for n in test])
        told.append(likely(held, table).with_columns(nth=pl.Series(test)))
    report(pl.concat(told).sort("nth"), memory)
    if out:
        table = coefficients(inputs, (memory, target, float(len(memory))))
        out.write_text(toml(table), encoding="utf-8")


def coefficients(inputs: list[Any], target: Any) -> dict[str, Any]:
    """The table of both models, fitted on the sources and on pairs of the target, each weighted."""
    table: dict[str, Any] = {name: HAND[name] for name in ("similarly", "long", "note")}
    for name, labels in (("conflict", CONFLICT), ("duplicate", DUPLICATE)):
        used = [
            (x, np.array([row["label"] in labels for row in rows]), weight)
            for rows, x, weight in [*inputs, target]
            if name == "duplicate" or not any(row["label"] == "not_duplicate" for row in rows)
        ]
        weights, intercept = fitted(used)
        table[name] = HAND[name] | {
            "intercept": round(intercept, 4),
            "weights": {k: round(v, 4) for k, v in weights.items()},
        }
    return table


def report(told: pl.DataFrame, rows: list[dict[str, Any]]) -> None:
    """How well each probability tells its pairs from the others: the area under the curve."""
    from sklearn.metrics import roc_auc_score

    for name, labels in (("conflict", CONFLICT), ("duplicate", DUPLICATE)):
        y = np.array([row["label"] in labels for row in rows])
        print(f"{name}: AUC {roc_auc_score(y, told[f'{name}_score'].to_numpy()):.3f}")


def toml(table: dict[str, Any]) -> str:
    lines = [
        "# Coefficients of memops.judge.scorer, made by tests/bench/fit_pairs.py. `weights` are fitted on",
        "# raw features; the other numbers are set by hand and stand in that script.",
        "",
    ]
    for name, body in table.items():
        lines += [f"[{name}]", *(f"{k} = {v}" for k, v in body.items() if k != "weights"), ""]
        if "weights" in body:
            lines += [f"[{name}.weights]", *(f"{k} = {v}" for k, v in body["weights"].items()), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    argv = sys.argv[1:]
    where = Path(argv[argv.index("-o") + 1]) if "-o" in argv else None
    main([Path(a) for a in argv if a != "-o" and a != str(where)], where)
    _ = pl
