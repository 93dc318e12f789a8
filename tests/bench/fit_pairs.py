"""Fit the models of `memops.judge.fitted` on stores that people wrote, and print what they reach.

usage: python -m tests.bench.fit_pairs [--write] [--show] [--encoder FOLDER] [STORE.jsonl ...]

Figures are of the pairs of each store by models that have seen a part of the others only (a fourth
of the stores is left out at a time): how many of all pairs that say the same, of which one holds
all of the other, or replaces it, are found where so many of what is found is right. With stores
named, figures of these by the models as they stand. With an encoder the same of the weights that know its cosine.
"""

import argparse
import json
import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from memops.judge import fitted
from memops.judge.decision import decided
from memops.judge.fitted import Fitted, Model, Trees, packed
from memops.language.lexicon import resource
from memops.models.encode import open_encoder
from memops.statements.readings import differences, read_all
from tests.bench.written import CONFLICT, FOLDER, NEITHER, PART, SAME, Pairs, pairs_of
from tests.minimal_pairs.pairs import families, pairs

TABLES = resource("data/lexicons")
PAIRS = FOLDER.parent / "pairs"
TOLD = ("changes", "memory", "strangers", "beside")
"""Files of one value beside another, and of what only adds to it."""
VERDICTS = (SAME, PART, CONFLICT)
DRILL, MADE = 0.5, 120  # what a hard pair weighs, and how many of each family of those made
LANGUAGES = ["en", "zh"]  # of the stores
FOLDS, SURE = 4, (0.95, 0.9, 0.85, 0.8)
_WORD = 0.5  # what a deviation of a feature weighs beside a word


class Table(NamedTuple):
    """Pairs of stores with their features: what differs, the words both hold, and those of one."""

    names: tuple[str, ...]
    rows: Any
    shared: Any
    apart: Any
    label: Any
    near: Any
    store: Any
    weight: dict[str, Any]
    texts: list[tuple[str, str]]


def drills() -> list[tuple[Pairs, dict[str, float]]]:
    """Return pairs that were written to be hard, and what each lot weighs for each verdict.

    Pairs of themes, pairs that tell something else in one word or by a sign, short texts beside long
    ones, and those known by construction, of which some may be a conflict or none. What is in conflict is no part.
    """
    out = [
        (_labelled(files), _weights(*weights))
        for files, *weights in (
            (sorted((PAIRS / "themes").glob("*.jsonl")), DRILL, DRILL),
            ([PAIRS / f"{name}.jsonl" for name in TOLD], 1.0, 1.0),
            ([PAIRS / f"{name}.jsonl" for name in ("near", "signs")], 1.0, 0.0),
            ([PAIRS / "parts.jsonl"], 1.0, 0.0, 1.0),
        )
    ]
    for family in families().values():
        rows = pairs(family, MADE)
        gold = family.gold if family.gold in (SAME, CONFLICT) else NEITHER
        either = gold == NEITHER and family.conflict
        out.append((_lot(rows, [gold] * len(rows)), _weights(DRILL, 0.0 if either else DRILL)))
    return out


def _weights(same: float, conflict: float, part: float = 0.0) -> dict[str, float]:
    return {SAME: same, PART: part, CONFLICT: conflict}


def _labelled(files: list[Path]) -> Pairs:
    """The pairs of files: duplicate, conflict, or whatever else holds beside each other."""
    rows = [json.loads(line) for path in files for line in path.open(encoding="utf-8")]
    named = {"duplicate": SAME, "conflict": CONFLICT, "part": PART}
    return _lot(rows, [named.get(row["label"], NEITHER) for row in rows])


def _lot(rows: list[dict[str, Any]], label: list[str]) -> Pairs:
    return Pairs([r["a"] for r in rows], [r["b"] for r in rows], label, [True] * len(rows))


def table(
    whole: list[Pairs],
    hard: list[tuple[Pairs, dict[str, float]]],
    encode: fitted.Encode | None = None,
) -> Table:
    """Return the pairs of stores with their features; `hard` ones belong to no store (-1)."""
    stores = [*whole, *(lot for lot, _ in hard)]
    size, numbers = [len(s.a) for s in stores], [*range(len(whole)), *[-1] * len(hard)]
    label = np.array([*chain.from_iterable(s.label for s in stores)])
    weighs = {
        name: np.repeat([1.0] * len(whole) + [weight[name] for _, weight in hard], size)
        for name in VERDICTS
    }
    weighs[PART] = np.maximum(weighs[PART], label == CONFLICT)
    ones, twos = ([*chain.from_iterable(getattr(s, side) for s in stores)] for side in "ab")
    texts = sorted({*ones, *twos})
    place = {text: n for n, text in enumerate(texts)}
    a, b = (np.array([place[text] for text in side]) for side in (ones, twos))
    said = read_all(texts)
    read = decided(differences(said, a, b))
    found = fitted.features(read, said, a, b)
    if encode is not None:
        vectors = encode(texts)
        found["cosine"] = (vectors[a] * vectors[b]).sum(axis=1).astype(float)
    hashed, every = _hashed(said.codes), [said.rows[family] for family in fitted.WORDS]
    words = sum(rows @ hashed for rows in every)
    shared = sum(rows[a].multiply(rows[b]) @ hashed for rows in every)
    return Table(
        tuple(found), np.stack([*found.values()], 1), shared, words[a] + words[b] - 2 * shared,
        label,
        np.array([*chain.from_iterable(s.near for s in stores)]),
        np.repeat(numbers, size), weighs,
        [*zip(ones, twos, strict=True)],
    )  # fmt: skip


def _hashed(codes: Any) -> Any:
    at = (codes % fitted.PLACES).astype(np.int64)
    ones = np.ones(len(at))
    return sparse.csr_matrix((ones, (np.arange(len(at)), at)), shape=(len(at), fitted.PLACES))


def fit(of: Table, rows: Any) -> Fitted:
    """Return the models, fitted on some rows of a table; their scale by a third that is left out."""
    mean, deviation = of.rows[rows].mean(0), np.maximum(of.rows[rows].std(0), 1e-3)
    bare = Fitted(of.names, _rounded(mean), _rounded(deviation), {})
    drilled = of.store[rows] < 0
    third = rows[~drilled & (of.store[rows] % 3 == 0)]
    learnt = rows[drilled | (of.store[rows] % 3 != 0)]
    models = {}
    for name in VERDICTS:
        part = _model(of, learnt, name, bare)
        scale = _scale(_raw(part, of, third, bare), of.label[third] == name)
        models[name] = _model(of, rows, name, bare)._replace(scale=scale)
    return bare._replace(models=models)


def _rounded(values: Any) -> Any:
    return np.asarray(values, np.float32).astype(np.float64)


def _model(of: Table, rows: Any, name: str, bare: Fitted) -> Model:
    rows = rows[of.weight[name][rows] > 0]
    gold = of.label[rows] == name
    even = sparse.csr_matrix(bare.even(of.rows[rows]) * _WORD)
    whole = sparse.hstack([even, of.shared[rows], of.apart[rows]]).tocsr()
    weight = of.weight[name][rows]
    linear = LogisticRegression(C=0.1, solver="liblinear", random_state=0)
    linear.fit(whole, gold, sample_weight=weight)
    weights = _rounded(linear.coef_[0])
    first, last = len(of.names), len(of.names) + fitted.PLACES
    boosted = HistGradientBoostingClassifier(
        max_iter=80, learning_rate=0.1, max_leaf_nodes=12, l2_regularization=5,
        min_samples_leaf=30, early_stopping=False, random_state=0,
    ).fit(of.rows[rows], gold, sample_weight=weight)  # fmt: skip
    return Model(
        _rounded(weights[:first] * _WORD), weights[first:last], weights[last:],
        float(linear.intercept_[0]), _trees(boosted), (1.0, 0.0),
    )  # fmt: skip


def _trees(boosted: Any) -> Trees:
    grown = [stage[0].nodes for stage in boosted._predictors]
    width = max(map(len, grown))
    shape = (len(grown), width)
    out = {name: np.zeros(shape) for name in ("feature", "threshold", "left", "right", "value")}
    for n, nodes in enumerate(grown):
        own, leaf, k = np.arange(len(nodes)), nodes["is_leaf"] > 0, len(nodes)
        out["feature"][n, :k] = np.where(leaf, 0, nodes["feature_idx"])
        out["threshold"][n, :k] = np.where(leaf, 0, nodes["num_threshold"])
        for side in ("left", "right"):
            out[side][n, :k] = np.where(leaf, own, nodes[side])
        out["value"][n, :k] = np.where(leaf, nodes["value"], 0)
    whole = {name: out[name].astype(np.int64) for name in ("feature", "left", "right")}
    whole |= {name: _rounded(out[name]) for name in ("threshold", "value")}
    return Trees(**whole, base=float(np.ravel(boosted._baseline_prediction)[0]))


def _raw(model: Model, of: Table, rows: Any, bare: Fitted) -> Any:
    chance = np.clip(_chance(model, of, rows, bare), 1e-7, 1 - 1e-7)
    return np.log(chance / (1 - chance))


def _chance(model: Model, of: Table, rows: Any, bare: Fitted) -> Any:
    found = of.rows[rows]
    words = of.shared[rows] @ model.shared + of.apart[rows] @ model.apart
    return model.chance(found, bare.even(found), words)


def _scale(raw: Any, gold: Any) -> tuple[float, float]:
    """Slope and start that turn log odds into probabilities (Platt 1999)."""
    platt = LogisticRegression(C=1e3).fit(raw[:, None], gold)
    return float(platt.coef_[0, 0]), float(platt.intercept_[0])


def left_out(of: Table) -> dict[str, Any]:
    """Return the chances of all pairs by models that have not seen their stores."""
    out = {name: np.zeros(len(of.label)) for name in VERDICTS}
    for fold in range(FOLDS):
        away = (of.store >= 0) & (of.store % FOLDS == fold)
        known, away = fit(of, np.flatnonzero(~away)), np.flatnonzero(away)
        for name, model in known.models.items():
            out[name][away] = _chance(model, of, away, known)
    return out


def figures(of: Table, found: dict[str, Any]) -> None:
    """Print how many are found where so many of what is found is right, and how right it is at a bar."""
    for name, chance in found.items():
        gold = (of.label == name) & (of.store >= 0)
        chance = np.where(of.near & (of.store >= 0), chance, -1)
        order = np.argsort(-chance, kind="stable")
        right = np.cumsum(gold[order])
        precision, recall = right / np.arange(1, len(order) + 1), right / gold.sum()
        at = {p: round(float(max(recall[precision >= p], default=0)), 3) for p in SURE}
        bars = {
            bar: f"{(gold & (chance >= bar)).sum()}/{(chance >= bar).sum()}"
            for bar in (0.5, 0.7, 0.8, 0.9, 0.95)
        }
        print(
            f"{name:9} of {gold.sum()}, compared {(gold & of.near).sum()}: recall at precision {at}"
        )
        print(f"{'':9} right of found at a bar {bars}")


def _named(encode: fitted.Encode | None) -> str:
    return fitted.PLAIN if encode is None else fitted.ENCODED


def write(known: Fitted, encode: fitted.Encode | None) -> None:
    """Write the models."""
    path = TABLES / f"{_named(encode)}.toml"
    about = f"languages = {LANGUAGES}" if encode is None else f"probed = {fitted.probed(encode)}"
    lines = [about, f"names = {[*known.names]}"]
    lines = [line.replace("'", '"') for line in lines]
    lines += [f'{name} = "{packed(getattr(known, name))}"' for name in ("mean", "deviation")]
    for name, of in known.models.items():
        lines += [f"[models.{name}]", f"bias = {of.bias!r}", f"scale = {[*of.scale]}"]
        lines += [
            f'{part} = "{packed(getattr(of, part))}"' for part in ("weights", "shared", "apart")
        ]
        lines += [
            f"[models.{name}.trees]",
            f"trees = {len(of.trees.feature)}",
            f"base = {of.trees.base!r}",
        ]
        lines += [f'{part} = "{packed(getattr(of.trees, part))}"' for part in Trees._fields[:-1]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(argv: list[str]) -> None:
    """Fit, or measure the stores that are named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("stores", nargs="*", type=Path)
    for flag in ("--write", "--show"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--encoder")
    asked = parser.parse_args(argv)
    named = asked.stores
    with tempfile.TemporaryDirectory() as cache:
        encode = open_encoder(asked.encoder, Path(cache)).encode if asked.encoder else None
        of = table(
            [pairs_of(path) for path in named or sorted(FOLDER.glob("*.jsonl"))],
            drills() if not named else [],
            encode,
        )
        every = np.arange(len(of.label))
        if asked.write:
            return write(fit(of, every), encode)
    if named:
        known = fitted.fitted_models(_named(encode))
        found = {name: _chance(model, of, every, known) for name, model in known.models.items()}
    else:
        found = left_out(of)
    figures(of, found)
    if asked.show:
        show(of, found)


def show(of: Table, found: dict[str, Any]) -> None:
    """Print the pairs that are surely found and wrong."""
    for name, chance in found.items():
        for n in np.flatnonzero((chance >= 0.7) & of.near & (of.label != name)):
            print(f"{name} {chance[n]:.2f} but {of.label[n]}: {' | '.join(of.texts[n])}")


if __name__ == "__main__":
    main(sys.argv[1:])
