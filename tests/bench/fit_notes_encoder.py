"""Fit what the vectors of an encoder add to `memops.extract.fitted`, and print what both reach.

usage: python -m tests.bench.fit_notes_encoder FOLDER CACHE [--write]

FOLDER holds the encoder, CACHE what it makes of texts. It learns from what `fit_notes` learns from,
and adds its own logarithms of odds to those of the letters; figures are of themes left out, too.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from memops.extract import fitted
from memops.extract.fitted import Beside, Features, Numbers
from memops.models.transformers import Model
from tests.bench import fit_notes
from tests.bench.fit_notes import (
    Case,
    cases,
    left_out,
    parted,
    stacked_cases,
    stored,
    without,
    written,
)
from tests.bench.notes import labelled, show

TABLE = Path(__file__).parents[2] / "data" / "lexicons" / "extract_encoders.toml"
STRENGTH = {"verdict": 20.0, "kind": 5.0}
SHARE = 0.5  # of what the vectors say, beside the letters
Encode = Callable[[list[str]], Numbers]


class Vectors:
    """The vectors of texts in the place of their features."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def of(self, texts: pl.Series) -> Any:
        """Return a row a text."""
        return sparse.csr_matrix(self._encode(texts.to_list()))


def fit(name: str, given: list[Case], size: int) -> dict[str, Any]:
    """Return what vectors, the first numbers of each case, say of its class, as it is stored."""
    x = sparse.vstack([case[0][:, :size] for case in given]).toarray()
    weigh = [case[2] for case in given]
    model = LogisticRegression(C=STRENGTH[name], max_iter=2000, tol=1e-4)
    model.fit(x, [case[1] for case in given], weigh)
    told = stored([str(c) for c in model.classes_], SHARE * model.coef_.T, SHARE * model.intercept_)
    # Vectors of one encoder have much in common: what rounding adds to that is taken off again.
    off = np.average(x, 0, weigh) @ (fitted.loaded(told)[1] - SHARE * model.coef_.T)
    return told | {"bias": [round(float(b), 5) for b in SHARE * model.intercept_ - off]}


def main(argv: list[str]) -> None:
    """Print figures of themes left out; write the models with --write."""
    model, notes = Model(argv[0], Path(argv[1]), steady=True), labelled()
    first = model.instruction
    encode: Encode = lambda texts: model.encode([first + text for text in texts])  # noqa: E731
    letters, size = cases(notes), encode(["a"]).shape[1]
    with patch.object(fit_notes, "Features", partial(Vectors, encode)):
        near = cases(notes)
    fits = []
    for out in (folds := parted(notes)):
        some = {name: [case for case in told if case[3] not in out] for name, told in near.items()}
        beside = {name: fitted.loaded(fit(name, told, size)) for name, told in some.items()}
        models = without(letters, out)
        fits.append({name: fitted.joined(models[name], beside[name]) for name in models})
    with patch.object(fit_notes, "Features", partial(Features, Beside(encode, {}))):
        note = {"note": stacked_cases(notes, folds, fits)}
        fits = [known | without(note, out) for known, out in zip(fits, folds, strict=True)]
        made = left_out(notes, folds, fits)
    if "--write" in argv:
        tables = {name: fit(name, told, size) for name, told in near.items()}
        tables["note"] = fit_notes.fit("note", note["note"])
        digest = str(model.recipe()["weights"])
        named = {f'"{digest}".{name}': table for name, table in tables.items()}
        TABLE.write_text(written(named, "fit_notes_encoder FOLDER CACHE"), encoding="utf-8")
        print(f"{TABLE.stat().st_size} bytes")
    show(notes, made)


if __name__ == "__main__":
    main(sys.argv[1:])
