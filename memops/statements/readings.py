"""Pairs of readings: how two statements agree and differ, for any number of pairs at once.

`Readings` keeps the sets of all texts as sparse rows over one vocabulary; `differences` returns
one row a pair, each column a count or a share that a person can look up in the two texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from memops.ordered import distinct, place_in
from memops.statements.cues import MARKS
from memops.statements.reading import FAMILIES
from memops.statements.taken import spread_out, taken_apart

Ints = Any
_FRAMED = (
    "owner", "attributes", "circumstances", "subject", "complement", "current", "kinds", "about",
    "equal", "known", "telling",
)  # fmt: skip
CLAIMS = (
    "past_strong", "hypothetical", "quoted", "question", "event", "todo", "masked", "cut", "dialogue",
)  # fmt: skip
QUANTIFIERS = ("all", "none", "some", "only", "must", "may")


@dataclass(frozen=True)
class Readings:
    """Texts read: a sparse row a text and family, over items with `codes`, kinds of values, and marks."""

    codes: Any
    rows: dict[str, Any]
    kinds: Any
    marks: dict[str, Any]

    def shared(self, one: str, other: str, a: Ints, b: Ints, weights: Any = None) -> Any:
        """Return for each pair how many items of a family of `a` are in one of `b`, or what they weigh.

        Of weights in several columns it returns as many.
        """
        rows, others = self.rows[one], self.rows[other]
        held = np.flatnonzero((_count(rows) > 0)[a] & (_count(others) > 0)[b])
        both = rows[a[held]].multiply(others[b[held]])
        told = _count(both) if weights is None else both @ weights
        out = np.zeros((len(a), *told.shape[1:]), told.dtype)
        out[held] = told
        return out

    def apart(self, family: str, a: Ints, b: Ints) -> Any:
        """Return for each pair whether both hold items of a family, and no item is in both."""
        held = (self.size(family, a) > 0) & (self.size(family, b) > 0)
        return held & (self.shared(family, family, a, b) == 0)

    def kinds_agreed(self, a: Ints, b: Ints) -> Any:
        """Return for each pair in how many kinds of value the two share one, or one is near the other."""
        one, two = (
            self.rows["values"][at].multiply(self.rows["near"][of]) for at, of in ((a, b), (b, a))
        )
        agreed = ((one + two) @ self.kinds) > 0
        for at in (a, b):
            agreed = agreed.multiply((self.rows["values"][at] @ self.kinds) > 0)
        return np.asarray(agreed.sum(axis=1)).ravel()

    def size(self, family: str, at: Ints) -> Any:
        """Return how many items the family holds for each text."""
        return _count(self.rows[family])[at]


def readings(taken: pl.DataFrame) -> Readings:
    """Put texts that were taken apart together."""
    from scipy.sparse import csr_matrix

    n = taken.height
    flat = {name: spread_out(taken[name]) for name in FAMILIES}
    vocabulary = distinct(np.concatenate([distinct(codes) for _, codes in flat.values()]))
    width = max(1, len(vocabulary))
    rows = {}
    for name, (ends, codes) in flat.items():
        at = place_in(vocabulary, codes)
        rows[name] = csr_matrix((np.ones(len(at), np.float32), at, ends), shape=(n, width))
    marks = {name: taken[name].to_numpy() for name in MARKS}
    codes = vocabulary if len(vocabulary) else np.zeros(1, np.uint64)
    return Readings(codes, rows, _kinds(taken, vocabulary), marks)


def read_all(texts: Sequence[str]) -> Readings:
    """Read texts; equal texts should be given once."""
    return readings(taken_apart(texts))


def _count(rows: Any) -> Ints:
    """How many items each row holds; adding up its ones takes many times longer."""
    return np.diff(rows.indptr).astype(np.float32)


def _kinds(taken: pl.DataFrame, vocabulary: Any) -> Any:
    """A matrix from values (`time=10:00`) to their kinds."""
    from scipy.sparse import csr_matrix

    pairs = (
        taken.select(value="near", kind="value_kinds")
        .explode("value", "kind", empty_as_null=True)
        .drop_nulls()
        .filter(pl.col("kind") != 0)
        .unique()
        .sort("value", "kind")
    )
    kinds = pairs["kind"].unique().sort()
    at = place_in(vocabulary, pairs["value"].to_numpy())
    columns = np.searchsorted(kinds.to_numpy(), pairs["kind"].to_numpy())
    shape = (max(1, len(vocabulary)), max(1, kinds.len()))
    return csr_matrix((np.ones(pairs.height, np.float32), (at, columns)), shape=shape)


def likeness(r: Readings, a: Ints, b: Ints) -> pl.DataFrame:
    """Return what the words that pairs share weigh, the more the rarer: of the lighter text, and of both."""
    content = r.rows["content"]
    held = np.asarray(content.sum(axis=0)).ravel()
    weights = np.log1p(content.shape[0] / (1.0 + held))
    both, heavy = r.shared("content", "content", a, b, weights), content @ weights
    one, two = heavy[a], heavy[b]
    shares = {
        "overlap": _ratio(both, np.minimum(one, two)),
        "weighted": _ratio(both, one + two - both),
    }
    return pl.DataFrame(shares, schema=dict.fromkeys(shares, pl.Float64))


def differences(r: Readings, a: Ints, b: Ints) -> pl.DataFrame:
    """Return the features of each pair (texts `a[i]` and `b[i]`), those that the readings hold."""
    out: dict[str, Any] = {}
    out |= _meaning(r, a, b) | _values(r, a, b) | _turns(r, a, b) | _cues(r, a, b) | _frame(r, a, b)
    out |= _aligned(r, a, b)
    for name in ("small_differs", "endings_differ"):
        out[name] = np.where(out["scripts_differ"], 0, np.maximum(out[name], 0))
    _round(out, r, a, b)
    tells = r.size("timeless", a) + r.size("timeless", b) == 0
    timed = tells & (out["past"] == 1)
    timely = ~timed & (out["endings_differ"] == 0) & (out["values_a"] + out["values_b"] == 0)
    signs = sum(r.marks[name][x] for name in ("negations", *QUANTIFIERS) for x in (a, b))
    signs += r.size("signed", a) + r.size("signed", b)
    timed_apart = np.abs(r.marks["pasts"][a] - r.marks["pasts"][b])
    out["pasts_differ"] = np.where(tells & (signs == 0), timed_apart, 0)
    plain = (signs == 0) & (out["small_differs"] + out["endings_differ"] > 0)
    out["restated"] = np.where(plain, 0, out["restated"])
    one = ((r.shared("roles", "roles", a, b) > 0) & timely) | _in_voice(out, r, a, b)
    out["restated"] = out["restated"] + one
    for name in (
        "swapped",
        "relation_differs",
        "governed_differs",
        "persons_differ",
        "owner_a",
        "owner_b",
    ):
        out[name] = np.where(one, 0, out[name])
    return pl.DataFrame({name: np.asarray(v, np.float64) for name, v in out.items()})


def _in_voice(out: dict[str, Any], r: Readings, a: Ints, b: Ints) -> Any:
    """Return which pairs say the same, one in the passive and one in the active, of one time."""
    told = r.shared("voice", "active", a, b) + r.shared("active", "voice", a, b)
    return (told > 0) & (out["past"] != 1) & (out["passive_differs"] == 1)


def _round(out: dict[str, Any], r: Readings, a: Ints, b: Ints) -> None:
    """Take for one the value that one of the two rounds where the other turned it from another system."""
    one = r.shared("rounded", "values", a, b) + r.shared("values", "rounded", a, b) == 1
    one &= out["values_differ"] <= 0
    alone = (out["gap_a"] == 1) & (out["gap_b"] == 1)
    for name in ("current", "complement", "wide"):
        for side in "ab":
            out[f"{name}_{side}"] = np.maximum(out[f"{name}_{side}"] - one, 0)
    for side in "ab":
        out[f"gap_{side}"] = out[f"gap_{side}"] - (one & alone)
    out["governed_differs"] = np.maximum(out["governed_differs"] - one, 0)
    sizes = r.size("content", a), r.size("content", b)
    out["contained"] = _ratio(out["both_content"] + one, np.minimum(*sizes))


def _ratio(top: Any, bottom: Any) -> Any:
    return np.divide(
        top, bottom, out=np.zeros_like(np.asarray(top, float)), where=np.asarray(bottom) > 0
    )


def _meaning(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    both, one, two = (
        r.shared("content", "content", a, b), r.size("content", a), r.size("content", b)
    )  # fmt: skip
    return {
        "both_content": both,
        "restated": r.shared("statements", "statements", a, b) * ~r.apart("denials", a, b)
        + r.shared("around", "around", a, b),
        "same_words": r.shared("worded", "worded", a, b),
        "contained": _ratio(both, np.minimum(one, two)),
        "length": _ratio(np.minimum(one, two), np.maximum(one, two)),
    }


def _values(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    """How many kinds of value differ; and what the two hold beside each other: values, and words but for plain ones."""
    kinds = r.shared("kinds", "kinds", a, b) - r.kinds_agreed(a, b)
    out = {"values_differ": np.maximum(kinds, 0), "values_same": r.shared("values", "near", a, b)}
    for side, one, other in (("a", a, b), ("b", b, a)):
        out[f"values_{side}"] = r.size("values", one) - r.shared("values", "near", one, other)
    out["gist_same"] = r.shared("gist", "gist", a, b)
    for name in ("gist", "ties"):
        both = r.shared(name, name, a, b)
        out[f"{name}_a"], out[f"{name}_b"] = r.size(name, a) - both, r.size(name, b) - both
    out["measured_same"] = r.shared("measured", "measured", a, b)
    return out | {f"{name}_differ": r.apart(name, a, b) for name in ("measured", "order")}


def _turns(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    return {
        "sign_differs": np.abs(r.marks["negations"][a] % 2 - r.marks["negations"][b] % 2),
        "opposites": r.shared("sides", "others", a, b),
        "exclusive_states": r.shared("states", "others", a, b),
        "counts_differ": np.minimum(
            *(
                np.minimum(r.size(side, a), r.size(side, b)) - r.shared(side, side, a, b)
                for side in ("before", "behind")
            )
        ),
        "first_same": r.shared("first", "first", a, b),
        "acted_differs": np.abs(r.size("acted", a) - r.size("acted", b)),
        "passive_differs": np.abs(r.size("passive", a) - r.size("passive", b)),
        "swapped": r.shared("ordered", "reversed", a, b),
        "relators_differ": np.abs(r.size("relators", a) - r.size("relators", b)),
        "exact_differ": r.size("exact", a)
        + r.size("exact", b)
        - 2 * r.shared("exact", "exact", a, b),
        "small_differs": _small(r, a, b),
        "endings_differ": r.shared("ended", "ended", a, b) - r.shared("endings", "endings", a, b),
        "persons_differ": r.apart("persons", a, b),
        "persons_alone": r.size("persons", a)
        + r.size("persons", b)
        - 2 * r.shared("persons", "persons", a, b),
        "amounts_differ": r.apart("amounts", a, b),
        "held_differ": r.apart("held", a, b),
        "denied_differs": r.apart("denied", a, b),
        "scopes_differ": r.shared("scoped", "scoped", a, b) - r.shared("scopes", "scopes", a, b),
        "who_differs": r.apart("who", a, b),
        "relation_differs": r.shared("related", "related", a, b)
        - r.shared("relations", "relations", a, b),
        "governed_differs": r.shared("relators", "relators", a, b)
        - r.shared("governed", "governed", a, b),
    }


def _small(r: Readings, a: Ints, b: Ints) -> Any:
    """How many small words stand in one alone; a note without a verb leaves loose words of relation out."""
    alone = {
        name: [r.size(name, x) - r.shared(name, name, a, b) for x in (a, b)]
        for name in ("small", "loosely")
    }
    one, two = alone["loosely"]
    note = np.minimum(r.size("verbal", a), r.size("verbal", b)) == 0
    bound = note & (r.shared("exact", "exact", a, b) > 0)  # within 30 minutes, 30 minutes at most
    return np.where(
        bound, 0, sum(alone["small"]) + np.where(note & (np.minimum(one, two) == 0), 0, one + two)
    )


def _aligned(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    """How many words the two begin and end alike with, and what each has between."""
    one, two = r.size("opens", a), r.size("opens", b)
    begin, end = r.shared("opens", "opens", a, b), r.shared("closes", "closes", a, b)
    end = np.minimum(end, np.minimum(one, two) - begin)
    out = {"begin": begin, "end": end, "gap_a": one - begin - end, "gap_b": two - begin - end}
    longer = np.maximum(r.size("beyond", a), r.size("beyond", b))
    out["sole_same"] = r.shared("sole", "sole", a, b) % 2
    out["beyond_differs"] = longer - r.shared("beyond", "beyond", a, b)
    out["elsewhere"] = r.shared("cycle", "cycle", a, b) + r.shared("equated", "equated", a, b)
    out["scripts_differ"] = r.marks["unspaced"][a] != r.marks["unspaced"][b]
    out["left_same"] = r.shared("left", "left", a, b)
    for side, own, other in (("a", a, b), ("b", b, a)):
        out[f"left_{side}"] = r.shared("left", "content", own, other)
        denied = out[f"refused_{side}"] = r.size("refused", own)
        out[f"refused_else_{side}"] = denied - r.shared("refused", "wide", own, other)
        out[f"wide_{side}"] = r.size("stated", own) - r.shared("stated", "wide", own, other)
    return out


def _cues(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    m = r.marks
    return {
        f"{name}_one": (m[name][a] > 0) != (m[name][b] > 0) for name in (*QUANTIFIERS, "change")
    }


def _frame(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for family in _FRAMED:
        both = r.shared(family, family, a, b)
        out[f"{family}_same"] = both
        out[f"{family}_a"] = r.size(family, a) - both
        out[f"{family}_b"] = r.size(family, b) - both
    out["head_shared"] = r.shared("head", "head", a, b)
    content = r.shared("content", "content", a, b)
    for side, one, other in (("a", a, b), ("b", b, a)):
        out[f"head_{side}"] = r.size("head", one) - r.shared("head", "content", one, other)
        out[f"tail_{side}"] = r.size("content", one) - content - out[f"head_{side}"]
    numbered = [r.size("numbered", x) - r.shared("numbered", "numbered", a, b) for x in (a, b)]
    out["numbered_differ"] = np.minimum(*numbered)
    out["anchors_same"] = r.shared("anchors", "anchors", a, b)
    out["past"] = r.size("past", a) + r.size("past", b)
    for side, one, other in (("a", a, b), ("b", b, a)):
        out[f"ended_{side}"] = r.size("last", one) - r.shared("last", "wide", one, other)
    out["compounded"] = r.shared("last", "modifiers", a, b) + r.shared("modifiers", "last", a, b)
    for name in (*CLAIMS, "negations", "only", "copular", "change", "tensed"):
        out[f"{name}_a"], out[f"{name}_b"] = r.marks[name][a], r.marks[name][b]
    return out
