"""Pairs of readings: how two statements agree and differ, for any number of pairs at once.

`Readings` keeps the sets of all texts as sparse rows over one vocabulary; `differences` returns
one row a pair, each column a count or a share that a person can look up in the two texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from memops.cues import MARKS
from memops.reading import FAMILIES, Reading, read

Ints = Any
CLAIMS = ("past_strong", "hypothetical", "quoted", "question", "event", "todo", "masked", "cut")


@dataclass(frozen=True)
class Readings:
    """Texts read: a sparse row a text and family, the weights of items, and the marks."""

    rows: dict[str, Any]
    weights: Any
    kinds: Any
    marks: dict[str, Any]
    texts: tuple[str, ...]

    def shared(self, one: str, other: str, a: Ints, b: Ints, weighted: bool = False) -> Any:
        """Return for each pair how many items of a family of `a` are in one of `b`."""
        left, right = self.rows[one][a], self.rows[other][b]
        both = left.multiply(right)
        return np.asarray(both @ self.weights if weighted else both.sum(axis=1)).ravel()

    def only(self, at: Ints) -> "Readings":
        """Return the readings of some of the texts, as if nothing else had been read."""
        rows = {name: matrix[at] for name, matrix in self.rows.items()}
        marks = {name: column[at] for name, column in self.marks.items()}
        texts = tuple(self.texts[n] for n in at)
        return Readings(rows, _weights(rows, len(texts)), self.kinds, marks, texts)

    def kinds_agreed(self, a: Ints, b: Ints) -> Any:
        """Return for each pair in how many kinds of value the two share one."""
        both = self.rows["values"][a].multiply(self.rows["values"][b])
        return np.asarray(((both @ self.kinds) > 0).sum(axis=1)).ravel()

    def size(self, family: str, at: Ints, weighted: bool = False) -> Any:
        """Return how many items the family holds for each text."""
        rows = self.rows[family]
        sums = rows @ self.weights if weighted else rows.sum(axis=1)
        return np.asarray(sums).ravel()[at]


def readings(texts: Sequence[str]) -> Readings:
    """Read each text; equal texts should be given once."""
    from scipy.sparse import csr_matrix

    read_texts: list[Reading] = [read(text) for text in texts]
    vocabulary: dict[str, int] = {}
    rows: dict[str, Any] = {}
    for family in FAMILIES:
        indptr, indices = [0], []
        for reading in read_texts:
            indices += [
                vocabulary.setdefault(i, len(vocabulary)) for i in sorted(reading.sets[family])
            ]
            indptr.append(len(indices))
        rows[family] = (indptr, indices)
    width = max(1, len(vocabulary))
    made = {
        name: csr_matrix(
            (np.ones(len(ids), np.float32), np.asarray(ids, np.int32), np.asarray(ptr, np.int64)),
            shape=(len(texts), width),
        )
        for name, (ptr, ids) in rows.items()
    }
    marks = {name: np.array([r.marks[name] for r in read_texts], np.float64) for name in MARKS}
    return Readings(made, _weights(made, len(texts)), _kinds(vocabulary), marks, tuple(texts))


def _weights(rows: dict[str, Any], n: int) -> Any:
    """How telling each item is: the rarer among the texts, the more."""
    held = np.asarray((rows["content"] + rows["atoms"]).sum(axis=0)).ravel()
    return np.log1p(n / (1.0 + held))


def _kinds(vocabulary: dict[str, int]) -> Any:
    """A matrix from values (`time=10:00`) to their kinds."""
    from scipy.sparse import csr_matrix

    kinds: dict[str, int] = {}
    at = [
        (n, kinds.setdefault(item.split("=")[0], len(kinds)))
        for item, n in vocabulary.items()
        if "=" in item
    ]
    rows, columns = zip(*at, strict=True) if at else ((), ())
    return csr_matrix(
        (np.ones(len(at), np.float32), (rows, columns)),
        shape=(max(1, len(vocabulary)), max(1, len(kinds))),
    )


def differences(r: Readings, a: Ints, b: Ints) -> pl.DataFrame:
    """Return the features of each pair (texts `a[i]` and `b[i]`)."""
    out: dict[str, Any] = {}
    out |= _likeness(r, a, b)
    out |= _unlikeness(r, a, b)
    out |= _values(r, a, b)
    out |= _turns(r, a, b)
    out |= _cues(r, a, b)
    out |= _frame(r, a, b)
    return pl.DataFrame({name: np.asarray(v, np.float64) for name, v in out.items()})


def _ratio(top: Any, bottom: Any) -> Any:
    return np.divide(
        top, bottom, out=np.zeros_like(np.asarray(top, float)), where=np.asarray(bottom) > 0
    )


def _likeness(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for family, name in (
        ("tokens", "jaccard"),
        ("content", "meaning"),
        ("names", "same_names"),
        ("things", "same_things"),
    ):
        both, one, two = r.shared(family, family, a, b), r.size(family, a), r.size(family, b)
        out[name] = _ratio(both, one + two - both)
        if family == "content":
            out["contained"] = _ratio(both, np.minimum(one, two))
            weight = r.shared(family, family, a, b, True)
            out["overlap"] = _ratio(
                weight, np.minimum(r.size(family, a, True), r.size(family, b, True))
            )
            out["weighted"] = _ratio(
                weight, r.size(family, a, True) + r.size(family, b, True) - weight
            )
            out["length"] = _ratio(np.minimum(one, two), np.maximum(one, two))
            out["both_content"] = both
    atoms = r.shared("atoms", "atoms", a, b, True)
    one, two = r.size("atoms", a, True), r.size("atoms", b, True)
    out["atoms"], out["atoms_in"] = (
        _ratio(atoms, one + two - atoms),
        _ratio(atoms, np.minimum(one, two)),
    )
    out["atoms_max"] = np.maximum(r.size("atoms", a), r.size("atoms", b))
    grams = r.shared("grams", "grams", a, b)
    out["letters"] = _ratio(2 * grams, r.size("grams", a) + r.size("grams", b))
    out["letters_in"] = _ratio(grams, np.minimum(r.size("grams", a), r.size("grams", b)))
    frames = r.shared("filled", "filled", a, b)
    out["order"] = _ratio(frames, np.minimum(r.size("filled", a), r.size("filled", b)))
    return out


def _unlikeness(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for family in ("things", "persons", "qualifiers", "names", "relations", "head"):
        both = r.shared(family, family, a, b)
        left, right = r.size(family, a) - both, r.size(family, b) - both
        out[f"{family}_both"] = np.minimum(left, right)
        out[f"{family}_one"] = np.abs(left - right)
    out["head_same"] = _ratio(
        r.shared("head", "head", a, b), np.minimum(r.size("head", a), r.size("head", b))
    )
    out["head_in"] = _ratio(
        r.shared("head", "content", a, b) + r.shared("content", "head", a, b),
        r.size("head", a) + r.size("head", b),
    )
    swapped = r.shared("frames", "frames", a, b) - r.shared("filled", "filled", a, b)
    out["swapped"] = np.maximum(swapped, 0)
    return out


def _values(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    both = r.shared("values", "values", a, b)
    kinds = r.shared("kinds", "kinds", a, b)
    one, two = r.size("values", a), r.size("values", b)
    slots, filled = r.shared("slots", "slots", a, b), r.shared("filled_slots", "filled_slots", a, b)
    return {
        "values_same": both,
        "values_differ": np.maximum(kinds - r.kinds_agreed(a, b), 0),
        "values_one": np.abs(one - two),
        "slots_differ": np.maximum(slots - filled, 0),
        "slots_same": filled,
    }


def _turns(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    same, turned = r.shared("signed", "signed", a, b), r.shared("signed", "turned", a, b)
    odd = np.abs(r.marks["negations"][a] % 2 - r.marks["negations"][b] % 2)
    opposed = r.shared("sides", "others", a, b)
    agreed = r.shared("sides", "sides", a, b)
    was = r.shared("was", "content", b, a) + r.shared("was", "content", a, b)
    gone = r.shared("was", "content", b, a) - r.shared("was", "was", b, a)
    gone_a = r.shared("was", "content", a, b) - r.shared("was", "was", a, b)
    return {
        "turned": _ratio(turned, same + turned),
        "turned_n": turned,
        "odd": odd,
        "opposed": opposed,
        "agreed": agreed,
        "was": was,
        "gone": np.maximum(np.maximum(gone, gone_a), 0),
        "above": r.shared("above", "content", a, b) + r.shared("content", "above", a, b),
        "ordered": _ratio(
            r.shared("ordered", "ordered", a, b),
            np.minimum(r.size("ordered", a), r.size("ordered", b)),
        ),
    }


def _cues(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    out: dict[str, Any] = {}
    m = r.marks
    for name in ("shift", "shift_strong", "change"):
        out[f"{name}_any"] = np.minimum(np.maximum(m[name][a], m[name][b]), 2)
        out[f"{name}_one"] = np.abs(np.minimum(m[name][a], 1) - np.minimum(m[name][b], 1))
    for name in ("past_strong", "hypothetical", "quoted", "question", "event", "todo"):
        out[f"{name}_any"] = np.maximum(m[name][a], m[name][b]) > 0
    for name in ("all", "none", "some", "only", "must", "may", "hypothetical", "quoted"):
        out[f"{name}_one"] = np.abs((m[name][a] > 0).astype(float) - (m[name][b] > 0))
    out["all_some"] = ((m["all"][a] > 0) & (m["some"][b] + m["none"][b] > 0)) | (
        (m["all"][b] > 0) & (m["some"][a] + m["none"][a] > 0)
    )
    out["size_max"] = np.minimum(np.maximum(m["size"][a], m["size"][b]), 30)
    out["size_min"] = np.minimum(np.minimum(m["size"][a], m["size"][b]), 30)
    out["han"] = np.maximum(m["han"][a], m["han"][b])
    out["mixed"] = np.abs(m["han"][a] - m["han"][b])
    return out


def _frame(r: Readings, a: Ints, b: Ints) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for family in (
        "owner",
        "attributes",
        "circumstances",
        "open",
        "subject",
        "complement",
        "held",
        "roles",
        "current",
        "about",
    ):
        both = r.shared(family, family, a, b)
        out[f"{family}_same"] = both
        out[f"{family}_a"] = r.size(family, a) - both
        out[f"{family}_b"] = r.size(family, b) - both
    numbered = [r.size("numbered", x) - r.shared("numbered", "numbered", a, b) for x in (a, b)]
    out["numbered_differ"] = np.minimum(*numbered)
    one, two = r.size("kinds", a), r.size("kinds", b)
    out["kinds_apart"] = ((one > 0) & (two > 0) & (r.shared("kinds", "kinds", a, b) == 0)).astype(
        float
    )
    out["shapes_same"] = r.shared("shapes", "shapes", a, b)
    out["anchors_same"] = r.shared("anchors", "anchors", a, b)
    out["was_a"], out["was_b"] = r.shared("was", "current", a, b), r.shared("was", "current", b, a)
    out["becomes_a"] = r.size("becomes", a) - r.shared("becomes", "content", a, b)
    out["becomes_b"] = r.size("becomes", b) - r.shared("becomes", "content", b, a)
    out["alone"] = r.shared("alone", "alone_others", a, b)
    wide = r.shared("stated", "wide", a, b), r.shared("stated", "wide", b, a)
    out["wide_a"] = r.size("stated", a) - wide[0]
    out["wide_b"] = r.size("stated", b) - wide[1]
    out["stated_a"], out["stated_b"] = r.size("stated", a), r.size("stated", b)
    out["named_a"] = r.size("named", a) - r.shared("named", "content", a, b)
    out["named_b"] = r.size("named", b) - r.shared("named", "content", b, a)
    latin, han = (r.marks[name] for name in ("latin_open", "han_open"))
    one = (latin[a] > 0) & (han[a] == 0) & (latin[b] == 0) & (han[b] > 0)
    two = (latin[b] > 0) & (han[b] == 0) & (latin[a] == 0) & (han[a] > 0)
    out["scripts_apart"] = one | two
    out["counters_differ"] = r.shared("counters", "counters", a, b)
    for name in (*CLAIMS, "shift_strong", "negations", "related", "copular"):
        out[f"{name}_a"], out[f"{name}_b"] = r.marks[name][a], r.marks[name][b]
    return out
