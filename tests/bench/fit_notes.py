"""Fit the models of `memops.extract.fitted` on labelled notes, and print what they reach.

usage: python -m tests.bench.fit_notes [--write]

They learn from evals/notes (the notes, their sentences and the facts that their writers stated)
and, lightly, from the short turns of tests/extract. Figures are of the whole extraction on
the notes of each theme by models that have seen no note of that theme (a fifth of the themes is
left out at a time).
"""

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression

from memops.extract import fitted
from memops.extract.fitted import features
from memops.extract.reading import prepared
from memops.extract.weighing import passages, shown_notes, shown_sentences
from memops.policy import Policy
from tests.bench.notes import Row, flat, labelled, read, show
from tests.wordings import SETS, wordings

TABLE = Path(__file__).parents[2] / "data" / "lexicons" / "extract_fitted.toml"
STRENGTH = {"verdict": 4.0, "kind": 2.0}
FOLDS = 5
WEIGHT = {
    "note": 1.0,
    "sentence": 0.1,
    "turn": 1.2,
    "made": 0.5,
    "junk": 1.0,
    "clause": 0.5,
    "passage": 0.5,
}
NAMED = {"demote": "keep", "failure": "lesson"}
Case = tuple[Any, str, float, str]
"""Features, class, weight and theme."""


def cases(notes: list[Row]) -> dict[str, list[Case]]:
    """Return what each model learns from."""
    texts, parts, whole = heard([row["note"] for row in notes])
    turns, made = [turn for name in SETS for turn in wordings(name)], list(wordings("pieces"))
    pieces = [(text, kind) for _, told, _ in made for kind, text in told]
    stated = [(fact["text"], fact["kind"], row["theme"]) for row in notes for fact in row["facts"]]
    verdict = [
        (x, row["action"], WEIGHT["note"], row["theme"])
        for x, row in zip(whole, notes, strict=True)
    ]
    for name, given in (("turn", turns), ("made", made)):
        for x, (action, *_) in zip(heard([text for *_, text in given])[2], given, strict=True):
            junk = name == "made" and action == "tombstone"
            weight = WEIGHT["junk" if junk else name]
            verdict.append((x, NAMED.get(action, action), weight, ""))
    kind = [
        (x, k, 1.0, "") for x, (_, k) in zip(shown([t for t, _ in pieces]), pieces, strict=True)
    ]
    facts = shown([text for text, *_ in stated])
    kind += [(x, name, 1.0, theme) for x, (_, name, theme) in zip(facts, stated, strict=True)]
    for x, (_, told, _) in zip(shown([text for *_, text in turns]), turns, strict=True):
        kinds = list({NAMED.get(name, name) for name, _ in told})
        kind += [(x, name, 2.0, "") for name in kinds[:1] if len(kinds) == 1]
    verdict += of_sentences(notes, texts, parts)
    return {"verdict": verdict, "kind": kind + of_parts(notes, texts, parts)}


def of_sentences(notes: list[Row], texts: pl.Series, parts: pl.DataFrame) -> list[Case]:
    """Return what the sentences of notes of several teach of verdicts."""
    said, shown = shown_sentences(texts, parts)
    made, several = [], said.select(pl.len().over("row") > 1).to_series()
    for x, row, text in zip(
        shown[several.to_numpy()], *said.filter(several).select("row", "said"), strict=True
    ):
        tells = any(holds(text, [word]) for f in notes[row]["facts"] for word in f["contains"])
        none = "tombstone" if notes[row]["action"] == "tombstone" else "keep"
        made.append((x, "extract" if tells else none, WEIGHT["sentence"], notes[row]["theme"]))
    return made


def of_parts(notes: list[Row], texts: pl.Series, parts: pl.DataFrame) -> list[Case]:
    """Return what clauses that hold a word of a fact, and passages that hold all, teach of kinds."""
    made = []
    for name, by, enough in (("clause", "unit", any), ("passage", "passage", all)):
        said = passages(texts, parts, by)
        for x, row, text in zip(features(said["said"]), said["row"], said["said"], strict=True):
            held = [
                (f["kind"], [holds(text, [w]) for w in f["contains"]]) for f in notes[row]["facts"]
            ]
            kinds = sorted({kind for kind, words in held if enough(words)})
            made += [(x, kind, WEIGHT[name] / len(kinds), notes[row]["theme"]) for kind in kinds]
    return made


def heard(texts: list[str]) -> tuple[pl.Series, pl.DataFrame, Any]:
    """Return texts as they are read, their clauses, and the features of their verdicts."""
    plain, noise, parts, _ = prepared(pl.DataFrame({"text": texts}), Policy())
    return plain, parts, shown_notes(plain, parts, noise)


def shown(texts: list[str]) -> Any:
    """Return the features of texts."""
    return features(heard(texts)[0])


def holds(text: str, words: list[str]) -> bool:
    """True of a text that holds every word."""
    return all(flat(word) in flat(text) for word in words)


def fit(name: str, given: list[Case]) -> dict[str, Any]:
    """Return a model fitted to cases, as it is stored."""
    from scipy import sparse

    x = sparse.vstack([case[0] for case in given], format="csr")
    model = LogisticRegression(C=STRENGTH[name], max_iter=2000, tol=1e-5)
    model.fit(x, [case[1] for case in given], [case[2] for case in given])
    weights = model.coef_.T.astype(np.float32)
    return fitted.stored([str(c) for c in model.classes_], weights, model.intercept_)


def left_out(notes: list[Row], given: dict[str, list[Case]]) -> list[Any]:
    """Return what is read of each note by models that have not seen its theme."""
    made: list[Any] = [None] * len(notes)
    themes = sorted({row["theme"] for row in notes})
    for out in (themes[n::FOLDS] for n in range(FOLDS)):
        tables = {n: fit(n, [c for c in some if c[3] not in out]) for n, some in given.items()}
        at = [n for n, row in enumerate(notes) if row["theme"] in out]
        models = {name: fitted.loaded(table) for name, table in tables.items()}
        with patch.object(fitted, "_model", models.get):
            for n, told in zip(at, read([notes[n] for n in at]), strict=True):
                made[n] = told
    return made


def main(argv: list[str]) -> None:
    """Print figures of themes left out; write the models with --write."""
    notes = labelled()
    given = cases(notes)
    print({name: len(some) for name, some in given.items()})
    tables = {name: fit(name, some) for name, some in given.items()}
    if "--write" in argv:
        TABLE.write_text(written(tables), encoding="utf-8")
        print(f"{TABLE.stat().st_size} bytes")
    show(notes, left_out(notes, given))


def written(tables: dict[str, Any]) -> str:
    """Return models as TOML."""
    head = (
        "# Weights of memops.extract.fitted, made by `python -m tests.bench.fit_notes --write`.\n"
    )
    parts = []
    for name, table in tables.items():
        lines = [
            f"{key} = {value!r}".replace("'", '"')
            for key, value in table.items()
            if key != "weights"
        ]
        parts.append("\n".join([f"\n[{name}]", *lines, f"weights = '''{table['weights']}'''", ""]))
    return head + "".join(parts)


if __name__ == "__main__":
    main(sys.argv[1:])
