"""Fit the weights of the concepts in data/lexicons/hostile.toml from the labelled lines of the tests.

usage: python -m tests.bench.fit_hostile [--write]

Beside them stand passages of everyday prose that tells its reader what to do: the descriptions of
the installed packages and the docstrings of Python's library, which are read here and kept nowhere.

A logistic regression in which a concept can only speak against a text, apart from those that the
lexicon keeps for everyday accounts and reports about attacks. Weights are scaled so that two
points stand at `LEVEL` log odds; those that stand alone are enough, or excuse enough, for that. Prints recall and precision by ten-fold cross-validation.
"""

import ast
import re
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from memops.language.passages import pieces, read
from memops.safety.hostile import concepts, frames, met, spoken
from tests.hostile_corpus import labelled

LEXICON = Path(__file__).parents[2] / "data" / "lexicons" / "hostile.toml"
ALONE, LEVEL = 2.6, 0.0
PROSE = 1 / 15  # share of the passages of everyday prose that are learned from
POINTS, STRENGTH, FOLDS = 2.0, 1.0, 10


def features(texts: list[str]) -> Any:
    """One column a concept, then one a frame."""
    masks = spoken(pl.Series(texts, dtype=pl.String)).to_numpy()
    said = [masks & np.uint64(1 << nth) > 0 for nth in range(len(concepts()))]
    return np.column_stack([*said, *(met(frame, masks) for frame in frames())]).astype(float)


def prose() -> list[str]:
    """Return the descriptions of installed packages, and the long docstrings of the library."""
    told = [str(d.metadata.get_payload() or d.metadata["Description"]) for d in distributions()]
    for path in sorted(Path(ast.__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kinds = (ast.FunctionDef, ast.ClassDef, ast.Module)
        told += [ast.get_docstring(n) or "" for n in ast.walk(tree) if isinstance(n, kinds)]
    return sorted({text for text in told if len(text) > 300})


def passages(texts: list[str]) -> list[str]:
    """Return a share of the passages of long texts, taken evenly."""
    frame = pl.DataFrame({"row": range(len(texts)), "raw": texts})
    cut = pieces(read(frame)).with_columns(next=pl.col("text").shift(-1)).filter("more")
    return cut.select(pl.col("text") + pl.col("next")).to_series()[:: round(1 / PROSE)].to_list()


def fitted(x: Any, y: Any) -> Any:
    """Return one weight a concept, and the intercept last."""
    from scipy.optimize import minimize

    x1 = np.hstack([x, np.ones((len(x), 1))])
    sign = np.where(y, 1.0, -1.0)

    def loss(w: Any) -> Any:
        margin = sign * (x1 @ w)
        slope = -sign / (1 + np.exp(margin))
        penalty = w[:-1] / STRENGTH
        return (
            np.logaddexp(0, -margin).sum() + (w[:-1] @ penalty) / 2,
            x1.T @ slope + np.append(penalty, 0),
        )

    bounds = [(0, None) if one.why else (None, 0) for one in (*concepts(), *frames())]
    bounds.append((None, None))
    return minimize(loss, np.zeros(x1.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B").x


def with_prose(x: Any, y: Any, prose: Any) -> Any:
    """Return the weights that are fitted to lines and to everyday prose."""
    return fitted(np.vstack([x, prose]), np.concatenate([y, np.zeros(len(prose), dtype=bool)]))


def points(weights: Any, level: float) -> Any:
    """Return weights in points: a text whose log odds reach `level` has POINTS."""
    return weights[:-1] * POINTS / (level - weights[-1])


def main(write: bool) -> None:
    lines = labelled()
    x, y = features([text for text, _ in lines]), np.array([bad for _, bad in lines])
    x_prose = features(passages(prose()))
    rng = np.random.default_rng(7)
    fold = rng.integers(0, FOLDS, len(y))
    odds = np.zeros(len(y))
    for nth in range(FOLDS):
        weights = with_prose(x[fold != nth], y[fold != nth], x_prose)
        odds[fold == nth] = x[fold == nth] @ weights[:-1] + weights[-1]
    for level in (-1.5, -1.0, -0.5, LEVEL, 0.5):
        hit = odds >= level
        print(
            f"level {level:4.1f} recall {(hit & y).sum() / y.sum():.3f} "
            f"precision {(hit & y).sum() / hit.sum():.3f} ({y.sum()} hostile, {(~y).sum()} benign)"
        )
    made = points(with_prose(x, y, x_prose), LEVEL)
    alone = np.array([one.alone for one in concepts()] + [False] * len(frames()))
    made = np.where(alone, np.where(made > 0, np.maximum(made, ALONE), -ALONE), made)
    names = [c.name for c in concepts()] + [f"frame: {f.why}" for f in frames()]
    for name, weight in zip(names, made, strict=True):
        print(f"{weight:6.2f} {name}")
    if write:
        weights = iter(made)
        text = LEXICON.read_text(encoding="utf-8")
        text = re.sub(r"(?m)^weight = .*$", lambda _: f"weight = {next(weights):.2f}", text)
        LEXICON.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main("--write" in sys.argv)
