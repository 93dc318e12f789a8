"""Fitted: what the letters, the form and the cues of a text say of it, weighed by fitted numbers.

Two linear models over the same features, one of what becomes of a text (extract, keep, tombstone),
one of the kind of fact that it tells. Their weights stand in `data/lexicons/extract_fitted.toml`,
eight bits each; `tests/bench/fit_notes.py` makes them. Letters are hashed n-grams of one to three
characters, so no list of words is kept and a text costs what its length costs.
"""

import base64
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from memops.language.lexicon import lexicon
from memops.progress import tracked

Numbers = npt.NDArray[np.float32]
BITS, LONGEST_GRAM = 13, 3
_READ = 2000  # characters of a text that tell what it is
_AT_ONCE = 20_000
_FORM, _CUE = 0.2, 0.3  # weight of a form and of a cue beside letters of unit length
_FORMS = (
    r"\?\s*$", r"\?", r"(?:\.\.\.|…)\s*$", r'["「『]', ":", "=", r"\n", r"[–—-] ", "[0-9]",
    r"(?:^|[^A-Za-z0-9])[0-9]{4,8}(?:[^0-9]|$)", "[a-z,;] [A-Z][a-z]", "^[A-Z][a-z]+ [A-Z][a-z]",
    r"(?m)^\w{1,16}: ", r"^[^\p{L}\p{N}]+$", r"(?i)\b(?:i|my|me|we|our)\b|我", r"[\[【<>]", r"[|\t]",
    ",.*,.*,", "[.。].*[.。]", r"\p{Extended_Pictographic}", "^[a-z]",
    r"(?i)\b(?:he|she|they|him|her|his|their)\b|[他她]", r"(?i)[0-9]+ ?(?:am|pm|:[0-9]{2}|点|月|日|号)",
    "[A-Za-z][0-9]|[0-9][A-Za-z]", r"(?i)^(?:i|my|we|our)\b|^我", r"(?i)\b(?:you|your)\b|[你您]",
)  # fmt: skip
_SIZES = (5, 8, 12, 18, 26, 40, 60, 90, 140)
_SHORT = 5  # which of these makes a Chinese text short; an English one, the next
_FOLDS = (("[“”]", '"'), ("[‘’]", "'"))


def features(texts: pl.Series, cues: Numbers) -> Any:
    """Return a sparse row a text: letters, then forms, then the cues that were found in it."""
    from scipy import sparse

    folded = texts.fill_null("").str.head(_READ).str.normalize("NFKC")
    for pattern, new in _FOLDS:
        folded = folded.str.replace_all(pattern, new)
    form = np.hstack([_forms(folded) * _FORM, cues.astype(np.float32) * _CUE])
    return sparse.hstack([_letters(folded), sparse.csr_matrix(form)], format="csr")


def scores(model: str, texts: pl.Series, cues: Numbers) -> pl.DataFrame:
    """Return the probability of each class of a model, a row a text."""
    classes, weights, bias = _model(model)
    parts = [
        features(texts[at : at + _AT_ONCE], cues[at : at + _AT_ONCE]) @ weights
        for at in tracked("weighing notes", range(0, len(texts), _AT_ONCE))
    ]
    told = np.vstack([*parts, np.zeros((0, len(classes)), np.float32)]) + bias
    told = np.exp(told - told.max(axis=1, keepdims=True, initial=-np.inf))
    # Rounded, so that no machine's last bit moves a text over a threshold.
    shares = (told / told.sum(axis=1, keepdims=True)).astype(np.float64)
    return pl.DataFrame(np.round(shares, 4), schema=list(classes))


def stored(classes: list[str], weights: Numbers, bias: Numbers) -> dict[str, Any]:
    """Return a model (a column a class) as data: weights in eight bits, a scale a class."""
    scale = np.abs(weights).max(axis=0) / 127
    small = np.round(weights / scale).astype(np.int8)
    return {
        "classes": classes,
        "scale": [round(float(s), 8) for s in scale],
        "bias": [round(float(b), 5) for b in bias],
        "weights": base64.b85encode(small.tobytes()).decode(),
    }


@cache
def _model(name: str) -> tuple[tuple[str, ...], Numbers, Numbers]:
    return loaded(lexicon("extract_fitted")[name])


def loaded(table: dict[str, Any]) -> tuple[tuple[str, ...], Numbers, Numbers]:
    """Return classes, weights and biases of a model as it is stored."""
    small = np.frombuffer(base64.b85decode(table["weights"]), dtype=np.int8)
    weights = small.reshape(-1, len(table["classes"])) * np.array(table["scale"], np.float32)
    return tuple(table["classes"]), weights.astype(np.float32), np.array(table["bias"], np.float32)


def _forms(texts: pl.Series) -> Numbers:
    text = pl.col("text")
    size = text.str.len_chars()
    patterns = [form.replace(r"\b", r"(?-u:\b)") for form in (*_FORMS, r"\p{Han}")]
    said = pl.DataFrame({"text": texts}).select(
        *(text.str.contains(pattern).alias(f"form {n}") for n, pattern in enumerate(patterns)),
        *((size < most).alias(f"shorter than {most}") for most in _SIZES),
    )
    found = said.to_numpy().astype(np.float32)
    # A form may mean another thing in Chinese, and in a short text.
    han = found[:, [len(_FORMS)]]
    short = np.where(han, found[:, [-len(_SIZES) + _SHORT]], found[:, [-len(_SIZES) + _SHORT + 1]])
    return np.hstack([found, found * han, found * short])


def _letters(texts: pl.Series) -> Any:
    """Counts of hashed n-grams, damped by their logarithm, each row of unit length."""
    from scipy import sparse

    # How a text ends, a full stop or an exclamation mark, is a habit of its writer.
    bare = texts.str.to_lowercase().str.replace(r"[\s.。!~]+$", "")
    plain = bare.str.replace_all(r"\p{Nd}", "0").str.replace_all(r"\s+", " ")
    marked = "\x02" + plain + "\x03"
    sizes = marked.str.len_chars().to_numpy()
    rows = np.repeat(np.arange(len(marked)), sizes)
    codes = np.frombuffer("".join(marked).encode("utf-32-le"), np.uint32).astype(np.uint64)
    found = []
    for n in range(1, LONGEST_GRAM + 1):
        last = len(codes) - n + 1
        if last <= 0:
            continue
        whole = rows[:last] == rows[n - 1 :]
        mixed = np.full(last, n, np.uint64)
        for k in range(n):
            mixed = (mixed ^ codes[k : last + k]) * np.uint64(0x100000001B3)
            mixed ^= mixed >> np.uint64(29)
        bucket = (mixed * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - BITS)
        found.append(((rows[:last] << BITS) | bucket.astype(np.int64))[whole])
    cells, counts = np.unique(np.concatenate([*found, np.zeros(0, np.int64)]), return_counts=True)
    at, value = cells >> BITS, 1 + np.log(counts.astype(np.float32))
    length = np.sqrt(np.bincount(at, value * value, len(marked)))
    data = (value / length[at]).astype(np.float32)
    return sparse.csr_matrix((data, (at, cells & ((1 << BITS) - 1))), (len(marked), 1 << BITS))
