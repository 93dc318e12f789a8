"""Fitted: how probable it is that two texts say the same, that one is a part of the other, or replaces it.

Three models over the same features: what differs in the two texts (`statements.readings.differences`),
its vetoes, and which words, figures and names both hold or one alone; not what the rules say, which
the weights may doubt. Each is the mean of a linear model, which weighs hashed words beside, and of
boosted trees (Friedman 2001), on the scale of log odds. Their numbers stand in
`data/lexicons/pairs_fitted.toml`; `tests/bench/fit_pairs.py` makes them from stores that people wrote
(`evals/stores`), of whose near pairs one in forty says the same. A pair's chances are its two texts' alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from memops.language.detection import surely
from memops.language.lexicon import lexicon
from memops.language.packed import packed as packed_bytes
from memops.language.packed import unpacked as unpacked_bytes
from memops.statements.readings import Readings
from memops.statements.surface import SURFACE

Numbers = npt.NDArray[np.float64]
Encode = Callable[[Sequence[str]], Any]
WORDS = ("tokens", "joined")
"""Families whose items weigh by themselves."""
PLAIN, ENCODED = "pairs_fitted", "pairs_fitted_encoder"
"""Tables of weights: what is read in the texts alone, and with the cosine of an encoder's vectors."""
PROBE = (
    "The ferry to Hoek leaves at nine.",
    "At nine the boat sails for Hoek.",
    "Bo dislikes olives.",
    "去荷兰角的渡轮九点开船。",
)
"""Texts by whose cosines an encoder is known again."""
_NEAR = 0.02  # how far a cosine of these may lie from what it was
PLACES = 1 << 13
"""Places of hashed words."""
_WHY = ("veto_same", "veto_conflict")
_RULED = ("same", "opposes")
"""What rules say, of which weights judge by themselves."""
_ACCENTED = r"[\p{Latin}&&[^\x00-\x7f]]"
_LIMIT = 5.0  # standard deviations that one feature may weigh
_LEAST = -4.5  # log odds by the linear model below which the trees are not asked
_STAGE = 8  # trees, after which it is looked who can still come to what is asked
_ROUNDED = 1e-6  # what adding up may be wrong by


class Trees(NamedTuple):
    """Boosted trees: for each tree and node the feature, the threshold, both children, the value of a leaf.

    A leaf is its own child; those below a node come right behind it, the left ones first.
    """

    feature: npt.NDArray[np.int64]
    threshold: Numbers
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    value: Numbers
    base: float

    def of(self, features: Numbers, least: float | Numbers = -np.inf) -> Numbers:
        """Return the log odds of each row; minus infinity where they cannot come to `least`."""
        total, columns = np.full(len(features), self.base), np.ascontiguousarray(features.T)
        bar, rows = np.broadcast_to(least - _ROUNDED, total.shape), np.arange(len(features))
        most = np.cumsum(self.value.max(1)[::-1])[::-1]  # of a tree and those behind it
        for tree, (splits, leaves) in enumerate(self._split()):
            if tree % _STAGE == 0:
                hope = total[rows] + most[tree] >= bar[rows]
                total[rows[~hope]] = -np.inf
                rows = rows[hope]
            passed = np.zeros(len(rows), splits[0][2].dtype)
            for feature, threshold, left in splits:
                passed |= (columns[feature][rows] > threshold) * left
            total[rows] += leaves[np.bitwise_count(passed & ~(passed + 1))]
        return total

    def _split(self) -> Iterator[tuple[list[tuple[int, float, Any]], Numbers]]:
        """Each tree as its splits, with the leaves on their left as bits, and its leaves from the left.

        A row goes to the first leaf that it does not pass by (Lucchese et al. 2015).
        """
        leaf = self.left == np.arange(self.left.shape[1])
        bits = 1 << (np.cumsum(leaf, 1) - leaf)
        left = np.take_along_axis(bits, self.right, 1) - np.take_along_axis(bits, self.left, 1)
        left = left.astype(np.min_scalar_type(bits.max()))
        for tree, nodes in enumerate(left > 0):
            nodes[0] = True
            of = (self.feature[tree, nodes], self.threshold[tree, nodes], left[tree, nodes])
            yield [*zip(*of, strict=True)], self.value[tree, leaf[tree]]


class Model(NamedTuple):
    """What weighs pairs for one verdict: a linear model, trees, and the scale of their mean."""

    weights: Numbers
    shared: Numbers
    apart: Numbers
    bias: float
    trees: Trees
    scale: tuple[float, float]

    def chance(
        self, features: Numbers, even: Numbers, words: Numbers, least: float = 0.0
    ) -> Numbers:
        """Return the probability of rows of features, as they are and evened, with what words weigh.

        One that is below `least` may come out as none.
        """
        linear = np.einsum("ij,j->i", even, self.weights) + words + self.bias
        slope, start = self.scale
        bar = 2 * (math.log(least / (1 - least)) - start) / slope if least else -np.inf
        grown = self.trees.of(features, np.where(linear >= _LEAST, bar - linear, np.inf))
        mean: Numbers = (linear + grown) / 2
        return 1 / (1 + np.exp(-(slope * mean + start)))


class Fitted(NamedTuple):
    """The models, and the features that they weigh: names, means and deviations."""

    names: tuple[str, ...]
    mean: Numbers
    deviation: Numbers
    models: Mapping[str, Model]

    def even(self, features: Numbers) -> Numbers:
        """Return features on one scale, none weighing more than _LIMIT deviations."""
        return np.clip((features - self.mean) / self.deviation, -_LIMIT, _LIMIT)


def in_fitted_languages(texts: pl.Series) -> Callable[[Any, Any], npt.NDArray[np.bool_]]:
    """Return what tells which pairs of places in texts are of languages that the weights were fitted on.

    Of two texts which share words the one tells for the other: one is surely of such a language, and
    neither has letters of other scripts, nor the other one accents, as further languages have.
    """
    held, foreign = surely(tuple(lexicon(PLAIN)["languages"]))
    own = texts.str.contains(held).fill_null(False)
    bare = ~texts.str.contains(foreign) & (own | ~texts.str.contains(_ACCENTED))
    sure, may = own.to_numpy(), bare.fill_null(False).to_numpy()
    return lambda a, b: (sure[a] | sure[b]) & may[a] & may[b]


def suits(encode: Encode) -> bool:
    """Return whether an encoder is the one that weights were fitted with: it places some texts as that one did."""
    return bool(np.abs(np.array(probed(encode)) - lexicon(ENCODED)["probed"]).max() <= _NEAR)


def probed(encode: Encode) -> list[float]:
    """Return the cosines of each two of the texts by which an encoder is known."""
    vectors = np.asarray(encode(list(PROBE)))
    one, two = np.triu_indices(len(vectors), 1)
    return [round(float(x), 4) for x in (vectors[one] * vectors[two]).sum(axis=1)]


def chances(
    read: pl.DataFrame,
    said: Readings,
    a: Any,
    b: Any,
    least: float = 0.0,
    cosine: Numbers | None = None,
) -> pl.DataFrame:
    """Return same, part and conflict: how probable each is, for pairs that are read and decided.

    A chance below `least` may come out as none. And `worded`, the share of the words of both that both
    hold. With the cosines of the vectors of an encoder that `suits`, weights which know them are asked.
    """
    known = fitted_models(PLAIN if cosine is None else ENCODED)
    found = features(read, said, a, b)
    if cosine is not None:
        found["cosine"] = cosine
    rows = np.stack([found[name] for name in known.names]).T
    even, weigh = known.even(rows), words(said, a, b, known.models)
    told = {
        name: model.chance(rows, even, weigh[name], least).round(6)
        for name, model in known.models.items()
    }
    return pl.DataFrame(told | {"worded": found["tokens_share"]})


def features(read: pl.DataFrame, said: Readings, a: Any, b: Any) -> dict[str, Numbers]:
    """Return the features of pairs by name; of a feature of each side the lower and the higher."""
    out: dict[str, Numbers] = {}
    for name in read.columns:
        if name in _RULED:
            continue
        side, other = name.removesuffix("_a"), name.removesuffix("_b")
        if name in _WHY:
            out[name] = read[name].is_not_null().cast(pl.Float64).to_numpy()
        elif name != side:
            out |= _both(side, *(read[f"{side}_{x}"].cast(pl.Float64).to_numpy() for x in "ab"))
        elif name == other:
            out[name] = read[name].cast(pl.Float64).to_numpy()
    return out | _surface(said, a, b)


def _both(name: str, one: Numbers, two: Numbers) -> dict[str, Numbers]:
    return {f"{name}_least": np.minimum(one, two), f"{name}_most": np.maximum(one, two)}


def _surface(said: Readings, a: Any, b: Any) -> dict[str, Numbers]:
    """How many words, figures and names both hold, and one alone; and the shares of words."""
    out: dict[str, Numbers] = {}
    for family in SURFACE:
        shared = said.shared(family, family, a, b).astype(float)
        one, two = (said.size(family, side).astype(float) for side in (a, b))
        out[family] = shared
        out |= _both(f"{family}_alone", one - shared, two - shared)
        out[f"{family}_share"] = shared / np.maximum(one + two - shared, 1)
        out[f"{family}_held"] = shared / np.maximum(np.minimum(one, two), 1)
        out[f"{family}_level"] = np.minimum(one, two) / np.maximum(np.maximum(one, two), 1)
    return out


def words(said: Readings, a: Any, b: Any, models: Mapping[str, Model]) -> dict[str, Numbers]:
    """Return what words weigh in each model, those that both texts hold and those of one alone."""
    place = said.codes % PLACES
    every = [column for model in models.values() for column in (model.shared, model.apart)]
    weights, out = np.stack(every, 1)[place], dict.fromkeys(models, np.zeros(len(a)))
    for family in WORDS:
        both = said.shared(family, family, a, b, weights)
        whole = said.rows[family] @ weights
        for nth, name in enumerate(models):
            shared, apart = both[:, 2 * nth], whole[:, 2 * nth + 1]
            out[name] = out[name] + shared + apart[a] + apart[b] - 2 * both[:, 2 * nth + 1]
    return out


@cache
def fitted_models(name: str) -> Fitted:
    """Return the models of a table."""
    table = lexicon(name)
    models = {
        name: Model(
            weights=unpacked(of["weights"]), shared=unpacked(of["shared"]),
            apart=unpacked(of["apart"]), bias=of["bias"], scale=tuple(of["scale"]),
            trees=_trees(of["trees"]),
        )
        for name, of in table["models"].items()
    }  # fmt: skip
    return Fitted(
        tuple(table["names"]), unpacked(table["mean"]), unpacked(table["deviation"]), models
    )


def _trees(of: Mapping[str, Any]) -> Trees:
    held = {name: unpacked(of[name]).reshape(of["trees"], -1) for name in Trees._fields[:-1]}
    feature, left, right = (held[name].astype(np.int64) for name in ("feature", "left", "right"))
    return Trees(feature, held["threshold"], left, right, held["value"], of["base"])


def packed(values: Any) -> str:
    """Return numbers as text, 32 bits each."""
    return packed_bytes(np.ascontiguousarray(values, "<f4").tobytes())


def unpacked(text: str) -> Numbers:
    """Return the numbers of such a text."""
    return np.frombuffer(unpacked_bytes(text), "<f4").astype(np.float64)
