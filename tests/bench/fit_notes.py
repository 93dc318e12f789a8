"""Fit the models of `memops.extract.fitted` on labelled notes, and print what they reach.

usage: python -m tests.bench.fit_notes [--writers] [--write]

They learn from evals/notes (the notes, their sentences and the facts that their writers stated)
and, lightly, from the short turns of tests/extract. Figures are of the whole extraction on
the notes of each theme, or of each writer, by models that have seen none of its notes (a fifth of
the themes is left out at a time), with the thresholds that are best for the others, left out in turn.
The model of notes, which weighs what the others say, learns from what they say of notes and turns
that they have not seen; in the figures, it has seen none of the notes left out.
"""

import base64
import sys
import zlib
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from memops.extract import fitted, reading
from memops.extract.fitted import Features, Model, Numbers
from memops.extract.reading import prepared
from memops.extract.weighing import (
    as_shown,
    marked_notes,
    of_sentences,
    passages,
    shown_sentences,
    stacked,
)
from memops.policy import Extract, Policy
from tests.bench.notes import Made, Row, flat, labelled, one, read, records, show
from tests.wordings import SETS, wordings

TABLE = Path(__file__).parents[2] / "data" / "lexicons" / "extract_fitted.toml"
STRENGTH = {"verdict": 4.0, "kind": 2.0, "note": 1.0}
LEVELS = {"verdict": 95, "kind": 47, "note": 95}
FOLDS = 5
LEAST = 2  # of the levels of a weight on each side of nought, what is kept
WEIGHT = {
    "note": 1.0,
    "sentence": 0.2,
    "turn": 2.4,
    "told turn": 5.0,
    "made": 1.0,
    "piece": 2.5,
    "junk": 1.0,
    "clause": 1.0,
    "passage": 1.0,
    "stacked turn": 0.5,
}
CHOICES = tuple(product((0.8, 0.84, 0.88), (0.85, 0.92)))
"""Thresholds that are tried: `told` and `junk` of the policy."""
NAMED = {"demote": "keep", "failure": "lesson"}
Case = tuple[Any, str, float, str]
"""Features, class, weight and theme."""
Models = dict[str, Model]
"""Models by name."""


def cases(notes: list[Row]) -> dict[str, list[Case]]:
    """Return what each model learns from."""
    texts, parts, whole = heard([row["note"] for row in notes])
    turns, made = spoken(), list(wordings("pieces"))
    pieces = [(text, kind) for _, told, _ in made for kind, text in told]
    stated = [(fact["text"], fact["kind"], row["theme"]) for row in notes for fact in row["facts"]]
    verdict = [
        (x, row["action"], WEIGHT["note"], row["theme"])
        for x, row in zip(whole, notes, strict=True)
    ]
    for name, given in (("turn", turns), ("made", made)):
        told = heard([text for *_, text in given])[2]
        for n, (x, (action, *_)) in enumerate(zip(told, given, strict=True)):
            junk = name == "made" and action == "tombstone"
            weight = WEIGHT["junk" if junk else name]
            theme = part(n) if name == "turn" else ""
            verdict.append((x, NAMED.get(action, action), weight, theme))
    kind = [
        (x, k, WEIGHT["piece"], "")
        for x, (_, k) in zip(shown([t for t, _ in pieces]), pieces, strict=True)
    ]
    facts = shown([text for text, *_ in stated])
    kind += [(x, name, 1.0, theme) for x, (_, name, theme) in zip(facts, stated, strict=True)]
    for n, (x, (_, told, _)) in enumerate(
        zip(shown([text for *_, text in turns]), turns, strict=True)
    ):
        kinds = list({NAMED.get(name, name) for name, _ in told})
        kind += [(x, name, WEIGHT["told turn"], part(n)) for name in kinds[:1] if len(kinds) == 1]
    verdict += sentence_cases(notes, texts, parts)
    return {"verdict": verdict, "kind": kind + of_parts(notes, texts, parts)}


def sentence_cases(notes: list[Row], texts: pl.Series, parts: pl.DataFrame) -> list[Case]:
    """Return what the sentences of notes of several teach of verdicts."""
    said, shown = shown_sentences(texts, parts, Features())
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
        for x, row, text in zip(
            Features().of(said["said"]), said["row"], said["said"], strict=True
        ):
            held = [
                (f["kind"], [holds(text, [w]) for w in f["contains"]]) for f in notes[row]["facts"]
            ]
            kinds = sorted({kind for kind, words in held if enough(words)})
            made += [(x, kind, WEIGHT[name] / len(kinds), notes[row]["theme"]) for kind in kinds]
    return made


def spoken() -> list[tuple[str, list[tuple[str, str]], str]]:
    """Return the short turns: verdict, facts and text of each."""
    return [turn for name in SETS for turn in wordings(name)]


def part(nth: int) -> str:
    """Return the theme that a turn counts as: that of its fold."""
    return f"turns {nth % FOLDS}"


def stacked_cases(notes: list[Row], folds: list[set[str]], firsts: list[Models]) -> list[Case]:
    """Return what models say of the notes and turns that they have not seen."""
    said = [(row["note"], row["action"], WEIGHT["note"], row["theme"]) for row in notes]
    for n, (action, _, text) in enumerate(spoken()):
        said.append((text, NAMED.get(action, action), WEIGHT["stacked turn"], part(n)))
    made: list[Case] = []
    for out, models in zip(folds, firsts, strict=True):
        some = [case for case in said if case[3] in out]
        with patch.object(fitted, "_model", models.get):
            rows = sparse.csr_matrix(shown_stacked([text for text, *_ in some]))
        made += [(x, *case[1:]) for x, case in zip(rows, some, strict=True)]
    return made


def shown_stacked(texts: list[str]) -> Any:
    """Return the features by which the model of notes weighs texts."""
    plain, noise, parts, _ = prepared(pl.DataFrame({"text": texts}), Policy())
    known = Features()
    return stacked(plain, parts, noise, of_sentences(plain, parts, known), known)


def heard(texts: list[str]) -> tuple[pl.Series, pl.DataFrame, Any]:
    """Return texts as they are read, their clauses, and the features of their verdicts."""
    plain, noise, parts, _ = prepared(pl.DataFrame({"text": texts}), Policy())
    return plain, parts, as_shown(marked_notes(plain, parts, noise), Features())


def shown(texts: list[str]) -> Any:
    """Return the features of texts."""
    return Features().of(heard(texts)[0])


def holds(text: str, words: list[str]) -> bool:
    """True of a text that holds every word."""
    return all(flat(word) in flat(text) for word in words)


def fit(name: str, given: list[Case]) -> dict[str, Any]:
    """Return a model fitted to cases, as it is stored."""
    x = sparse.vstack([case[0] for case in given], format="csr")
    model = LogisticRegression(C=STRENGTH[name], max_iter=2000, tol=1e-5)
    model.fit(x, [case[1] for case in given], [case[2] for case in given])
    weights = model.coef_.T.astype(np.float32)
    classes = [str(c) for c in model.classes_]
    return stored(classes, weights, model.intercept_, LEVELS[name])


def stored(classes: list[str], weights: Numbers, bias: Numbers, levels: int = 95) -> dict[str, Any]:
    """Return a model (a column a class) as data: weights in few levels, the least as nought."""
    scale = np.abs(weights).max(axis=0) / levels
    small = np.round(weights / scale).astype(np.int8)
    small[np.abs(small) < LEAST] = 0
    return {
        "classes": classes,
        "scale": [round(float(s), 8) for s in scale],
        "bias": [round(float(b), 5) for b in bias],
        "weights": base64.b85encode(zlib.compress(small.tobytes(), 9)).decode(),
    }


def left_out(notes: list[Row], folds: list[set[str]], fits: list[Models]) -> list[Made]:
    """Return what is read of each note by models and with thresholds that have not seen its theme."""
    made: list[list[Made]] = [[("", [])] * len(CHOICES) for _ in notes]
    known = Features()
    for out, models in zip(folds, fits, strict=True):
        at = [n for n, row in enumerate(notes) if row["theme"] in out]
        some = [notes[n] for n in at]
        # What no model and no threshold changes is made once.
        ready = prepared(records(some), Policy())
        with (
            patch.object(fitted, "_model", models.get),
            patch.object(reading, "prepared", lambda *_, ready=ready: ready),
            patch.object(reading, "Features", lambda *_: known),
        ):
            tried = [read(some, chosen(*choice)) for choice in CHOICES]
        for n, *told in zip(at, *tried, strict=True):
            made[n] = told
    worth = np.array(
        [[worth_of(row, said) for said in tried] for row, tried in zip(notes, made, strict=True)]
    )
    of = np.array([row["theme"] for row in notes])
    best = {
        theme: worth[~np.isin(of, list(out))].sum(axis=0).argmax() for out in folds for theme in out
    }
    print(
        "told, junk:",
        [CHOICES[best[min(out)]] for out in folds],
        "of all:",
        CHOICES[worth.sum(axis=0).argmax()],
    )
    return [tried[best[row["theme"]]] for row, tried in zip(notes, made, strict=True)]


def chosen(told: float, junk: float) -> Policy:
    """Return a policy with these thresholds."""
    return Policy(extract=Extract(told=told, junk=junk))


def worth_of(row: Row, made: Made) -> int:
    """Return what a verdict is worth: a leak takes back three right ones, a loss ten."""
    told = one(row, *made)
    return told["right_action"] - 10 * told["lost"] - 3 * told["leaks"]


def main(argv: list[str]) -> None:
    """Print figures of themes left out, or of writers; write the models with --write."""
    notes = labelled()
    if "--writers" in argv:
        notes = [row | {"theme": row["writer"]} for row in notes]
    given = cases(notes)
    print({name: len(some) for name, some in given.items()})
    folds = parted(notes)
    fits = [without(given, out) for out in folds]
    given["note"] = stacked_cases(notes, folds, fits)
    fits = [
        first | without({"note": given["note"]}, out)
        for first, out in zip(fits, folds, strict=True)
    ]
    if "--write" in argv:
        tables = {name: fit(name, some) for name, some in given.items()}
        TABLE.write_text(written(tables), encoding="utf-8")
        print(f"{TABLE.stat().st_size} bytes")
    show(notes, left_out(notes, folds, fits))


def parted(notes: list[Row]) -> list[set[str]]:
    """Return the themes that are left out together."""
    themes = sorted({row["theme"] for row in notes})
    return [{*themes[n::FOLDS], part(n)} for n in range(FOLDS)]


def without(given: dict[str, list[Case]], out: set[str]) -> Models:
    """Return models that have not seen some themes."""
    some = {name: [case for case in cases if case[3] not in out] for name, cases in given.items()}
    return {name: fitted.loaded(fit(name, cases)) for name, cases in some.items()}


def written(tables: dict[str, Any], by: str = "fit_notes") -> str:
    """Return models as TOML."""
    head = f"# Weights of memops.extract.fitted, made by `python -m tests.bench.{by} --write`.\n"
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
